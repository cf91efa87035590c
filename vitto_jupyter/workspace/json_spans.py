"""Where the values of a JSON text are, so that one can be replaced and the rest keeps its bytes.

Pure; used for notebooks. Offsets are half-open spans of `str` positions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
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


def members(text: str, position: int, *, arrays: Collection[str] = ()) -> Span:
    """The values of the object that starts at `position`: a dict of Spans by name.

    Of equal names the last counts. The value of a member named in `arrays` is, when it is an
    array, a list of Spans.
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
        found[name.value] = value = items(text, at) if is_split else value_at(text, at)
        at = _after_value(text, value.end, "}")
    return Span(start, at + 1, found)


def items(text: str, position: int) -> Span:
    """The values of the array that starts at `position`: a list of Spans."""
    found: list[Span] = []
    start = _skip(text, position)
    at = _skip(text, _expect(text, start, "["))
    while text[at : at + 1] != "]":
        found.append(value := value_at(text, at))
        at = _after_value(text, value.end, "]")
    return Span(start, at + 1, found)


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
