"""Edits of a notebook file: only what an edit names is written anew. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import EditConflict, ToolError, WriteFailed
from . import notebook_json
from .base import Cell, CellType, DeleteCell, InsertCells, NewCell, SourceEdit
from .json_spans import Patch, Span, members, patched
from .notebook_json import NotebookFile
from .notebook_outputs import joined_output, stored_output
from .output_fold import Folded, RunResult, fold_output
from .text_codec import keep_line_ends, majority_newline, normalised

_QUOTE_LIMIT_CHARS = 2000
_HIGH_ESCAPE = re.compile(r"\\u(?!00[0-7])[0-9a-fA-F]{4}")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_INDENT = re.compile(r"\s*\{(\r?\n)([ \t]*)")


@dataclass(frozen=True, slots=True)
class EditedNotebook:
    """The new file, and the `given` ids (see `notebook_json.cell_ids`) that go with it."""

    file: NotebookFile
    content: bytes
    given: dict[str, str]


@dataclass(frozen=True, slots=True)
class _Draft:
    """A cell of the result. `origin` is its span in the file, None for a new cell."""

    cell_id: str
    cell_type: CellType
    source: str
    origin: Span | None
    result: RunResult | None = None
    edited: bool = False

    @property
    def touched(self) -> bool:
        return self.edited or self.result is not None


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
    """
    ids = notebook_json.cell_ids(file, given)
    drafts = [_draft_of(span, cell_id) for span, cell_id in zip(file.cells, ids, strict=True)]
    repeated = notebook_json.repeated_ids(file)
    for edit in edits:
        drafts = _apply(drafts, edit, repeated)
    drafts = [draft if draft.cell_id in repeated else _with_run(draft, runs) for draft in drafts]
    text = _written(file, drafts)
    content = file.bom + text.encode("utf-8")
    after = notebook_json.parse(content, name="The edited notebook")
    _check_nothing_lost(file, after, drafts)
    computed = notebook_json.cell_ids(after, {})
    known = [draft.cell_id for draft in drafts]
    renamed = {new: old for new, old in zip(computed, known, strict=True) if new != old}
    return EditedNotebook(after, content, renamed)


# -- deciding what the cells are -----------------------------------------------------------------


def _draft_of(span: Span, cell_id: str) -> _Draft:
    kind = notebook_json.cell_type_of(span.value)
    return _Draft(cell_id, kind, notebook_json.source_text(span.value), span)


def _apply(drafts: list[_Draft], edit: SourceEdit, repeated: frozenset[str]) -> list[_Draft]:
    if isinstance(edit, InsertCells):
        return _insert(drafts, edit, repeated)
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


def _insert(drafts: list[_Draft], edit: InsertCells, repeated: frozenset[str]) -> list[_Draft]:
    if edit.after in ("start", "end"):
        at = 0 if edit.after == "start" else len(drafts)
    else:
        at = _position(drafts, edit.after, repeated) + 1
    taken = {draft.cell_id for draft in drafts} | repeated
    for new in edit.cells:
        _check_new_id(new, taken)
        taken.add(new.cell_id)
    made = [
        _Draft(new.cell_id, new.cell_type, normalised(new.source), None, edited=True)
        for new in edit.cells
    ]
    return [*drafts[:at], *made, *drafts[at:]]


def _check_new_id(new: NewCell, taken: set[str]) -> None:
    if not notebook_json.is_cell_id(new.cell_id):
        raise ToolError(f"{new.cell_id!r} cannot be a cell id; nothing was written.")
    if new.cell_id in taken:
        raise EditConflict(f"There is a cell {new.cell_id} already; nothing was written.")


def _position(drafts: list[_Draft], cell_id: str, repeated: frozenset[str]) -> int:
    if cell_id in repeated:
        raise EditConflict(
            f"Several cells have the id {cell_id}; nothing was written.",
            code="ambiguous_cell",
            hint="Read the notebook again: these cells are listed with other ids.",
        )
    for at, draft in enumerate(drafts):
        if draft.cell_id == cell_id:
            return at
    raise EditConflict(
        f"There is no cell {cell_id} now; nothing was written.",
        hint="Read the notebook again.",
    )


def _with_run(draft: _Draft, runs: Folded) -> _Draft:
    result = runs.ended.get(draft.cell_id) or _late_result(draft, runs)
    if result is None or draft.cell_type != "code":
        return draft
    return replace(draft, result=result)


def _late_result(draft: _Draft, runs: Folded) -> RunResult | None:
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


# -- writing -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Style:
    """How the file is written. `indent` None: everything in one line."""

    indent: str | None
    newline: str
    ascii_only: bool
    colon: str
    list_sources: bool

    def dump(self, value: Any, *, depth: int) -> str:
        """JSON of a value whose first line starts at `depth` levels."""
        if self.indent is None:
            comma = ", " if self.colon == ": " else ","
            text = json.dumps(value, ensure_ascii=self.ascii_only, separators=(comma, self.colon))
        else:
            text = json.dumps(value, ensure_ascii=self.ascii_only, indent=self.indent)
            text = text.replace("\n", self.newline + self.indent * depth)
        # Half of a surrogate pair is legal in JSON as an escape only.
        return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)

    def source(self, text: str, *, before: Any) -> Any:
        """A source in the form, list of lines or string, that it had."""
        as_list = isinstance(before, list) or (before is None and self.list_sources)
        return text.splitlines(keepends=True) if as_list else text


