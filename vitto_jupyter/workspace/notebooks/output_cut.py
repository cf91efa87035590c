"""Bounds what a reader gets of the outputs of a notebook. Pure; used by every Documents.

The rule has a twin for open pages, hosts/lab/documents/output-cut.ts; both are held to
tests/golden/output_cut.json. There a character is a UTF-16 unit, here a code point.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..base import Cell, Notebook, Output, OutputPart

_WORDS = (b"error", b"exception", b"traceback", b"failed", b"warning", b"fatal")
_WINDOW_CHARS = 1_000_000  # looked through at once: copies of 100 MB texts would be dear
_TEXT_TYPES = frozenset({"application/javascript", "application/json", "application/xml"})


@dataclass(frozen=True, slots=True)
class Cut:
    """A text longer than `over_chars` keeps `keep_chars` at each end and `error_lines` between."""

    over_chars: int
    keep_chars: int
    error_lines: int


@dataclass(frozen=True, slots=True)
class Limits:
    """`early` holds until the outputs of the notebook, as cut, reach `early_chars`; then `late`."""

    early: Cut = Cut(100_000, 20_000, 50)
    early_chars: int = 1_000_000
    late: Cut = Cut(4_000, 1_500, 2)
    error_line_chars: int = 400


LIMITS = Limits()


@dataclass(slots=True)
class OutputCutter:
    """Cuts the outputs of one notebook, given in order."""

    limits: Limits = LIMITS
    _kept_chars: int = field(default=0, init=False)

    def cut(self, output: Output) -> Output:
        """The output, its long fields cut and named in `cut` with their full lengths.

        Texts keep head, tail and lines between that look like errors; binary and JSON data are
        emptied. Other long values, such as metadata, are shortened without a word. Texts of
        `output` are strings (see `notebook_outputs.joined_output`); a `cut` in it is ignored.
        """
        rule = self.limits.early if self._kept_chars < self.limits.early_chars else self.limits.late
        found = {name: value for name, value in output.items() if name != "cut"}
        totals: dict[str, int] = {}
        for name, value in found.items():
            if name == "data" and isinstance(value, dict):
                found[name] = {kind: self._data(kind, value[kind], rule, totals) for kind in value}
            elif name == "traceback" and isinstance(value, list):
                found[name] = self._traceback(value, rule, totals)
            else:
                found[name] = self._value(name, value, rule, totals)
        return {**found, "cut": totals} if totals else found

    def _data(self, kind: str, value: Any, rule: Cut, totals: dict[str, int]) -> Any:
        chars = _size(value)
        if chars <= rule.over_chars:
            return self._kept(value, chars)
        totals[kind] = chars
        if not isinstance(value, str) or not _is_text(kind):
            return ""
        text = self._text(value, rule)
        return self._kept(text, len(text))

    def _traceback(self, lines: list[Any], rule: Cut, totals: dict[str, int]) -> list[Any]:
        text = _joined_lines(lines)
        if len(text) <= rule.over_chars:
            return self._kept(lines, len(text))
        totals["traceback"] = len(text)
        text = self._text(text, rule)
        return self._kept([text], len(text))

    def _value(self, name: str, value: Any, rule: Cut, totals: dict[str, int]) -> Any:
        chars = _size(value)
        if chars <= rule.over_chars:
            return self._kept(value, chars)
        if not isinstance(value, str):
            return [] if isinstance(value, list) else {}
        if name == "text":
            totals[name] = chars
        text = self._text(value, rule)
        return self._kept(text, len(text))

    def _kept(self, value: Any, chars: int) -> Any:
        self._kept_chars += chars
        return value

    def _text(self, text: str, rule: Cut) -> str:
        return cut_text(text, rule, error_line_chars=self.limits.error_line_chars)


def cut_notebook(notebook: Notebook, limits: Limits = LIMITS) -> Notebook:
    """The notebook with long outputs cut."""
    cutter = OutputCutter(limits)
    return replace(notebook, cells=tuple(cut_cell(cell, cutter) for cell in notebook.cells))


def cut_cell(cell: Cell, cutter: OutputCutter) -> Cell:
    """The next cell of the cutter's notebook."""
    if not cell.outputs:
        return cell
    return replace(cell, outputs=tuple(cutter.cut(output) for output in cell.outputs))


