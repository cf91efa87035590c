"""Which notebooks may hold a match, told from their stored JSON. Pure. It never misses one.

A text can be stored in many ways: characters as escapes, a line in several pieces. What is
looked for is therefore a piece of the pattern that every match contains and that JSON writers
leave as it is, or a sign that this notebook is one of those that do not.
"""

from __future__ import annotations

import re

_MIN_CHARS = 2
# Printable ASCII that JSON does not have to escape.
_PLAIN = re.compile(r"[ !#-.0-\[\]-~]+")
_SIGNS = (
    r"\\u00[2-7]",  # a character that needed no escape has one
    r"\\u(?i:212a|017f)",  # the two beyond ASCII that ignoring letter case makes equal to k and s
    r"(?-u:[\x00\xFE\xFF])",  # UTF-16 or UTF-32
    # A list of strings in which one does not end with a line end: a line may go on in the next.
    r'^\s*"(?:(?:[^"\\]|\\.)*(?:[^"\\]|\\[^n]))?",\s*$',
    r'"(?:(?:[^"\\]|\\.)*(?:[^"\\]|\\[^n]))?",\s*"(?:[^"\\]|\\.)*"\s*(?:[,\]]|$)',
    r"^\s*,",
)
_OUTPUT_SIGNS = (r"\\u(?i:001b)",)  # colours within a word
_FLAGS = re.compile(r"\(\?i\)")
_SAFE_ESCAPES = frozenset("bBdDsSwWAz")


def stored_patterns(pattern: str, *, regex: bool, outputs: bool) -> tuple[str, ...]:
    """Patterns of which each notebook with a match contains one; () when it can be any notebook."""
    ignores_case = regex and _FLAGS.match(pattern) is not None
    needed = _needed(_FLAGS.sub("", pattern, count=1) if ignores_case else pattern, regex=regex)
    if len(needed) < _MIN_CHARS:
        return ()
    signs = (*_SIGNS, *_OUTPUT_SIGNS) if outputs else _SIGNS
    return (f"(?i:{escaped(needed)})" if ignores_case else escaped(needed), *signs)


def escaped(text: str) -> str:
    """A regular expression of the search engine for `text` as it is."""
    return re.sub(r"[\\.+*?()|\[\]{}^$#&~-]", r"\\\g<0>", text)


def _needed(pattern: str, *, regex: bool) -> str:
    """The longest plain text that each match contains; "" when none is sure."""
    pieces = _literal_pieces(pattern) if regex else [pattern]
    runs = [run for piece in pieces for run in _PLAIN.findall(piece)]
    return max(runs, key=len, default="")


def _literal_pieces(pattern: str) -> list[str]:
    """The literal texts that every match has, as far as that is plain to see."""
    if "|" in pattern or "(?" in pattern:
        return []
    pieces, piece, at = [], "", 0
    while at < len(pattern) and pattern[at] != "(":
        char = pattern[at]
        if char in "?*{":
            piece = piece[:-1]
        if char in "?*{}+^$.[]\\":
            pieces.append(piece)
            piece = ""
            at = _past(pattern, at)
        else:
            piece += char
            at += 1
    return [*pieces, piece]


def _past(pattern: str, at: int) -> int:
    """Where the construct at `at` ends; the end of all where that takes more than a look."""
    if pattern[at] == "{":
        end = pattern.find("}", at)
        return len(pattern) if end < 0 else end + 1
    if pattern[at] == "[":
        return len(pattern)
    if pattern[at] == "\\":
        escape = pattern[at + 1 : at + 2]
        return len(pattern) if escape.isalnum() and escape not in _SAFE_ESCAPES else at + 2
    return at + 1
