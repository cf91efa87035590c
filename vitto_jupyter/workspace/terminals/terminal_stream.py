"""What a terminal prints: markers out of the stream, and the rest as clean text. Pure.

Imported by the terminal adapters only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE_LIMIT_CHARS = 65_536
_ESCAPE_LIMIT_CHARS = 4_096

_ESCAPE = re.compile(
    "\x1b(?:"
    "\\][^\x07\x1b]*(?:\x07|\x1b\\\\)"  # OSC: titles, links, markers
    "|\\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    "|[PX^_][^\x1b]*\x1b\\\\"  # DCS and other strings
    "|[ -/]+[0-~]"  # character sets
    "|[0-OQ-WYZ\\\\`-~])"
)
_ERASE_END, _ERASE_LINE = "\x1c", "\x1d"  # stand-ins for CSI K and CSI 2 K while cleaning
_ERASE = re.compile("\x1b\\[([012]?)K")
_NO_STAND_INS = str.maketrans("", "", _ERASE_END + _ERASE_LINE)
_DROPPED = dict.fromkeys(code for code in (*range(32), 127) if chr(code) not in "\n\r\b\t\x1c\x1d")
_MOVES = re.compile("[\r\b\x1c\x1d]")
_CUTS = re.compile("([\r\b\x1c\x1d])")


@dataclass(frozen=True, slots=True)
class Mark:
    """A marker of our shell: `kind` is its letter, `value` what follows the key, may be ""."""

    kind: str
    value: str


class MarkParser:
    """Splits what a terminal prints into text and the markers that carry `key`.

    The key is secret and new for each shell, so what a program prints cannot pass for a marker.
    """

    def __init__(self, key: str) -> None:
        self._mark = re.compile(f"\x1b\\]633;([A-Z]);{re.escape(key)}(?:;([0-9]*))?\x07")
        self._start = f"\x1b]633;D;{key};255\x07"
        self._kept = ""

    def feed(self, text: str) -> list[str | Mark]:
        """The parts so far, in order. The possible start of a marker is kept for the next call."""
        rest = self._kept + text
        parts: list[str | Mark] = []
        at = 0
        for found in self._mark.finditer(rest):
            parts.append(rest[at : found.start()])
            parts.append(Mark(found[1], found[2] or ""))
            at = found.end()
        rest = rest[at:]
        start = rest.rfind("\x1b", max(0, len(rest) - len(self._start)))
        cut = start if start >= 0 and self._may_start(rest[start:]) else len(rest)
        parts.append(rest[:cut])
        self._kept = rest[cut:]
        return [part for part in parts if part != ""]

    def _may_start(self, text: str) -> bool:
        common = min(len(text), 6)  # up to the letter: the rest is for the next call to tell
        return text[:common] == self._start[:common] and "\x07" not in text


class CleanText:
    """Terminal output as plain text: no escape sequences, "\\n" line ends, lines as overwritten.

    `feed` returns what is final; `partial` is the last line, which may still change.
    """

    def __init__(self) -> None:
        self._kept = ""
        self._line = ""

    @property
    def partial(self) -> str:
        return _shown_line(self._line)

    def feed(self, text: str) -> str:
        *finished, self._line = (self._line + self._plain(text)).split("\n")
        lines = "".join(_shown_line(line) + "\n" for line in finished)
        if len(self._line) > _LINE_LIMIT_CHARS:
            lines += self.partial
            self._line = ""
        return lines

    def end(self) -> str:
        """What was not final yet."""
        last, self._line, self._kept = self.partial, "", ""
        return last

    def _plain(self, text: str) -> str:
        text = self._kept + text
        cut = _incomplete_from(text)
        text, self._kept = text[:cut], text[cut:]
        text = _ERASE.sub(_stand_in, text.translate(_NO_STAND_INS))
        text = _ESCAPE.sub("", text).translate(_DROPPED)
        return re.sub("\r+\n", "\n", text)


class HeadTail:
    """The first and the last characters of a text, and how long it was."""

    def __init__(self, *, head_chars: int = 20_000, tail_chars: int = 20_000) -> None:
        self._head_chars, self._tail_chars = head_chars, tail_chars
        self._head = self._tail = ""
        self.total_chars = 0

    def add(self, text: str) -> None:
        self.total_chars += len(text)
        room = self._head_chars - len(self._head)
        self._head += text[: max(0, room)]
        self._tail = (self._tail + text[max(0, room) :])[-self._tail_chars :]

    @property
    def text(self) -> str:
        gap = self.total_chars - len(self._head) - len(self._tail)
        between = f"\n[… {gap:,} characters left out …]\n" if gap > 0 else ""
        return self._head + between + self._tail


class LiveText:
    """What a watcher is told while a command runs: whole lines, and the growing last one."""

    def __init__(self, *, limit_chars: int = 100_000) -> None:
        self._left = limit_chars
        self._waiting = ""
        self._told = ""  # of the last line

    def add(self, lines: str) -> None:
        if not lines or self._left <= 0:
            return
        first, newline, rest = lines.partition("\n")
        if first.startswith(self._told):
            first = first[len(self._told) :]
        else:  # the line was overwritten after a part of it had been told
            first = "\n" + first
        self._told = ""
        self._wait(first + newline + rest)

    def take(self, partial: str) -> str:
        """What is new. `partial` is the last line as it is now."""
        if self._left > 0 and partial.startswith(self._told):
            self._wait(partial[len(self._told) :])
            self._told = partial
        taken, self._waiting = self._waiting, ""
        return taken

    def _wait(self, text: str) -> None:
        self._waiting += text[: max(0, self._left)]
        self._left -= len(text)
        if self._left <= 0:
            self._waiting += "\n[… more output: see the terminal …]\n"


class CommandOutput:
    """All three views of what one command prints."""

    def __init__(self) -> None:
        self._clean = CleanText()
        self._kept = HeadTail()
        self._live = LiveText()

    def feed(self, raw: str) -> None:
        lines = self._clean.feed(raw)
        self._kept.add(lines)
        self._live.add(lines)

    def end(self) -> None:
        last = self._clean.end()
        self._kept.add(last)
        self._live.add(last)

    def take_live(self) -> str:
        return self._live.take(self._clean.partial)

    @property
    def text(self) -> str:
        return self._kept.text

    @property
    def total_chars(self) -> int:
        return self._kept.total_chars


def _incomplete_from(text: str) -> int:
    """Where an escape sequence or line end starts that the next chunk may complete."""
    start = text.rfind("\x1b", max(0, len(text) - _ESCAPE_LIMIT_CHARS))
    if start >= 0:
        # An OSC or DCS may end in ESC \: then the last ESC is its end, not its start.
        before = text.rfind("\x1b", max(0, start - _ESCAPE_LIMIT_CHARS), start)
        opens_string = before >= 0 and text[before + 1 : before + 2] in tuple("]PX^_")
        if opens_string and _ESCAPE.match(text, before) is None:
            return before
        if _ESCAPE.match(text, start) is None and text[start + 1 :].isprintable():
            return start
    return len(text) - 1 if text.endswith("\r") else len(text)


def _stand_in(found: re.Match[str]) -> str:
    return {"": _ERASE_END, "0": _ERASE_END, "2": _ERASE_LINE}.get(found[1], "")


def _shown_line(line: str) -> str:
    """One line as it looks after returns, backspaces and erasing."""
    if not _MOVES.search(line):
        return line
    shown, at = "", 0
    for piece in _CUTS.split(line):
        if piece == "\r":
            at = 0
        elif piece == "\b":
            at = max(0, at - 1)
        elif piece == _ERASE_END:
            shown = shown[:at]
        elif piece == _ERASE_LINE:
            shown = " " * at
        else:
            shown = shown[:at].ljust(at) + piece + shown[at + len(piece) :]
            at += len(piece)
    return shown.rstrip() if "\r" in line else shown
