"""The text of an edited notebook: what is new is written in the style of the file. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..base import CellType, revision_of
from ..text_codec import common_prefix, keep_line_ends
from . import notebook_json
from .json_spans import Entry, Gap, Patch, Span, members, patched, rebuilt
from .notebook_json import NotebookFile
from .notebook_outputs import stored_output
from .output_fold import RunResult

_HIGH_ESCAPE = re.compile(r"\\u(?!00[0-7])[0-9a-fA-F]{4}")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_INDENT = re.compile(r"\s*\{(\r?\n)([ \t]*)")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_CELLS_DEPTH, _CELL_DEPTH, _FIELD_DEPTH = 1, 2, 3


@dataclass(frozen=True, slots=True)
class Draft:
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


def written(file: NotebookFile, drafts: Sequence[Draft], *, spelled: Mapping[str, str]) -> str:
    """The file with the cells as drafted; its bytes stay outside of what was touched.

    `spelled` has JSON of sources by `spelling_key`; what is not there is written in file style.
    """
    writer = _Writer(file, _style_of(file), spelled)
    if [draft.origin for draft in drafts] == list(file.cells):
        patches = [patch for draft in drafts for patch in writer.patches(draft)]
        return patched(file.text, patches)
    entries = [(draft.origin, writer.cell_text(draft)) for draft in drafts]
    array = rebuilt(file.text, file.array, entries, gap=writer.style.gap(_CELLS_DEPTH))
    return patched(file.text, [Patch(file.array.start, file.array.end, array)])


# -- taking edits back ---------------------------------------------------------------------------


def spelling_key(cell_id: str, source: str) -> str:
    return f"{cell_id}\n{revision_of(source)}"


def is_spelling(key: str) -> bool:
    return "\n" in key


def lost_spellings(
    before: NotebookFile, after: NotebookFile, drafts: Sequence[Draft]
) -> dict[str, str]:
    """Sources of `before` that an edit back would spell in another way, by `spelling_key`."""
    pairs = [
        (draft, span)
        for draft, span in zip(drafts, after.cells, strict=True)
        if draft.edited and draft.origin
    ]
    if not pairs:
        return {}
    writer = _Writer(after, _style_of(after), {})
    lost: dict[str, str] = {}
    for draft, span in pairs:
        source = notebook_json.source_text(draft.origin.value)
        field = members(before.text, draft.origin.start).value["source"]
        old = before.text[field.start : field.end]
        back = Draft(draft.cell_id, draft.cell_type, source, span, edited=True)
        if writer.source(back, _fields(after, span)["source"]) != old:
            lost[spelling_key(draft.cell_id, source)] = old
    return lost


# -- style ---------------------------------------------------------------------------------------


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

    def gap(self, depth: int) -> Gap:
        """How `dump` writes an array whose first line starts at `depth` levels."""
        if self.indent is None:
            return Gap("", ", " if self.colon == ": " else ",", "")
        start = self.newline + self.indent * (depth + 1)
        return Gap(start, f",{start}", self.newline + self.indent * depth)


def _style_of(file: NotebookFile) -> _Style:
    match = _INDENT.match(file.text)
    sources = [span.value.get("source") for span in file.cells]
    as_strings = sum(isinstance(source, str) for source in sources)
    return _Style(
        indent=match[2] if match else None,
        newline=match[1] if match else "\n",
        ascii_only=file.text.isascii() and _HIGH_ESCAPE.search(file.text) is not None,
        colon=": " if '": ' in file.text else ":",
        list_sources=as_strings <= len(sources) / 2,
    )


# -- cells ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Writer:
    file: NotebookFile
    style: _Style
    spelled: Mapping[str, str]

    def cell_text(self, draft: Draft) -> str:
        span = draft.origin
        if span is None:
            return self.style.dump(_new_cell(self.file, draft, self.style), depth=_CELL_DEPTH)
        shifted = [
            Patch(patch.start - span.start, patch.end - span.start, patch.text)
            for patch in self.patches(draft)
        ]
        return patched(self.file.text[span.start : span.end], shifted)

    def patches(self, draft: Draft) -> list[Patch]:
        """What changes within a cell of the file: single fields."""
        span = draft.origin
        if span is None or not draft.touched:
            return []
        fields = _fields(self.file, span)
        texts = {
            name: self.style.dump(value, depth=_FIELD_DEPTH)
            for name, value in _changed_values(span.value, draft).items()
        }
        if draft.edited:
            texts["source"] = self.source(draft, fields["source"])
        return [Patch(fields[name].start, fields[name].end, text) for name, text in texts.items()]

    def source(self, draft: Draft, field: Span) -> str:
        """The JSON of a source, list or string as it was; lines that stay keep their spelling."""
        known = self.spelled.get(spelling_key(draft.cell_id, draft.source))
        if known is not None:
            return known
        before = notebook_json.raw_source(draft.origin.value) if draft.origin else ""
        source = keep_line_ends(before, draft.source)
        if isinstance(field.value, list):
            return _list_text(self.file.text, field, source, self.style)
        return _string_text(self.file.text, field, source, self.style)


def _fields(file: NotebookFile, cell: Span) -> dict[str, Span]:
    return members(file.text, cell.start, arrays=("source",)).value


def _changed_values(before: dict[str, Any], draft: Draft) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    if draft.result is not None:
        changed["outputs"] = [stored_output(output) for output in draft.result.outputs]
        changed["execution_count"] = draft.result.execution_count
    # The flag would make a later save through the contents API sign the notebook.
    kept = {name: value for name, value in before["metadata"].items() if name != "trusted"}
    if draft.result is not None and draft.result.timing:
        kept["execution"] = dict(draft.result.timing)
    if kept != before["metadata"]:
        changed["metadata"] = kept
    return changed


def _new_cell(file: NotebookFile, draft: Draft, style: _Style) -> dict[str, Any]:
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
    source = draft.source
    cell["source"] = source.splitlines(keepends=True) if style.list_sources else source
    return cell


# -- sources -------------------------------------------------------------------------------------


def _list_text(text: str, field: Span, source: str, style: _Style) -> str:
    old = [(item, text[item.start : item.end]) for item in field.value]
    values = [item.value for item in field.value]
    entries = _respelled(values, old, source.splitlines(keepends=True), style)
    return rebuilt(text, field, entries, gap=style.gap(_FIELD_DEPTH))


def _string_text(text: str, field: Span, source: str, style: _Style) -> str:
    old: list[Entry] = [
        (None, f'"{piece}"') for piece in _written_lines(text[field.start + 1 : field.end - 1])
    ]
    values = [json.loads(line) for _, line in old]
    entries = _respelled(values, old, _lines(source), style)
    return f'"{"".join(line[1:-1] for _, line in entries)}"'


def _respelled(values: list[str], old: list[Entry], lines: list[str], style: _Style) -> list[Entry]:
    """The new lines as they are to be written, the old ones at both ends as they were."""
    before = common_prefix(values, lines)
    rest = min(len(values), len(lines)) - before
    after = common_prefix(values[::-1][:rest], lines[::-1][:rest])
    new = lines[before : len(lines) - after]
    written: list[Entry] = [(None, style.dump(line, depth=0)) for line in new]
    return [*old[:before], *written, *old[len(old) - after :]]


def _lines(source: str) -> list[str]:
    *lines, last = source.split("\n")
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def _written_lines(raw: str) -> list[str]:
    """The inside of a JSON string, cut behind each line end that is written as such."""
    ends = [match.end() for match in _ESCAPE.finditer(raw) if match[1] == "n"]
    starts = [0, *ends]
    return [
        raw[start:end] for start, end in zip(starts, [*ends, len(raw)], strict=True) if start < end
    ]
