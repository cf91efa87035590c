"""The text of one stream output, of bounded size. Pure; imported by execution only."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_CONTROLS = re.compile("([\n\r\b])")
_PIECE_CHARS = 1_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a run is kept. A stream keeps its first and last characters."""

    stream_head_chars: int = 100_000
    stream_tail_chars: int = 100_000
    max_outputs: int = 1_000
    max_rich_chars: int = 64_000_000
    whole_stream_every_s: float = 1.0


class StreamText:
    """The text of one stream output as JupyterLab would show it, of bounded size.

    `rewritten` becomes True, for good, once the text is no longer "what was there plus more".

    Args:
        spill: Takes the whole text from its first character on, once it is longer than is kept;
            its end comes with `close`.
        hint: Says in the gap where the rest is.
    """

    __slots__ = (
        "_cursor", "_dropped", "_head", "_hint", "_limits", "_line", "_lines", "_spill",
        "rewritten",
    )  # fmt: skip

    def __init__(
        self, limits: Limits, *, spill: Callable[[str], None] | None = None, hint: str = ""
    ) -> None:
        self._limits = limits
        self._spill = spill
        self._hint = f"; {hint}" if hint else ""
        self._head = ""
        self._lines = ""
        self._line = ""
        self._cursor = 0  # in the last line: only there can text be overwritten
        self._dropped = 0
        self.rewritten = False

    def write(self, text: str) -> None:
        for start in range(0, len(text), _PIECE_CHARS):  # copying all of 100 MB takes seconds
            self._write(text[start : start + _PIECE_CHARS])

    def _write(self, text: str) -> None:
        controlled = "\r" in text or "\b" in text
        if controlled:
            text = text.replace("\r\n", "\n")
            controlled = "\r" in text or "\b" in text
            self.rewritten = self.rewritten or controlled
        if not controlled and self._cursor == len(self._line):
            self._append(text)
        else:
            self._overwrite(text)
        self._trim()

    @property
    def text(self) -> str:
        left_out = f"{self._dropped:,} characters left out{self._hint}"
        gap = f"\n[… {left_out} …]\n" if self._dropped else ""
        return self._head + gap + self._lines + self._line

    @property
    def cut(self) -> bool:
        return self._dropped > 0

    def close(self) -> None:
        """Nothing more comes: spill the end, too."""
        if self._dropped and self._spill is not None:
            self._spill(self._lines + self._line)

    def _append(self, text: str) -> None:
        lines, newline, last = text.rpartition("\n")
        if newline:
            self._lines += self._line + lines + newline
            self._line = last
        else:
            self._line += text
        self._cursor = len(self._line)

    def _overwrite(self, text: str) -> None:
        finished = [self._lines]
        line, at = self._line, self._cursor
        for piece in _CONTROLS.split(text):
            if piece == "\n":
                finished.append(line + "\n")
                line, at = "", 0
            elif piece == "\r":
                at = 0
            elif piece == "\b":
                if at > 0:
                    line = line[: at - 1] + line[at + 1 :]
                    at -= 1
            else:
                line = line[:at] + piece + line[at + len(piece) :]
                at += len(piece)
        self._lines = "".join(finished)
        self._line, self._cursor = line, at

    def _trim(self) -> None:
        head, tail = self._limits.stream_head_chars, self._limits.stream_tail_chars
        size = len(self._lines) + len(self._line)
        if not self._dropped:
            if size <= head + 2 * tail:
                return
            whole = self._lines + self._line
            self._head, rest = whole[:head], whole[head:]
            if self._spill is not None:
                self._spill(self._head)
        elif size <= 2 * tail:  # cut rarely: cutting copies the whole text
            return
        else:
            rest = self._lines + self._line
        cut = len(rest) - tail
        if self._spill is not None:
            self._spill(rest[:cut])
        self._dropped += cut
        self.rewritten = True
        from_end = len(self._line) - self._cursor
        lines, newline, self._line = rest[cut:].rpartition("\n")
        self._lines = lines + newline
        self._cursor = max(0, len(self._line) - from_end)
