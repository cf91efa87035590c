"""Documents in memory: the double of the contents API and of pages that hold documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...errors import DocumentNotFound, EditConflict, NotText, ToolError
from .. import base
from ..base import (
    Cell,
    Entry,
    Notebook,
    NotebookEdit,
    Output,
    OutputPart,
    Revision,
    TextDocument,
    revision_of,
)
from ..notebooks.notebook_work import no_such_output, stale_run
from ..notebooks.output_cut import cut_notebook, output_part
from ..paths import api_path, is_notebook, joined, parent_of


@dataclass(slots=True)
class _Held:
    """A document's two states: what a reader gets (`live`) and what a restart would find."""

    live: Notebook
    saved: Notebook
    running: set[str] = field(default_factory=set)


def notebook_of(
    *cells: str | Cell, kernel_name: str = "python3", language: str = "python"
) -> Notebook:
    """A notebook for tests; a string is a code cell with the id c1, c2, … by position."""
    made = [
        cell if isinstance(cell, Cell) else Cell(f"c{number}", "code", cell, str(number))
        for number, cell in enumerate(cells, 1)
    ]
    return Notebook("", tuple(made), kernel_name, language)


class MemoryDocuments:
    """Files (bytes by path) and notebooks. A held path is open in a page: edits stay unsaved.

    The `user_…` methods play the person who works at the same time.
    """

    def __init__(
        self,
        files: Mapping[str, str | bytes] | None = None,
        notebooks: Mapping[str, Notebook | Sequence[str | Cell]] | None = None,
    ) -> None:
        self.disk: dict[str, bytes] = {
            path: text.encode() if isinstance(text, str) else text
            for path, text in (files or {}).items()
        }
        self.held: set[str] = set()
        self._pages: dict[str, str] = {}
        self._notebooks: dict[str, _Held] = {}
        self.folders: set[str] = {""}
        for path, given in (notebooks or {}).items():
            made = given if isinstance(given, Notebook) else notebook_of(*given)
            self._store(path, replace(made, path=path))

    # -- what a test says or asks ----------------------------------------------------------------

    def hold(self, path: str) -> None:
        """A page opens the document."""
        self.held.add(path)
        if path in self.disk:
            self._pages[path] = self._decode(path)[0]

    def saved_notebook(self, path: str) -> Notebook:
        """What is stored, without unsaved edits."""
        return _labelled(self._notebooks[path].saved)

    def user_writes(self, path: str, text: str) -> None:
        """The user changes a file: in the page when it is held, else on disk."""
        if path in self.held:
            self._pages[path] = text
        else:
            self.disk[path] = text.encode()

    def user_writes_cell(self, path: str, cell_id: str, source: str) -> None:
        state = self._notebooks[path]
        cells = [
            replace(cell, source=source) if cell.cell_id == cell_id else cell
            for cell in state.live.cells
        ]
        self._change(path, cells, stored=path not in self.held)

    def user_deletes_cell(self, path: str, cell_id: str) -> None:
        cells = [cell for cell in self._notebooks[path].live.cells if cell.cell_id != cell_id]
        self._change(path, cells, stored=path not in self.held)

    def user_inserts_cell(self, path: str, position: int, cell: Cell) -> None:
        cells = list(self._notebooks[path].live.cells)
        cells.insert(position, cell)
        self._change(path, cells, stored=path not in self.held)

    def running_cells(self, path: str) -> frozenset[str]:
        """The cells between BeginRun and EndRun."""
        return frozenset(self._notebooks[path].running)

    # -- the port --------------------------------------------------------------------------------

    async def entries(self, path: str) -> tuple[Entry, ...]:
        path = api_path(path)
        if path not in self._all_folders():
            raise DocumentNotFound(f'There is no folder "{path}".')
        prefix = f"{path}/" if path else ""
        below = [*self.disk, *self._notebooks, *self._all_folders()]
        names = {full[len(prefix) :].split("/")[0] for full in below if full.startswith(prefix)}
        return tuple(
            self._entry(joined(path, name))
            for name in sorted(names)
            if name and not name.startswith(".")
        )

    async def entry(self, path: str) -> Entry:
        return self._entry(api_path(path))

    async def resolved(self, path: str) -> str:
        return api_path(path)

    async def read_text(self, path: str) -> TextDocument:
        path = api_path(path)
        if path in self._notebooks:
            raise NotText(f'"{path}" is a notebook.', hint="Use read_notebook.")
        if path in self._all_folders():
            raise NotText(f'"{path}" is a folder.', hint="Use list_files.")
        if path not in self.disk and path not in self._pages:
            raise DocumentNotFound(f'There is no file "{path}".')
        return self._document(path)

    async def raw_text(self, path: str) -> TextDocument:
        return self._document(api_path(path))

    async def write_text(self, path: str, text: str, *, base: Revision | None) -> TextDocument:
        path = api_path(path)
        exists = path in self.disk or path in self._notebooks or path in self._all_folders()
        if base is None and exists:
            raise EditConflict(f'"{path}" exists already; nothing was written.')
        if parent_of(path) not in self._all_folders():
            raise DocumentNotFound(f'There is no folder "{parent_of(path)}".')
        if base is not None and (await self.read_text(path)).revision != base:
            raise EditConflict(f'"{path}" has changed; nothing was written.')
        if path in self.held:
            self._pages[path] = text
        else:
            self._encode(path, text)
        return self._document(path)

    async def read_notebook(self, path: str) -> Notebook:
        return cut_notebook(self._whole(path))

    async def output_part(
        self, path: str, cell_id: str, index: int, *, field: str, start: int, count: int
    ) -> OutputPart:
        cell = self._whole(path).cell(cell_id)
        outputs = cell.outputs[index : index + 1] if cell and index >= 0 else ()
        part = output_part(outputs[0], field, start=start, count=count) if outputs else None
        if part is None:
            raise no_such_output(path, cell_id)
        return part

    def _whole(self, path: str) -> Notebook:
        path = api_path(path)
        state = self._notebooks.get(path)
        if state is None and (path in self.disk or path in self._all_folders()):
            raise NotText(f'"{path}" is not a notebook.')
        if state is None:
            raise DocumentNotFound(f'There is no notebook "{path}".')
        held = path in self.held
        return _labelled(replace(state.live, held=held, dirty=held and state.live != state.saved))

    async def edit_notebook(self, path: str, edits: Sequence[NotebookEdit]) -> None:
        notebook = self._whole(path)
        if notebook.read_only:
            raise ToolError(
                f'"{path}" cannot be edited: {notebook.read_only}. It was not changed.',
                code="read_only",
            )
        cells = list(notebook.cells)
        for edit in edits:
            cells = _apply(cells, edit)
        running = self._notebooks[notebook.path].running
        for edit in edits:
            if isinstance(edit, base.BeginRun):
                running.add(edit.cell_id)
            elif isinstance(edit, base.EndRun):
                running.discard(edit.cell_id)
        stored = any(isinstance(edit, base.EndRun | base.SourceEdit) for edit in edits)
        self._change(notebook.path, cells, stored=stored and notebook.path not in self.held)

    async def create_notebook(self, path: str, *, kernel_name: str, language: str) -> Notebook:
        path = api_path(path)
        if path in self.disk or path in self._notebooks or path in self._all_folders():
            raise EditConflict(f'"{path}" exists already; nothing was written.')
        self._store(path, Notebook(path, (), kernel_name, language))
        return await self.read_notebook(path)

    def follow_disk(self) -> None:
        """Nothing to do: held documents are compared with nothing."""

    async def save(self, path: str) -> None:
        if path in self._notebooks:
            self._notebooks[path].saved = self._notebooks[path].live
        elif path in self._pages:
            self._encode(path, self._pages[path])

    # -- inside ----------------------------------------------------------------------------------

    def _store(self, path: str, notebook: Notebook) -> None:
        self._notebooks[path] = _Held(live=notebook, saved=notebook)

    def _change(self, path: str, cells: Iterable[Cell], *, stored: bool) -> None:
        state = self._notebooks[path]
        state.live = replace(state.live, cells=tuple(cells))
        if stored:
            state.saved = state.live

    def _all_folders(self) -> set[str]:
        found = set(self.folders)
        for path in [*self.disk, *self._notebooks]:
            parts = path.split("/")[:-1]
            found.update("/".join(parts[:end]) for end in range(1, len(parts) + 1))
        return found

    def _entry(self, path: str) -> Entry:
        if path in self._notebooks:
            return Entry(path, "notebook")
        if path in self.disk:
            kind = "notebook" if is_notebook(path) else "file"
            return Entry(path, kind, len(self.disk[path]))
        if path in self._all_folders():
            return Entry(path, "directory")
        raise DocumentNotFound(f'There is nothing at "{path}".')

    def _decode(self, path: str) -> tuple[str, bool]:
        """The text with "\\n" line ends, and whether the file has "\\r\\n"."""
        raw = self.disk[path]
        try:
            text = raw.decode()
        except UnicodeDecodeError as err:
            raise NotText(f'"{path}" is not UTF-8 text.') from err
        if "\0" in text:
            raise NotText(f'"{path}" is a binary file.')
        return text.replace("\r\n", "\n"), "\r\n" in text

    def _encode(self, path: str, text: str) -> None:
        crlf = path in self.disk and self._decode(path)[1]
        self.disk[path] = (text.replace("\n", "\r\n") if crlf else text).encode()

    def _document(self, path: str) -> TextDocument:
        on_disk, crlf = self._decode(path) if path in self.disk else ("", False)
        text = self._pages.get(path, on_disk)
        newline = "\r\n" if crlf else "\n"
        held = path in self.held
        return TextDocument(path, text, revision_of(text), newline, held=held, dirty=held)


