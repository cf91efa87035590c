"""edit_cell, insert_cells and delete_cells. Cells are named by id, never by index."""

from __future__ import annotations

import secrets
from typing import Annotated, Literal

from pydantic import Field

from ..errors import DocumentNotFound, EditConflict, ToolError, WriteFailed
from ..policy.facts import Facts
from ..protocol.approval import Change, DiffPreview
from ..protocol.base import Wire
from ..protocol.tool import ToolResult
from ..workspace.base import (
    Cell,
    CellType,
    DeleteCell,
    InsertCells,
    NewCell,
    Notebook,
    ReplaceSource,
)
from ..workspace.paths import name_of
from .base import Apply, Proposal, Tool, ToolContext, done, failed, read_proposal
from .clipping import count_of
from .notebook_view import outline
from .run_view import run_result
from .running import default_kernel, kernel_name_for, run_in_order
from .spans import Span, invisible_changes, line_counts, normalised, replace_spans, unified
from .targets import (
    cell_key,
    cell_name,
    cell_of,
    notebook_path,
    open_notebook,
    require_seen_cell,
    saw_cells,
    show_cell_now,
)


class EditCell(Wire):
    path: str | None = None
    cell_id: str
    edits: tuple[Span, ...] | None = None
    source: str | None = None
    run: bool = False


class InsertedCell(Wire):
    cell_type: CellType = "code"
    source: str


class InsertCellsInput(Wire):
    path: str | None = None
    after: Annotated[str, Field(description='cell id, "start" or "end"')]
    cells: Annotated[tuple[InsertedCell, ...], Field(min_length=1)]
    run: bool = False
    create_if_missing: bool = False


class DeleteCells(Wire):
    path: str | None = None
    cell_ids: Annotated[tuple[str, ...], Field(min_length=1)]


# -- edit_cell -----------------------------------------------------------------------------------


async def _propose_edit(ctx: ToolContext, args: EditCell) -> Proposal:
    path = notebook_path(ctx, args.path)
    notebook = await open_notebook(ctx, path)
    cell = cell_of(notebook, args.cell_id)
    require_seen_cell(ctx, path, cell)
    source = _new_source(cell, args)
    if source == cell.source and not args.run:
        return read_proposal((path,), lambda: _nothing_to_do(path, cell))
    kernel_name = await _kernel_for_run(ctx, notebook, (cell.cell_type,)) if args.run else None
    before, after = cell.source, source
    preview = DiffPreview(
        path=path,
        language=_language(notebook, cell.cell_type),
        changes=(Change(label=cell.label, cell_id=cell.cell_id, before=before, after=after),),
        note=invisible_changes(before, after),
    )

    async def apply(edited: str | None) -> ToolResult:
        text = source if edited is None else normalised(edited)
        return await _edit(ctx, path, cell, text, proposed=source, kernel_name=kernel_name)

    verb = "Edit and run" if args.run else "Edit"
    return _proposal(
        path, apply, f"{verb} cell {cell.label} of {name_of(path)}?", preview, run=args.run
    )


def _new_source(cell: Cell, args: EditCell) -> str:
    if (args.edits is None) == (args.source is None):
        raise ToolError("Give either edits or source.", code="invalid_input")
    if args.source is not None:
        return normalised(args.source)
    return replace_spans(cell.source, args.edits or (), where=cell_name(cell))


async def _nothing_to_do(path: str, cell: Cell) -> ToolResult:
    text = f"{cell_name(cell)} has exactly this source already; nothing was written."
    return done(text, path=path, cell_id=cell.cell_id, label=cell.label)


async def _edit(
    ctx: ToolContext, path: str, cell: Cell, text: str, *, proposed: str, kernel_name: str | None
) -> ToolResult:
    try:
        edit = ReplaceSource(cell.cell_id, cell.revision, text)
        await ctx.workspace.documents.edit_notebook(path, (edit,))
    except EditConflict as err:
        return await _cell_conflict(ctx, path, cell.cell_id, err)
    now = (await ctx.workspace.documents.read_notebook(path)).cell(cell.cell_id)
    if now is None or now.source != text:
        raise WriteFailed(f"{cell_name(cell)} was written, but is not there as it was sent.")
    saw_cells(ctx, path, (now,))
    added, removed = line_counts(cell.source, text)
    lead = f"Edited {cell_name(now)} of {path}: +{added} −{removed} lines."
    if text != proposed:
        diff = unified(proposed, text, name=f"cell {now.label}")
        lead += f"\nThe user changed your text before allowing it:\n{diff}"
    return await _finished(
        ctx,
        path,
        (now,),
        lead,
        kernel_name=kernel_name,
        cell_id=now.cell_id,
        label=now.label,
        added=added,
        removed=removed,
    )


# -- insert_cells --------------------------------------------------------------------------------


