"""Making text fit: terminal codes removed, long text cut in the middle, failures kept. Pure."""

from __future__ import annotations

import re

_ANSI = re.compile(
    r"\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)|\[[0-?]*[ -/]*[@-~]|[PX^_][^\x1b]*\x1b\\|[@-Z\\-_])"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_FAILURE = re.compile(
    r"^\s*(?:\w*(?:Error|Exception)\b.{0,2}:|ERROR\b|FATAL\b|fatal:|Traceback\b|Killed\b|FAILED\b)"
    r"|command not found|No such file or directory|Segmentation fault",
)
_KEPT_LINES = 8
_LINE_CHARS = 400


def plain(text: str) -> str:
    """`text` as a reader would see it: no terminal codes, progress bars in their last state."""
    text = _ANSI.sub("", text).replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n"))
    return _CONTROL.sub("", text)


def clip(text: str, limit: int) -> str:
    """`text` in at most about `limit` characters: head, tail, and failure lines from between."""
    if len(text) <= limit:
        return text
    head, tail = text[: limit // 3], text[-(limit - limit // 3) :]
    middle = text[len(head) : len(text) - len(tail)]
    kept = failure_lines(middle)
    parts = [head, f"\n[… {len(middle):,} characters left out …]\n"]
    if kept:
        parts.append("\n".join([*kept, "[…]", ""]))
    return "".join([*parts, tail])


def clip_line(text: str, limit: int) -> str:
    """`text` cut at the end."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def failure_lines(text: str) -> list[str]:
    """Lines that tell of a failure, whether or not anything was raised; the first few."""
    found = (line for line in text.split("\n") if len(line) < 4000 and _FAILURE.search(line))
    kept: list[str] = []
    for line in found:
        kept.append(clip_line(line.strip(), _LINE_CHARS))
        if len(kept) == _KEPT_LINES:
            break
    return kept


def count_of(number: int, noun: str) -> str:
    """ "1 cell", "2 cells", "1,200 matches"."""
    plural = f"{noun}es" if noun.endswith(("ch", "s")) else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"