def cut_text(text: str, rule: Cut, *, error_line_chars: int) -> str:
    """Head, a line that says how much is left out, lines like errors, tail. Not for short texts."""
    start = _whole(text, rule.keep_chars)
    end = _whole(text, len(text) - rule.keep_chars)
    lines = _error_lines(text, start, end, rule.error_lines)
    quoted = "".join(f"{_clipped(line, error_line_chars)}\n" for line in lines)
    closing = "[…]\n" if quoted else ""
    return f"{text[:start]}\n[… {end - start} characters left out …]\n{quoted}{closing}{text[end:]}"


def output_part(
    output: Mapping[str, Any], name: str, *, start: int, count: int
) -> OutputPart | None:
    """A part of a field of an output with joined texts; None when it has no such field.

    The names are those of `output["cut"]`. JSON data is read as compact JSON.
    """
    text = _field_text(output, name)
    if text is None:
        return None
    first = _whole(text, max(0, start))
    return OutputPart(text[first : _whole(text, max(0, start) + max(0, count))], first, len(text))


# -- inside --------------------------------------------------------------------------------------


def _field_text(output: Mapping[str, Any], name: str) -> str | None:
    if name == "text":
        return output["text"] if isinstance(output.get("text"), str) else None
    if name == "traceback":
        lines = output.get("traceback")
        return _joined_lines(lines) if isinstance(lines, list) else None
    data = output.get("data")
    if not isinstance(data, dict) or name not in data:
        return None
    return data[name] if isinstance(data[name], str) else _json(data[name])


def _size(value: Any) -> int:
    return len(value if isinstance(value, str) else _json(value))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _joined_lines(lines: Iterable[Any]) -> str:
    return "\n".join(map(str, lines))


def _is_text(kind: str) -> bool:
    if kind.startswith("image/"):
        return False
    return kind.startswith("text/") or kind in _TEXT_TYPES or kind.endswith(("+json", "+xml"))


def _whole(text: str, at: int) -> int:
    """`at`, moved in front of a surrogate pair that it would split."""
    splits = 0 < at < len(text) and "\ud800" <= text[at - 1] < "\udc00" <= text[at] < "\ue000"
    return at - 1 if splits else min(at, len(text))


def _clipped(line: str, limit_chars: int) -> str:
    return line if len(line) <= limit_chars else f"{line[: _whole(line, limit_chars)]}…"


def _error_lines(text: str, start: int, end: int, limit: int) -> list[str]:
    """Lines of [start, end) that look like errors: of more than `limit`, the first and last half.

    An incomplete line at either end counts as a line.
    """
    first: list[str] = []
    at = start
    while at < end and len(first) <= limit:
        stop = text.find("\n", min(at + _WINDOW_CHARS, end), end)
        stop = end if stop < 0 else stop
        first += _matching_lines(text[at:stop], limit + 1 - len(first), find=_first_lines)
        at = stop + 1
    if len(first) <= limit:
        return first
    last: list[str] = []
    stop, wanted = end, limit - limit // 2
    while len(last) < wanted:  # it ends: there are more than `limit` of them
        at = text.rfind("\n", start, max(stop - _WINDOW_CHARS, start)) + 1 or start
        last = _matching_lines(text[at:stop], wanted - len(last), find=_last_lines) + last
        stop = at - 1
    return first[: limit // 2] + last


_FindLines = Callable[[bytes, bytes, int], list[int]]


def _matching_lines(window: str, limit: int, *, find: _FindLines) -> list[str]:
    """The first or last lines with one of the words; upper case is looked for in ASCII only.

    Plain searches in lowered bytes: a case-insensitive pattern takes seconds for 100 MB.
    """
    raw = window.encode("utf-8", "surrogatepass")
    lowered = raw.lower()
    starts = sorted({start for word in _WORDS for start in find(lowered, word, limit)})
    chosen = starts[:limit] if find is _first_lines else starts[-limit:]
    return [raw[start:].split(b"\n", 1)[0].decode("utf-8", "surrogatepass") for start in chosen]


def _first_lines(text: bytes, word: bytes, limit: int) -> list[int]:
    """Where the first lines with the word start."""
    found: list[int] = []
    at = text.find(word)
    while at >= 0 and len(found) < limit:
        found.append(text.rfind(b"\n", 0, at) + 1)
        stop = text.find(b"\n", at)
        at = text.find(word, stop) if stop >= 0 else -1
    return found


def _last_lines(text: bytes, word: bytes, limit: int) -> list[int]:
    found: list[int] = []
    at = text.rfind(word)
    while at >= 0 and len(found) < limit:
        found.append(text.rfind(b"\n", 0, at) + 1)
        at = text.rfind(word, 0, found[-1])
    return found