async def _propose_insert(ctx: ToolContext, args: InsertCellsInput) -> Proposal:
    path = notebook_path(ctx, args.path)
    notebook, is_new = await _notebook_or_new(ctx, path, args)
    anchor = args.after if args.after in ("start", "end") else ""
    at = _position(notebook, args.after)
    cells = _new_cells(notebook, args.cells)
    types = tuple(cell.cell_type for cell in cells)
    kernel_name = await _kernel_for_run(ctx, notebook, types) if args.run else None
    where = anchor or f"cell {cell_of(notebook, args.after).label}"
    preview = DiffPreview(
        path=path,
        language=_language(notebook, types[0]),
        changes=tuple(
            Change(label=str(at + number), cell_id=cell.cell_id, before="", after=cell.source)
            for number, cell in enumerate(cells, start=1)
        ),
        note=_insert_note(where, cells),
    )

    async def apply(edited: str | None) -> ToolResult:
        chosen = cells if edited is None else (_resourced(cells[0], edited),)
        create = notebook if is_new else None
        return await _insert(ctx, path, args.after, chosen, create=create, kernel_name=kernel_name)

    title = _insert_title(path, len(cells), run=args.run, is_new=is_new)
    return _proposal(path, apply, title, preview, run=args.run)


async def _notebook_or_new(
    ctx: ToolContext, path: str, args: InsertCellsInput
) -> tuple[Notebook, bool]:
    """The notebook, or the one that would be created."""
    try:
        return await open_notebook(ctx, path), False
    except DocumentNotFound as err:
        if not args.create_if_missing:
            hint = f"{err.hint} To create it, set create_if_missing.".strip()
            raise DocumentNotFound(err.message, hint=hint) from err
    specs = await ctx.workspace.kernels.specs()
    name = default_kernel(specs) or (specs[0].name if specs else "")
    language = next((spec.language for spec in specs if spec.name == name), "")
    return Notebook(path, (), name, language), True


def _position(notebook: Notebook, after: str) -> int:
    """How many cells stand before the new ones."""
    if after == "start":
        return 0
    if after == "end":
        return len(notebook.cells)
    return notebook.cells.index(cell_of(notebook, after)) + 1


def _new_cells(notebook: Notebook, wanted: tuple[InsertedCell, ...]) -> tuple[NewCell, ...]:
    taken = {cell.cell_id for cell in notebook.cells}
    cells = []
    for cell in wanted:
        cell_id = secrets.token_hex(4)
        while cell_id in taken:
            cell_id = secrets.token_hex(4)
        taken.add(cell_id)
        cells.append(NewCell(cell.cell_type, normalised(cell.source), cell_id))
    return tuple(cells)


def _resourced(cell: NewCell, source: str) -> NewCell:
    return NewCell(cell.cell_type, normalised(source), cell.cell_id)


def _insert_note(where: str, cells: tuple[NewCell, ...]) -> str:
    places = {"start": "New at the start.", "end": "New at the end."}
    notes = [places.get(where, f"New after {where}.")]
    kinds = {cell.cell_type for cell in cells}
    if kinds != {"code"}:
        names = ", ".join(cell.cell_type for cell in cells[:20])
        notes.append(f"Cell types: {names}.")
    hidden = invisible_changes("", "\n".join(cell.source for cell in cells))
    return " ".join([*notes, hidden]).strip()


def _insert_title(path: str, count: int, *, run: bool, is_new: bool) -> str:
    cells = "a cell" if count == 1 else count_of(count, "cell")
    if is_new:
        return f"Create {path} with {cells}{' and run' if run else ''}?"
    return f"Insert {'and run ' if run else ''}{cells} in {name_of(path)}?"


async def _insert(
    ctx: ToolContext,
    path: str,
    after: str,
    cells: tuple[NewCell, ...],
    *,
    create: Notebook | None,
    kernel_name: str | None,
) -> ToolResult:
    documents = ctx.workspace.documents
    try:
        if create:
            await documents.create_notebook(
                path, kernel_name=create.kernel_name, language=create.language
            )
        await documents.edit_notebook(path, (InsertCells(after, cells),))
    except EditConflict as err:
        text = f"The notebook changed meanwhile: {err.message}"
        return failed(text, output=outline(await documents.read_notebook(path), count=60).text)
    now = await documents.read_notebook(path)
    made = _verified(now, cells)
    saw_cells(ctx, path, made)
    names = ", ".join(cell_name(cell) for cell in made)
    lead = f"{'Created' if create else 'Inserted into'} {path}: {names}."
    return await _finished(
        ctx, path, made, lead, kernel_name=kernel_name, cell_id=made[0].cell_id, label=made[0].label
    )


def _verified(notebook: Notebook, cells: tuple[NewCell, ...]) -> tuple[Cell, ...]:
    """The new cells as they are there now, one after the other in the order wanted."""
    ids = [cell.cell_id for cell in notebook.cells]
    at = ids.index(cells[0].cell_id) if cells[0].cell_id in ids else len(ids)
    made = notebook.cells[at : at + len(cells)]
    if [(cell.cell_id, cell.source) for cell in made] != [(c.cell_id, c.source) for c in cells]:
        raise WriteFailed(
            f"The cells were written to {notebook.path}, but are not there as they were sent.",
            hint="Read the notebook again.",
        )
    return made


# -- delete_cells --------------------------------------------------------------------------------


