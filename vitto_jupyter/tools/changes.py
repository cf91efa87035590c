"""The change note of a turn: what changed in documents since the model last saw them.

Imported by services. Bounded work: a few documents, a short deadline, never a failure.
"""

from __future__ import annotations

import asyncio
import difflib
import logging
from dataclasses import dataclass

from ..errors import DocumentNotFound, ToolError
from ..workspace.base import Cell, Notebook, ReadNotebook, Workspace
from ..workspace.paths import is_notebook, shown
from .clipping import count_of
from .differences import difference
from .secrets import holds_secrets
from .seen import Seen, cell_key

LIMIT_DOCUMENTS = 20
DEADLINE_S = 2.0
_SHOWN_CHARS = 1_500  # of one cell or file
_ALL_CHARS = 12_000
_LIMIT_LINES = 40  # of one notebook, apart from the texts shown
_log = logging.getLogger(__name__)


async def changes_since_seen(
    workspace: Workspace,
    seen: Seen,
    *,
    read: ReadNotebook | None = None,
    deadline_s: float = DEADLINE_S,
) -> str:
    """What others changed in the documents that the model has seen; "" when nothing.

    What is shown whole counts as seen from now on; the rest does not. Documents that cannot be
    looked at in time, or at all, are left out.

    Args:
        read: Reads a notebook, when others read it at the same time.
    """
    note = _Note(workspace, seen, read or workspace.documents.read_notebook)
    looks = [asyncio.create_task(note.look_at(path)) for path in seen.documents()[:LIMIT_DOCUMENTS]]
    if not looks:
        return ""
    try:
        await asyncio.wait(looks, timeout=deadline_s)
    finally:
        for look in looks:
            look.cancel()
        await asyncio.wait(looks)
    return "\n".join(note.lines)


@dataclass(frozen=True, slots=True)
class _Change:
    """`whole`: with `text`, the model knows all of the cell or file."""

    line: str
    text: str = ""
    whole: bool = False


