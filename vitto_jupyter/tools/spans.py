"""Exact replacements in a text, and the differences between two texts. Pure."""

from __future__ import annotations

import difflib
import unicodedata
from collections import Counter
from collections.abc import Sequence

from ..errors import EditConflict
from ..protocol.base import Wire
from ..workspace.plain_text import clip_line
from .clipping import clip
from .near_spans import near_replacement

_COMPARED_LINES = 3000
_DIFF_CHARS = 12_000
_INVISIBLE = frozenset("\u00a0\u00ad\u061c\u200b\u200c\u200d\u2060\ufeff")


class Span(Wire):
    """Replace `before`, which must occur exactly once, by `after`; see near_spans for "nearly"."""

    before: str
    after: str


class RepeatedSpan(Span):
    """As Span; with `all` every occurrence is replaced."""

    all: bool = False


def normalised(text: str) -> str:
    """`text` with "\\n" line ends, as all text in the workspace has."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def replace_spans(text: str, spans: Sequence[Span], *, where: str, quote: bool = True) -> str:
    """Apply the spans in order, each to the result of the one before.

    `quote`: whether the message of an error may repeat parts of the text.

    Raises:
        EditConflict: a span is not there, or is there more than once; names the span.
    """
    for number, span in enumerate(spans, start=1):
        name = f"edits[{number - 1}].before" if len(spans) > 1 else "before"
        text = _replace(text, span, name=name, where=where, quote=quote)
    return text


def _replace(text: str, span: Span, *, name: str, where: str, quote: bool) -> str:
    before, after = normalised(span.before), normalised(span.after)
    if not before:
        raise EditConflict(f"{name} is empty; give the exact text to replace.", code="no_match")
    count = text.count(before)
    repeated = getattr(span, "all", False)
    near = near_replacement(text, before, after) if not count and not repeated else None
    if near is not None:
        return near
    if count == 0:
        closest = _closest(text, before) if quote else ""
        raise EditConflict(
            f"{name} is not in {where}; nothing was written.{closest}",
            code="no_match",
        )
    if count > 1 and not repeated:
        lines = ", ".join(str(line) for line in _lines_of(text, before)[:10])
        raise EditConflict(
            f"{name} occurs {count} times in {where} (lines {lines}); nothing was written.",
            code="ambiguous_match",
            hint="Take more of the surrounding text into before, so that it is unique.",
        )
    return text.replace(before, after)


def _lines_of(text: str, part: str) -> list[int]:
    """The 1-based lines on which `part` starts."""
    lines, at = [], text.find(part)
    while at >= 0 and len(lines) < 10:
        lines.append(text.count("\n", 0, at) + 1)
        at = text.find(part, at + len(part))
    return lines


def _closest(text: str, before: str) -> str:
    """What is most like `before`, for the error message."""
    lines = text.split("\n")
    wanted = before.strip("\n").split("\n")
    at = _closest_line(lines, wanted)
    if at is None:
        return ""
    found = lines[at : at + len(wanted)]
    same = [line.split() for line in found] == [line.split() for line in wanted]
    why = " The closest text differs only in blanks" if same else " The closest text is"
    block = "\n".join(clip_line(line, 300) for line in found[:20])
    return f"{why}, line {at + 1}:\n{block}"


def _closest_line(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    """The line at which the text most like `wanted` starts."""
    key_at = next((index for index, line in enumerate(wanted) if line.strip()), 0)
    key = wanted[key_at].strip()
    squeezed = "".join(key.split())
    for index, line in enumerate(lines):
        if squeezed and "".join(line.split()) == squeezed:
            return max(index - key_at, 0)
    near = {line.strip(): index for index, line in reversed(list(enumerate(lines)))}
    names = [name for name in near if name and len(name) < 500][:_COMPARED_LINES]
    best = difflib.get_close_matches(key[:500], names, n=1, cutoff=0.5)
    return max(near[best[0]] - key_at, 0) if best else None


# -- differences ---------------------------------------------------------------------------------


def unified(before: str, after: str, *, name: str) -> str:
    """A unified diff, cut in the middle when long; "" when the texts are equal."""
    lines = difflib.unified_diff(
        before.split("\n"), after.split("\n"), f"a/{name}", f"b/{name}", lineterm=""
    )
    return clip("\n".join(lines), _DIFF_CHARS)


def line_counts(before: str, after: str) -> tuple[int, int]:
    """Lines added and removed."""
    # Common ends are cut off first: matching is quadratic, edits are mostly small.
    old, new = _lines(before), _lines(after)
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=True)
    same = sum(block.size for block in matcher.get_matching_blocks())
    return len(new) - same, len(old) - same


def _lines(text: str) -> list[str]:
    return text.split("\n") if text else []


def invisible_changes(before: str, after: str, *, newline: str = "\n") -> str:
    """What a diff of these texts does not show, in words; "" when there is nothing."""
    notes = []
    if "\r\n" in after:
        kept = "CRLF" if newline == "\r\n" else "LF"
        notes.append(f"The new text has CRLF line ends; the file keeps {kept}.")
    elif newline == "\r\n":
        notes.append("The file keeps its CRLF line ends.")
    after = normalised(after)
    if before and before.endswith("\n") != after.endswith("\n"):
        notes.append(f"The last line {'gains' if after.endswith(chr(10)) else 'loses'} its end.")
    hidden = Counter(filter(_is_hidden, after)) - Counter(filter(_is_hidden, before))
    if hidden:
        names = ", ".join(f"U+{ord(char):04X} × {count}" for char, count in hidden.items())
        notes.append(f"Adds characters that cannot be seen: {clip_line(names, 200)}.")
    blanks = [line.rstrip() for line in before.split("\n")]
    if before != after and blanks == [line.rstrip() for line in after.split("\n")]:
        notes.append("Only blanks at line ends change.")
    return " ".join(notes)


def _is_hidden(char: str) -> bool:
    if char in "\n\t":
        return False
    return char in _INVISIBLE or unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp")
