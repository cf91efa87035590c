"""Whether edits of a notebook were made, judged by what is there. Pure; used by `live`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from ..base import (
    CellType,
    DeleteCell,
    InsertCells,
    MoveCells,
    Notebook,
    ReplaceSource,
    Revision,
    SourceEdit,
    revision_of,
)

Outcome = Literal["made", "not made", "not known"]


@dataclass(slots=True)
class _Expected:
    """What all edits together lead to: sources by cell id (None: deleted), and where from."""

    sources: dict[str, str | None] = field(default_factory=dict)
    bases: dict[str, Revision] = field(default_factory=dict)
    new: set[str] = field(default_factory=set)


def outcome_of(edits: Sequence[SourceEdit], now: Notebook) -> Outcome:
    """Edits are made all or none, so what is certain of one tells of all.

    Others may have changed the notebook since; what they changed is no evidence.
    """
    expected = _expected(edits)
    found = {_evidence(cell_id, expected, now) for cell_id in expected.sources} - {None}
    certain = found - {"not known"}
    if not found:
        moved = [_is_moved(edit, now) for edit in edits if isinstance(edit, MoveCells)]
        return "made" if all(moved) else "not made"
    return certain.pop() if len(certain) == 1 else "not known"


def misread_cell(edits: Sequence[SourceEdit], revisions: Mapping[str, str | None]) -> str | None:
    """The first touched cell that does not read back as it was sent; None when all do.

    Args:
        revisions: Of the touched cells as they will be saved; deleted ones are missing or None.
    """
    for cell_id, source in _expected(edits).sources.items():
        if not _is_revision_of(source, revisions.get(cell_id)):
            return cell_id
    return None


def _expected(edits: Sequence[SourceEdit]) -> _Expected:
    expected = _Expected()
    for edit in edits:
        match edit:
            case ReplaceSource():
                expected.sources[edit.cell_id] = edit.source
                expected.bases.setdefault(edit.cell_id, edit.base)
            case InsertCells():
                expected.sources.update({cell.cell_id: cell.source for cell in edit.cells})
                expected.new.update(cell.cell_id for cell in edit.cells)
            case DeleteCell():
                expected.sources[edit.cell_id] = None
            case MoveCells():
                pass
    return expected


def _evidence(cell_id: str, expected: _Expected, now: Notebook) -> Outcome | None:
    """What the cell tells; None when it was to stay, or not to be, as before."""
    source, cell = expected.sources[cell_id], now.cell(cell_id)
    is_new = cell_id in expected.new
    if source is None:
        return None if is_new else ("made" if cell is None else "not made")
    if is_new:
        return "not made" if cell is None else "made"
    if _is_revision_of(source, expected.bases[cell_id]):
        return None
    if cell is not None and cell.source == source:
        return "made"
    unchanged = cell is not None and cell.revision == expected.bases[cell_id]
    return "not made" if unchanged else "not known"


def _is_moved(edit: MoveCells, now: Notebook) -> bool:
    ids = [cell.cell_id for cell in now.cells]
    moved = list(edit.cell_ids)
    if edit.after == "start":
        return ids[: len(moved)] == moved
    if edit.after == "end":
        return ids[-len(moved) :] == moved
    at = ids.index(edit.after) + 1 if edit.after in ids else len(ids)
    return ids[at : at + len(moved)] == moved


def _is_revision_of(source: str | None, revision: str | None) -> bool:
    """Of a cell of whichever type: an edit of a source does not say it."""
    if source is None or revision is None:
        return source is revision
    return any(revision == revision_of(f"{kind}\n{source}") for kind in get_args(CellType))