class _Note:
    """The lines of the note so far; `seen` follows what they show."""

    def __init__(self, workspace: Workspace, seen: Seen, read: ReadNotebook) -> None:
        self._workspace = workspace
        self._read = read
        self._documents = workspace.documents
        self._seen = seen
        self._chars = 0
        self.lines: list[str] = []

    async def look_at(self, path: str) -> None:
        try:
            version = await self._version(path)
            if version is not None and version == self._seen.versions.get(path):
                return
            if is_notebook(path):
                self._notebook(await self._read(path))
            else:
                await self._file(path)
        except DocumentNotFound:
            self._gone(path)
        except ToolError as err:
            _log.debug("%s is not in the change note: %s", shown(path), err.message)
        else:
            self._seen.versions[path] = version

    async def _version(self, path: str) -> tuple[str, int | None] | None:
        """What tells cheaply whether a file is as before; None when it has to be read."""
        if path in self._workspace.front_ends.seen().open_paths:
            return None
        entry = await self._documents.entry(path)
        return (entry.modified, entry.size) if entry.modified else None

    def _gone(self, path: str) -> None:
        self.lines.append(f"{shown(path)} is not there any more.")
        self._seen.forget_notebook(path)
        self._seen.pop(path, None)

    async def _file(self, path: str) -> None:
        document = await self._documents.read_text(path)
        if document.revision == self._seen.get(path):
            return
        if await holds_secrets(self._documents, path):
            self._say(_Change(f"{shown(path)} was changed; it holds secrets."))
            return
        diff = self._diff(path, document.text, name=path)
        if self._say(_changed(shown(path), diff)):
            self._seen.note(path, document.revision, document.text)

    # -- notebooks -------------------------------------------------------------------------------

    def _notebook(self, notebook: Notebook) -> None:
        changes: list[tuple[_Change, Cell | None]] = [
            *self._deleted(notebook),
            *self._moved(notebook),
        ]
        known = set(self._seen.order(notebook.path))
        for place, cell in enumerate(notebook.cells):
            if cell.cell_id not in known:
                changes.append((_added(cell, place), cell))
            elif self._is_edited(notebook.path, cell):
                changes.append((self._edited(notebook.path, cell), cell))
        if not changes:
            return
        self.lines.append(f"{shown(notebook.path)}:")
        for change, cell in changes[:_LIMIT_LINES]:
            if self._say(change, indent="- ") and cell is not None:
                key = cell_key(notebook.path, cell.cell_id)
                self._seen.note(key, cell.revision, cell.source)
        if len(changes) > _LIMIT_LINES:
            self.lines.append(f"- and {count_of(len(changes) - _LIMIT_LINES, 'more change')}")
        self._seen.note_order(notebook.path, [cell.cell_id for cell in notebook.cells])

    def _deleted(self, notebook: Notebook) -> list[tuple[_Change, Cell | None]]:
        now = {cell.cell_id for cell in notebook.cells}
        changes: list[tuple[_Change, Cell | None]] = []
        for label, cell_id in enumerate(self._seen.order(notebook.path), start=1):
            if cell_id not in now:
                self._seen.pop(cell_key(notebook.path, cell_id), None)
                changes.append((_Change(f"cell (id {cell_id}, was cell {label}) deleted"), None))
        return changes

    def _moved(self, notebook: Notebook) -> list[tuple[_Change, Cell | None]]:
        there = {cell.cell_id for cell in notebook.cells}
        old = [cell_id for cell_id in self._seen.order(notebook.path) if cell_id in there]
        known = set(old)
        now = [cell.cell_id for cell in notebook.cells if cell.cell_id in known]
        if old == now:
            return []
        for block in difflib.SequenceMatcher(None, old, now, autojunk=False).get_matching_blocks():
            known.difference_update(old[block.a : block.a + block.size])
        return [
            (_Change(f"{_name(cell)} moved, now {_where(place)}"), None)
            for place, cell in enumerate(notebook.cells)
            if cell.cell_id in known
        ]

    def _is_edited(self, path: str, cell: Cell) -> bool:
        known = self._seen.get(cell_key(path, cell.cell_id))
        return known is not None and known != cell.revision

    def _edited(self, path: str, cell: Cell) -> _Change:
        key = cell_key(path, cell.cell_id)
        return _changed(_name(cell), self._diff(key, cell.source, name=f"cell {cell.label}"))

    # -- saying it -------------------------------------------------------------------------------

    def _diff(self, key: str, now: str, *, name: str) -> str:
        """The whole difference to what was seen; "" when it is too long, or not known."""
        diff = difference(self._seen.text(key), now, name=name, limit=_SHOWN_CHARS + 1)
        return diff if len(diff) <= _SHOWN_CHARS else ""

    def _say(self, change: _Change, *, indent: str = "") -> bool:
        """Whether the model now knows the text whole."""
        fits = self._chars + len(change.text) <= _ALL_CHARS
        text = change.text if fits else ""
        self._chars += len(text)
        self.lines.append(f"{indent}{change.line}{':' if text else ''}")
        self.lines.extend([text] if text else [])
        return change.whole and fits


def _added(cell: Cell, place: int) -> _Change:
    line = f"{_name(cell)} added {_where(place)} ({cell.cell_type})"
    if len(cell.source) <= _SHOWN_CHARS:
        return _Change(line, cell.source or "(empty)", whole=True)
    return _Change(f"{line}, {count_of(cell.source.count(chr(10)) + 1, 'line')}")


def _changed(name: str, diff: str) -> _Change:
    if diff:
        return _Change(f"{name} edited", diff, whole=True)
    return _Change(f"{name} edited; read it again before you use it")


def _where(place: int) -> str:
    return f"after cell {place}" if place else "at the start"


def _name(cell: Cell) -> str:
    return f"cell {cell.label} (id {cell.cell_id})"