async def _propose_delete(ctx: ToolContext, args: DeleteCells) -> Proposal:
    path = notebook_path(ctx, args.path)
    notebook = await open_notebook(ctx, path)
    cells = [cell_of(notebook, cell_id) for cell_id in dict.fromkeys(args.cell_ids)]
    for cell in cells:
        require_seen_cell(ctx, path, cell)
    preview = DiffPreview(
        path=path,
        language=_language(notebook, cells[0].cell_type),
        changes=tuple(
            Change(label=cell.label, cell_id=cell.cell_id, before=cell.source, after="")
            for cell in cells
        ),
        note="Deleted with their outputs." if any(cell.outputs for cell in cells) else "Deleted.",
    )

    async def apply(edited: str | None) -> ToolResult:
        if edited:
            return failed("The user changed the text of a deletion; nothing was deleted.")
        return await _delete(ctx, path, cells)

    what = f"cell {cells[0].label}" if len(cells) == 1 else count_of(len(cells), "cell")
    return _proposal(path, apply, f"Delete {what} of {name_of(path)}?", preview, run=False)


async def _delete(ctx: ToolContext, path: str, cells: list[Cell]) -> ToolResult:
    documents = ctx.workspace.documents
    try:
        edits = tuple(DeleteCell(cell.cell_id, cell.revision) for cell in cells)
        await documents.edit_notebook(path, edits)
    except EditConflict as err:
        text = f"{err.message} No cell was deleted."
        return failed(text, output=outline(await documents.read_notebook(path), count=60).text)
    now = await documents.read_notebook(path)
    left = [cell for cell in cells if now.cell(cell.cell_id)]
    if left:
        raise WriteFailed(f"{cell_name(left[0]).capitalize()} is still there after deleting it.")
    for cell in cells:
        ctx.seen.pop(cell_key(path, cell.cell_id), None)
    names = ", ".join(cell_name(cell) for cell in cells)
    text = f"Deleted from {path}: {names}. {count_of(len(now.cells), 'cell')} left."
    return done(text, path=path, count=len(cells))


# -- shared --------------------------------------------------------------------------------------


def _language(notebook: Notebook, cell_type: CellType) -> str:
    return (notebook.language or "python") if cell_type == "code" else cell_type


def _proposal(path: str, apply: Apply, title: str, preview: DiffPreview, *, run: bool) -> Proposal:
    """A change of cells; with `run` it is judged by the code that will run."""
    effect: Literal["write", "execute"] = "execute" if run else "write"
    code = "\n\n".join(change.after for change in preview.changes) if run else None
    return Proposal(Facts(effect, (path,), code=code), apply, title=title, preview=preview)


async def _kernel_for_run(ctx: ToolContext, notebook: Notebook, types: tuple[CellType, ...]) -> str:
    if "code" not in types:
        raise ToolError("There is no code to run in this cell.", hint="Leave out run.")
    return await kernel_name_for(ctx, notebook)


async def _cell_conflict(
    ctx: ToolContext, path: str, cell_id: str, err: EditConflict
) -> ToolResult:
    notebook = await ctx.workspace.documents.read_notebook(path)
    now = notebook.cell(cell_id)
    if now is None:
        text = "The cell was deleted meanwhile; nothing was written."
        return failed(text, output=outline(notebook, count=60).text, path=path)
    text = f"{cell_name(now)} was changed after the diff was shown; nothing was written."
    if err.code != EditConflict.code:
        text = err.message
    return failed(text, output=show_cell_now(ctx, path, now), path=path, cell_id=cell_id)


async def _finished(
    ctx: ToolContext,
    path: str,
    cells: tuple[Cell, ...],
    lead: str,
    *,
    kernel_name: str | None,
    **metadata: str | int,
) -> ToolResult:
    """The result of a change, after the run that was allowed with it."""
    if kernel_name is None:
        return done(lead, path=path, **metadata)
    code_cells = [cell for cell in cells if cell.cell_type == "code"]
    timeout_s = ctx.settings.cell_timeout_s
    try:
        report = await run_in_order(
            ctx, path, code_cells, kernel_name=kernel_name, timeout_s=timeout_s
        )
    except ToolError as err:
        return failed(f"{lead} Not run: {err.message} {err.hint}".strip(), path=path, **metadata)
    result = run_result(report, lead=lead)
    return result.model_copy(update={"metadata": {**metadata, **result.metadata}})


EDIT_CELL = Tool(
    name="edit_cell",
    description="Change one cell: edits (each before exactly once) or a whole new source; run "
    "executes it after.",
    effect="write",
    input_model=EditCell,
    propose=_propose_edit,
    stream_input=True,
)
INSERT_CELLS = Tool(
    name="insert_cells",
    description="Insert cells in order; run executes them after. create_if_missing makes a new "
    "notebook.",
    effect="write",
    input_model=InsertCellsInput,
    propose=_propose_insert,
    stream_input=True,
)
DELETE_CELLS = Tool(
    name="delete_cells",
    description="Delete cells.",
    effect="write",
    input_model=DeleteCells,
    propose=_propose_delete,
)
