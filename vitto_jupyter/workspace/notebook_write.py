"""The text of an edited notebook: what is new is written in the style of the file. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import notebook_json
from .base import CellType
from .json_spans import Entry, Gap, Patch, Span, members, patched, rebuilt
from .notebook_json import NotebookFile
from .notebook_outputs import stored_output
from .output_fold import RunResult
from .text_codec import common_prefix, keep_line_ends, majority_newline

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


def written(file: NotebookFile, drafts: Sequence[Draft]) -> str:
    """The file with the cells as drafted; its bytes stay outside of what was touched."""
    style = _style_of(file)
    if [draft.origin for draft in drafts] == list(file.cells):
        patches = [patch for draft in drafts for patch in _patches(file, draft, style)]
        return patched(file.text, patches)
    entries = [(draft.origin, _cell_text(file, draft, style)) for draft in drafts]
    array = rebuilt(file.text, file.array, entries, gap=style.gap(_CELLS_DEPTH))
    return patched(file.text, [Patch(file.array.start, file.array.end, array)])


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
        newline=majority_newline(file.text),
        ascii_only=file.text.isascii() and _HIGH_ESCAPE.search(file.text) is not None,
        colon=": " if '": ' in file.text else ":",
        list_sources=as_strings <= len(sources) / 2,
    )


# -- cells ---------------------------------------------------------------------------------------


def _cell_text(file: NotebookFile, draft: Draft, style: _Style) -> str:
    span = draft.origin
    if span is None:
        return style.dump(_new_cell(file, draft, style), depth=_CELL_DEPTH)
    shifted = [
        Patch(patch.start - span.start, patch.end - span.start, patch.text)
        for patch in _patches(file, draft, style)
    ]
    return patched(file.text[span.start : span.end], shifted)


def _patches(file: NotebookFile, draft: Draft, style: _Style) -> list[Patch]:
    """What changes within a cell of the file: single fields."""
    span = draft.origin
    if span is None or not draft.touched:
        return []
    fields = members(file.text, span.start, arrays=("source",)).value
    texts = {
        name: style.dump(value, depth=_FIELD_DEPTH)
        for name, value in _changed_values(span.value, draft).items()
    }
    if draft.edited:
        raw = keep_line_ends(notebook_json.raw_source(span.value), draft.source)
        texts["source"] = _source_text(file.text, fields["source"], raw, style)
    return [Patch(fields[name].start, fields[name].end, text) for name, text in texts.items()]


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


def _source_text(text: str, field: Span, source: str, style: _Style) -> str:
    """The JSON of a source, list or string as it was; lines that stay keep their spelling."""
    if isinstance(field.value, list):
        lines = source.splitlines(keepends=True)
        old = [(item, text[item.start : item.end]) for item in field.value]
        entries = _respelled([item.value for item in field.value], old, lines, style)
        return rebuilt(text, field, entries, gap=style.gap(_FIELD_DEPTH))
    pieces = _written_lines(text[field.start + 1 : field.end - 1])
    values = [json.loads(f'"{piece}"') for piece in pieces]
    entries = _respelled(values, [(None, f'"{piece}"') for piece in pieces], _lines(source), style)
    return f'"{"".join(written[1:-1] for _, written in entries)}"'


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