def _labelled(notebook: Notebook) -> Notebook:
    cells = tuple(
        replace(cell, label=str(number)) for number, cell in enumerate(notebook.cells, start=1)
    )
    return replace(notebook, cells=cells)


def _position(cells: Sequence[Cell], cell_id: str) -> int | None:
    found = [index for index, cell in enumerate(cells) if cell.cell_id == cell_id]
    if len(found) > 1:
        raise EditConflict(f"Several cells have the id {cell_id}.", code="ambiguous_cell")
    return found[0] if found else None


def _apply(cells: list[Cell], edit: NotebookEdit) -> list[Cell]:
    """The cells after one edit."""
    match edit:
        case base.InsertCells():
            return _insert(cells, edit)
        case base.MoveCells():
            return _move(cells, edit)
        case base.ReplaceSource() | base.DeleteCell():
            return _change_source(cells, edit)
        case _:
            index = _position(cells, edit.cell_id)
            if isinstance(edit, base.BeginRun) and edit.base is not None:
                _check_base(None if index is None else cells[index], edit)
            if index is None:
                return cells
            return [*cells[:index], _apply_run(cells[index], edit), *cells[index + 1 :]]


def _check_base(cell: Cell | None, edit: base.BeginRun) -> None:
    if cell is None or cell.revision != edit.base:
        raise stale_run(edit.cell_id, None if cell is None else cell.source)


