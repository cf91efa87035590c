"""What makes a command or a piece of code look like something else. Pure.

For the person who reads it on a card: the text itself is shown whole and unchanged.
"""

from __future__ import annotations

import re
import unicodedata

_MANY_BLANKS = re.compile(r"(?:[^\S\n]{80,}|\n(?:[^\S\n]*\n){19,})(?=\S)")
_WORD = re.compile(r"[^\W\d_]+")
_LOOKALIKES = frozenset({"CYRILLIC", "ARMENIAN", "CHEROKEE", "FULLWIDTH", "MATHEMATICAL"})
_GREEK = frozenset("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο")  # formulas mix other Greek letters with Latin ones


def warnings_of(text: str) -> tuple[str, ...]:
    """Sentences for the card; none for an ordinary text."""
    return tuple(sentence for sentence in (_gap(text), _lookalikes(text)) if sentence)


def _gap(text: str) -> str:
    gap = _MANY_BLANKS.search(text)
    if gap is None:
        return ""
    lines = gap[0].count("\n") - 1
    what = f"{lines:,} empty lines" if lines > 0 else f"{len(gap[0]):,} blanks"
    return f"It goes on after {what}."


def _lookalikes(text: str) -> str:
    """Letters of another script in the middle of a Latin word."""
    if text.isascii():
        return ""
    odd = {
        char
        for word in _WORD.findall(text)
        if not word.isascii() and any(_script(char) == "LATIN" for char in word)
        for char in word
        if _looks_latin(char)
    }
    named = ", ".join(f"“{char}” (U+{ord(char):04X})" for char in sorted(odd)[:5])
    return f"It holds letters that only look like Latin ones: {named}." if named else ""


def _looks_latin(char: str) -> bool:
    return char in _GREEK or _script(char) in _LOOKALIKES


def _script(char: str) -> str:
    return unicodedata.name(char, "").split(" ", 1)[0]