def _style_of(file: NotebookFile) -> _Style:
    match = _INDENT.match(file.text)
    sources = [span.value.get("source") for span in file.cells]
    as_strings = sum(isinstance(source, str) for source in sources)
    return _Style(
        indent=match[2] if match else None,
        newline=majority_newline(file.text),
        ascii_only=file.text.isascii() and _HIGH_ESCAPE.search(file.text) is not None,
        colon=": " if '": ' in file.text else ":",
        list_sources=as_strings <= len(sources) / 2,
    )


def _written(file: NotebookFile, drafts: list[_Draft]) -> str:
    style = _style_of(file)
    same_cells = [draft.origin for draft in drafts] == list(file.cells)
    if same_cells:
        patches = [
            patch for draft in drafts if draft.touched for patch in _patches(file, draft, style)
        ]
        return patched(file.text, patches)
    texts = [_cell_text(file, draft, style) for draft in drafts]
    array = Patch(file.array.start, file.array.end, _array_text(file, texts, style))
    return patched(file.text, [array])


def _cell_text(file: NotebookFile, draft: _Draft, style: _Style) -> str:
    span = draft.origin
    if span is None:
        return style.dump(_new_cell(file, draft, style), depth=2)
    shifted = [
        Patch(patch.start - span.start, patch.end - span.start, patch.text)
        for patch in (_patches(file, draft, style) if draft.touched else [])
    ]
    return patched(file.text[span.start : span.end], shifted)


def _array_text(file: NotebookFile, texts: list[str], style: _Style) -> str:
    """The list of cells, with the space between cells as it is in the file."""
    if not texts:
        return "[]"
    text, cells, array = file.text, file.cells, file.array
    unit = style.indent
    start, end = ("", "") if unit is None else (style.newline + unit * 2, style.newline + unit)
    between = ", " if unit is None and style.colon == ": " else f",{start}"
    if cells:
        start = text[array.start + 1 : cells[0].start]
        end = text[cells[-1].end : array.end - 1]
    if len(cells) > 1:
        between = text[cells[0].end : cells[1].start]
    return f"[{start}{between.join(texts)}{end}]"


def _patches(file: NotebookFile, draft: _Draft, style: _Style) -> list[Patch]:
    """What changes within a touched cell: single fields, or all of it when one is missing."""
    span = draft.origin
    if span is None:
        return []
    changed = _changed_fields(span.value, draft, style)
    fields = members(file.text, span.start).value
    if not changed.keys() <= fields.keys():
        whole = style.dump({**span.value, **changed}, depth=2)
        return [Patch(span.start, span.end, whole)]
    return [
        Patch(fields[name].start, fields[name].end, style.dump(value, depth=3))
        for name, value in changed.items()
    ]


def _changed_fields(before: dict[str, Any], draft: _Draft, style: _Style) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    if draft.edited:
        raw = keep_line_ends(notebook_json.raw_source(before), draft.source)
        changed["source"] = style.source(raw, before=before.get("source"))
    if draft.result is not None:
        changed["outputs"] = [stored_output(output) for output in draft.result.outputs]
        changed["execution_count"] = draft.result.execution_count
    metadata = before.get("metadata")
    kept = dict(metadata) if isinstance(metadata, dict) else {}
    # The flag would make a later save through the contents API sign the notebook.
    kept.pop("trusted", None)
    if draft.result is not None and draft.result.timing:
        kept["execution"] = dict(draft.result.timing)
    if kept != metadata:
        changed["metadata"] = kept
    return changed


def _new_cell(file: NotebookFile, draft: _Draft, style: _Style) -> dict[str, Any]:
    """A new cell in nbformat's order of names; ids exist from format 4.5 on."""
    cell: dict[str, Any] = {"cell_type": draft.cell_type}
    if draft.cell_type == "code":
        count = draft.result.execution_count if draft.result else None
        cell["execution_count"] = count
    if file.minor >= 5:
        cell["id"] = draft.cell_id
    cell["metadata"] = {}
    if draft.cell_type == "code":
        outputs = draft.result.outputs if draft.result else ()
        cell["outputs"] = [stored_output(output) for output in outputs]
    if draft.result and draft.result.timing:
        cell["metadata"] = {"execution": dict(draft.result.timing)}
    cell["source"] = style.source(draft.source, before=None)
    return cell


def _check_nothing_lost(before: NotebookFile, after: NotebookFile, drafts: list[_Draft]) -> None:
    """A guard against our own mistakes: it must be impossible to write away a user's cell."""
    kept = (
        len(after.cells) == len(drafts)
        and after.text[: after.array.start] == before.text[: before.array.start]
        and after.text[after.array.end :] == before.text[before.array.end :]
        and all(
            _is_as_drafted(before, after, draft, span)
            for draft, span in zip(drafts, after.cells, strict=True)
        )
    )
    if not kept:
        raise WriteFailed("The edit would have damaged the notebook; nothing was written.")


def _is_as_drafted(before: NotebookFile, after: NotebookFile, draft: _Draft, span: Span) -> bool:
    if draft.origin is None or draft.touched:
        return notebook_json.source_text(span.value) == draft.source
    old = before.text[draft.origin.start : draft.origin.end]
    return after.text[span.start : span.end] == old