def _place(cells: list[Cell], after: str) -> int:
    """The index behind `after`: a cell id, "start" or "end"."""
    if after in ("start", "end"):
        return 0 if after == "start" else len(cells)
    index = _position(cells, after)
    if index is None:
        raise EditConflict(f"There is no cell {after}; nothing was written.")
    return index + 1


def _move(cells: list[Cell], edit: base.MoveCells) -> list[Cell]:
    if len(set(edit.cell_ids)) < len(edit.cell_ids) or edit.after in edit.cell_ids:
        raise ToolError("A cell can be moved to one place only.", code="invalid_input")
    by_id = {cell.cell_id: cell for cell in cells}
    if not by_id.keys() >= set(edit.cell_ids):
        raise EditConflict("A cell to be moved is gone; nothing was written.")
    rest = [cell for cell in cells if cell.cell_id not in edit.cell_ids]
    at = _place(rest, edit.after)
    return [*rest[:at], *(by_id[cell_id] for cell_id in edit.cell_ids), *rest[at:]]


def _insert(cells: list[Cell], edit: base.InsertCells) -> list[Cell]:
    at = _place(cells, edit.after)
    taken = {cell.cell_id for cell in cells}
    if any(new.cell_id in taken for new in edit.cells):
        raise EditConflict("A new cell has the id of an existing one; nothing was written.")
    made = [Cell(new.cell_id, new.cell_type, new.source, "") for new in edit.cells]
    return [*cells[:at], *made, *cells[at:]]


def _change_source(cells: list[Cell], edit: base.ReplaceSource | base.DeleteCell) -> list[Cell]:
    index = _position(cells, edit.cell_id)
    if index is None or cells[index].revision != edit.base:
        raise EditConflict(f"Cell {edit.cell_id} has changed; nothing was written.")
    changed = (
        [replace(cells[index], source=edit.source)] if isinstance(edit, base.ReplaceSource) else []
    )
    return [*cells[:index], *changed, *cells[index + 1 :]]


def _apply_run(cell: Cell, edit: base.RunEdit) -> Cell:
    match edit:
        case base.BeginRun():
            return replace(cell, outputs=(), execution_count=None)
        case base.ClearOutputs():
            return replace(cell, outputs=())
        case base.AddOutput():
            return replace(cell, outputs=_with_output(cell.outputs, edit.output))
        case base.SetOutput():
            outputs = list(cell.outputs)
            outputs[edit.index] = edit.output
            return replace(cell, outputs=tuple(outputs))
        case base.EndRun():
            return replace(cell, execution_count=edit.execution_count)


def _with_output(outputs: tuple[Output, ...], output: Output) -> tuple[Output, ...]:
    last = outputs[-1] if outputs else {}
    joins = output.get("output_type") == "stream" == last.get("output_type")
    if joins and output.get("name") == last.get("name"):
        merged = {**last, "text": f"{last.get('text', '')}{output.get('text', '')}"}
        return (*outputs[:-1], merged)
    return (*outputs, output)
