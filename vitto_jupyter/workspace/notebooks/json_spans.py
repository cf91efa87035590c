"""Where the values of a JSON text are, so that one can be replaced and the rest keeps its bytes.

Pure; used for notebooks. Offsets are half-open spans of `str` positions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

_DECODER = json.JSONDecoder()
_WS = re.compile(r"[ \t\n\r]*")


@dataclass(frozen=True, slots=True)
class Span:
    """A value and where it is written."""

    start: int
    end: int
    value: Any


@dataclass(frozen=True, slots=True)
class Known:
    """Objects that an array may hold, by position: spans of `text`, None where that is open."""

    text: str
    spans: Sequence[Span | None]

    def at(self, text: str, position: int, *, index: int) -> Span | None:
        """The object at `position` of `text`, when the one at `index` is written just so."""
        span = self.spans[index] if index < len(self.spans) else None
        if span is None or not text.startswith(self.text[span.start : span.end], position):
            return None
        return Span(position, position + span.end - span.start, span.value)


@dataclass(frozen=True, slots=True)
class Gap:
    """What is written after "[", between two items (with its comma), and before "]"."""

    start: str
    between: str
    end: str


# An item of a new array: where the old array has it, None for a new one, and its JSON.
Entry = tuple[Span | None, str]


@dataclass(frozen=True, slots=True)
class Patch:
    """Put `text` in the place of [start, end)."""

    start: int
    end: int
    text: str


def value_at(text: str, position: int) -> Span:
    """The value that starts at or after `position`.

    Raises:
        json.JSONDecodeError: there is none.
    """
    start = _skip(text, position)
    value, end = _DECODER.raw_decode(text, start)
    return Span(start, end, value)


def members(
    text: str, position: int, *, arrays: Collection[str] = (), known: Known | None = None
) -> Span:
    """The values of the object that starts at `position`: a dict of Spans by name.

    Of equal names the last counts. The value of a member named in `arrays` is, when it is an
    array, a list of Spans; items that are `known` are not decoded again.
    """
    found: dict[str, Span] = {}
    start = _skip(text, position)
    at = _skip(text, _expect(text, start, "{"))
    while text[at : at + 1] != "}":
        name = value_at(text, at)
        if not isinstance(name.value, str):
            raise json.JSONDecodeError("Expecting a name in double quotes", text, name.start)
        at = _skip(text, _expect(text, name.end, ":"))
        is_split = name.value in arrays and text[at : at + 1] == "["
        found[name.value] = value = items(text, at, known=known) if is_split else value_at(text, at)
        at = _after_value(text, value.end, "}")
    return Span(start, at + 1, found)


def items(text: str, position: int, *, known: Known | None = None) -> Span:
    """The values of the array that starts at `position`: a list of Spans."""
    found: list[Span] = []
    start = _skip(text, position)
    at = _skip(text, _expect(text, start, "["))
    while text[at : at + 1] != "]":
        same = known.at(text, at, index=len(found)) if known else None
        found.append(value := same or value_at(text, at))
        at = _after_value(text, value.end, "]")
    return Span(start, at + 1, found)


def rebuilt(text: str, array: Span, entries: Sequence[Entry], *, gap: Gap) -> str:
    """An array with other items; what is written around those that stay is kept.

    Args:
        array: As `items` gives it.
        gap: What to write around items where the array itself does not show it.
    """
    old = array.value
    if not entries:
        return "[]"
    if old:
        gap = _gap_of(text, array, gap)
    # What is in front of an item belongs to it: an item that comes and goes leaves no trace.
    leads = {id(item): text[before.end : item.start] for before, item in pairwise(old)}
    pieces = ["[", gap.start, entries[0][1]]
    for origin, written in entries[1:]:
        pieces += (leads.get(id(origin), gap.between), written)
    return "".join([*pieces, gap.end, "]"])


def _gap_of(text: str, array: Span, gap: Gap) -> Gap:
    old = array.value
    start, end = text[array.start + 1 : old[0].start], text[old[-1].end : array.end - 1]
    if len(old) > 1:
        return Gap(start, text[old[0].end : old[1].start], end)
    if "\n" in start:
        return Gap(start, f",{start}", end)
    return Gap(start, ", " if "\n" in gap.between else gap.between, end)


def patched(text: str, patches: list[Patch]) -> str:
    """`text` with all patches made; their spans must not overlap."""
    pieces: list[str] = []
    at = 0
    for patch in sorted(patches, key=lambda patch: patch.start):
        pieces += (text[at : patch.start], patch.text)
        at = patch.end
    return "".join([*pieces, text[at:]])


def _skip(text: str, position: int) -> int:
    match = _WS.match(text, position)
    return match.end() if match else position


def _expect(text: str, position: int, char: str) -> int:
    """The position after `char`, which must come next."""
    at = _skip(text, position)
    if text[at : at + 1] != char:
        raise json.JSONDecodeError(f"Expecting {char!r}", text, at)
    return at + 1


def _after_value(text: str, position: int, closing: str) -> int:
    """The position of the next value, or of the closing bracket."""
    at = _skip(text, position)
    if text[at : at + 1] == closing:
        return at
    following = _skip(text, _expect(text, at, ","))
    if text[following : following + 1] == closing:
        raise json.JSONDecodeError("Expecting a value after ','", text, following)
    return following
