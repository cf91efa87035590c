"""Edits of a notebook file: only what an edit names is written anew. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...errors import EditConflict, ToolError, WriteFailed
from ..base import Cell, DeleteCell, InsertCells, MoveCells, NewCell, SourceEdit
from ..text_codec import normalised
from . import notebook_json
from .json_spans import Known, Span
from .notebook_json import NotebookFile
from .notebook_outputs import joined_output
from .notebook_write import Draft, is_spelling, lost_spellings, written
from .output_fold import Folded, RunResult, fold_output

_QUOTE_LIMIT_CHARS = 2000
_LIMIT_SPELLINGS = 50


@dataclass(frozen=True, slots=True)
class EditedNotebook:
    """The new file, and what to give with it from now on.

    `given` holds ids (see `notebook_json.cell_ids`) and, by `spelling_key`, sources as they were
    written in the file, where taking an edit back would else not give the same bytes.
    """

    file: NotebookFile
    content: bytes
    given: dict[str, str]


def apply_edits(
    file: NotebookFile,
    edits: Sequence[SourceEdit],
    runs: Folded,
    *,
    given: Mapping[str, str],
) -> EditedNotebook:
    """The file after all edits, then with what runs brought put into their cells.

    What belongs to a cell that is gone, or that is no code cell, is left out.

    Raises:
        EditConflict: a cell is not what an edit is based on; code `ambiguous_cell` when several
            cells have the id that the edit names.
        ToolError: code `read_only`, when the notebook must not be edited.
    """
    if file.read_only and (edits or runs.ended or runs.late):
        raise ToolError(
            f"The notebook cannot be edited: {file.read_only}. Nothing was written.",
            code="read_only",
            hint="It can be read. Ask the user to open and save it in JupyterLab, or to repair it.",
        )
    ids = notebook_json.cell_ids(file, given)
    drafts = [_draft_of(span, cell_id) for span, cell_id in zip(file.cells, ids, strict=True)]
    repeated = notebook_json.repeated_ids(file)
    for edit in edits:
        drafts = _apply(drafts, edit, repeated)
    drafts = [_with_run(draft, runs) for draft in drafts]
    text = written(file, drafts, spelled=given)
    known = Known(file.text, [None if draft.touched else draft.origin for draft in drafts])
    after = notebook_json.parse_text(text, bom=file.bom, name="The edited notebook", known=known)
    _check_nothing_lost(file, after, drafts)
    computed = notebook_json.cell_ids(after, {})
    names = [draft.cell_id for draft in drafts]
    renamed = {new: old for new, old in zip(computed, names, strict=True) if new != old}
    spelled = {key: value for key, value in given.items() if is_spelling(key)}
    spelled |= lost_spellings(file, after, drafts)
    kept = dict([*spelled.items()][-_LIMIT_SPELLINGS:])
    return EditedNotebook(after, file.bom + text.encode("utf-8"), renamed | kept)


# -- deciding what the cells are -----------------------------------------------------------------


def _draft_of(span: Span, cell_id: str) -> Draft:
    kind = notebook_json.cell_type_of(span.value)
    return Draft(cell_id, kind, notebook_json.source_text(span.value), span)


def _apply(drafts: list[Draft], edit: SourceEdit, repeated: frozenset[str]) -> list[Draft]:
    if isinstance(edit, InsertCells):
        return _insert(drafts, edit, repeated)
    if isinstance(edit, MoveCells):
        return _move(drafts, edit, repeated)
    at = _position(drafts, edit.cell_id, repeated)
    current = drafts[at]
    if Cell(current.cell_id, current.cell_type, current.source, "").revision != edit.base:
        raise EditConflict(
            f"Cell {edit.cell_id} has changed; nothing was written.{_now(current.source)}",
            hint="Look at the cell again and base the edit on what is there now.",
        )
    if isinstance(edit, DeleteCell):
        return [*drafts[:at], *drafts[at + 1 :]]
    changed = replace(current, source=normalised(edit.source), edited=True)
    return [*drafts[:at], changed, *drafts[at + 1 :]]


def _insert(drafts: list[Draft], edit: InsertCells, repeated: frozenset[str]) -> list[Draft]:
    at = _place(drafts, edit.after, repeated)
    taken = {draft.cell_id for draft in drafts} | repeated
    for new in edit.cells:
        _check_new_id(new, taken)
        taken.add(new.cell_id)
    made = [
        Draft(new.cell_id, new.cell_type, normalised(new.source), None, edited=True)
        for new in edit.cells
    ]
    return [*drafts[:at], *made, *drafts[at:]]


def _move(drafts: list[Draft], edit: MoveCells, repeated: frozenset[str]) -> list[Draft]:
    if len(set(edit.cell_ids)) < len(edit.cell_ids) or edit.after in edit.cell_ids:
        raise ToolError(
            "A cell can be moved to one place only, and not behind itself; nothing was written.",
            code="invalid_input",
        )
    moved = [drafts[_position(drafts, cell_id, repeated)] for cell_id in edit.cell_ids]
    rest = [draft for draft in drafts if draft.cell_id not in edit.cell_ids]
    at = _place(rest, edit.after, repeated)
    return [*rest[:at], *moved, *rest[at:]]


def _place(drafts: list[Draft], after: str, repeated: frozenset[str]) -> int:
    """The index behind `after`: a cell id, "start" or "end"."""
    if after in ("start", "end"):
        return 0 if after == "start" else len(drafts)
    return _position(drafts, after, repeated) + 1


def _check_new_id(new: NewCell, taken: set[str]) -> None:
    if not notebook_json.is_cell_id(new.cell_id):
        raise ToolError(f"{new.cell_id!r} cannot be a cell id; nothing was written.")
    if new.cell_id in taken:
        raise EditConflict(f"There is a cell {new.cell_id} already; nothing was written.")


def _position(drafts: list[Draft], cell_id: str, repeated: frozenset[str]) -> int:
    if cell_id in repeated:
        raise EditConflict(
            f"Several cells have the id {cell_id}; nothing was written.",
            code="ambiguous_cell",
            hint=f"Tell them apart by the ids that read_notebook gives: {cell_id}~1, {cell_id}~2.",
        )
    for at, draft in enumerate(drafts):
        if draft.cell_id == cell_id:
            return at
    raise EditConflict(
        f"There is no cell {cell_id} now; nothing was written.",
        hint="Read the notebook again.",
    )


def _with_run(draft: Draft, runs: Folded) -> Draft:
    result = runs.ended.get(draft.cell_id) or _late_result(draft, runs)
    if result is None or draft.cell_type != "code":
        return draft
    return replace(draft, result=result)


def _late_result(draft: Draft, runs: Folded) -> RunResult | None:
    """The cell's stored outputs after late changes; None when there are none."""
    late = [edit for edit in runs.late if edit.cell_id == draft.cell_id]
    if not late or draft.origin is None:
        return None
    outputs = tuple(
        joined_output(output)
        for output in draft.origin.value.get("outputs") or ()
        if isinstance(output, dict)
    )
    for edit in late:
        outputs = fold_output(outputs, edit)
    return RunResult(outputs, draft.origin.value.get("execution_count"))


def _now(source: str) -> str:
    return f" It is now:\n{source}" if len(source) <= _QUOTE_LIMIT_CHARS else ""


# -- checking --------------------------------------------------------------------------------------


def _check_nothing_lost(before: NotebookFile, after: NotebookFile, drafts: list[Draft]) -> None:
    """A guard against our own mistakes: it must be impossible to write away a user's cell."""
    kept = (
        not after.read_only
        and len(after.cells) == len(drafts)
        and after.text[: after.array.start] == before.text[: before.array.start]
        and after.text[after.array.end :] == before.text[before.array.end :]
        and all(
            _is_as_drafted(before, after, draft, span)
            for draft, span in zip(drafts, after.cells, strict=True)
        )
    )
    if not kept:
        why = f" ({after.read_only})" if after.read_only else ""
        raise WriteFailed(f"The edit would have damaged the notebook{why}; nothing was written.")


def _is_as_drafted(before: NotebookFile, after: NotebookFile, draft: Draft, span: Span) -> bool:
    if draft.origin is None or draft.touched:
        return notebook_json.source_text(span.value) == draft.source
    old = before.text[draft.origin.start : draft.origin.end]
    return after.text[span.start : span.end] == old
