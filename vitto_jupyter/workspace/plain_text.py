"""Text that programs print, as a reader sees it: terminal codes removed, lines cut. Pure."""

from __future__ import annotations

import re

_ANSI = re.compile(
    r"\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)|\[[0-?]*[ -/]*[@-~]|[PX^_][^\x1b]*\x1b\\|[@-Z\\-_])"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def plain(text: str) -> str:
    """`text` as a reader would see it: no terminal codes, progress bars in their last state."""
    text = _ANSI.sub("", text).replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n"))
    return _CONTROL.sub("", text)


def joined(value: object) -> str:
    """nbformat allows a text to be a list of lines."""
    if isinstance(value, list):
        return "".join(str(part) for part in value)
    return value if isinstance(value, str) else ""


def clip_line(text: str, limit: int) -> str:
    """`text` cut at the end."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def find_word(line: str, words: tuple[str, ...]) -> int:
    """The 1-based position of the first of `words` (in lower case) that is there, else 0."""
    low = line.lower()
    return next((at + 1 for word in words if (at := low.find(word)) >= 0), 0)
