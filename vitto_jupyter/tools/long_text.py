"""Paging through and searching in a text that is too long to show. Bounded memory.

The text comes in parts and is looked through in a thread, a slice at a time. Lines are those
that a reader sees (no terminal codes); a very long one counts as several.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from ..errors import ToolError
from ..workspace.plain_text import clip_line, plain
from .clipping import WRAP_CHARS
from .matching import LiteralMatcher, Matcher, matcher_for

PAGE_CHARS = 20_000
SEARCH_S = 20.0
_SLICE_CHARS = 200_000
_LONGEST_CARRY = 1_000_000
_SHOWN_LINE_CHARS = 500


@dataclass(frozen=True, slots=True)
class LongText:
    """A text by parts. `name` says what it is; `total` is its length as it is stored."""

    name: str
    total: int
    parts: Callable[[], AsyncIterator[str]]


async def page_of(text: LongText, *, start_line: int, lines: int) -> str:
    """`lines` lines from number `start_line` (1-based), as many as fit in PAGE_CHARS."""
    found: list[str] = []
    size, number, more = 0, 0, False
    async for block in _blocks(text):
        wanted = block[max(start_line - number - 1, 0) :]
        number += len(block)
        for line in wanted:
            size += len(line) + 1
            more = len(found) == lines or bool(found and size > PAGE_CHARS)
            if more:
                break
            found.append(line)
        if more:
            break
    return _page_text(text, found, start_line=start_line, more=more, last=number)


def _page_text(text: LongText, found: list[str], *, start_line: int, more: bool, last: int) -> str:
    if not found:
        return f"{text.name}: it has {last:,} lines, so none from {start_line:,}."
    end = start_line + len(found) - 1
    head = f"{text.name}: lines {start_line:,}–{end:,}, {text.total:,} characters in all"
    tail = f"[more: start_line={end + 1}]" if more else "[end]"
    return "\n".join([head, *found, tail])


async def matches_in(text: LongText, pattern: str, *, start_line: int, lines: int) -> str:
    """The lines from `start_line` that match, with their numbers; at most `lines` of them.

    The pattern is a regular expression; what is none is looked for as it is.
    """
    matcher = _matcher(pattern)
    found: list[str] = []
    number, size, end = 0, 0, "[end]"
    ends_at = time.monotonic() + SEARCH_S
    try:
        async for block in _blocks(text):
            skipped = max(start_line - number - 1, 0)
            looked = block[skipped:]
            first = number + skipped + 1
            number += len(block)
            answer = await matcher.lines(["\n".join(looked)], timeout_s=ends_at - time.monotonic())
            if looked and not answer:
                end = f"[the search took too long; it got to line {first:,}]"
                break
            for at in answer[0] if looked else ():
                line = f"{first + at}: {clip_line(looked[at], _SHOWN_LINE_CHARS)}"
                size += len(line) + 1
                if len(found) == lines or size > PAGE_CHARS:
                    end = f"[more: start_line={first + at}]"
                    break
                found.append(line)
            if end != "[end]":
                break
    finally:
        await asyncio.to_thread(matcher.close)
    head = f"{text.name}: {len(found):,} matching lines"
    return "\n".join([head, *found, end])


def _matcher(pattern: str) -> Matcher:
    try:
        return matcher_for(pattern, regex=True)
    except ToolError as err:
        if "not a regular expression" not in err.message:
            raise
        return LiteralMatcher(pattern)


async def _blocks(text: LongText) -> AsyncIterator[list[str]]:
    """The lines, some at a time."""
    carry = ""
    async for part in text.parts():
        for at in range(0, len(part), _SLICE_CHARS):
            carry += part[at : at + _SLICE_CHARS]
            complete, newline, rest = carry.rpartition("\n")
            if not newline and len(carry) > _LONGEST_CARRY:
                complete, newline, rest = carry, "\n", ""
            if newline:
                carry = rest
                yield await asyncio.to_thread(_readable_lines, complete)
    if carry:
        yield await asyncio.to_thread(_readable_lines, carry)


def _readable_lines(text: str) -> list[str]:
    return [
        line[at : at + WRAP_CHARS]
        for line in plain(text).split("\n")
        for at in range(0, max(len(line), 1), WRAP_CHARS)
    ]
