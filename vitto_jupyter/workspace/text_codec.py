"""Bytes of a text file <-> text with "\\n" line ends. Pure; used by the contents-API documents.

What an edit did not touch keeps its bytes: the encoding, a byte order mark and the ending of
each single line come from the file as it is now.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from ..errors import NotText, WriteFailed

Newline = Literal["\n", "\r\n"]

_LINE_END = re.compile(r"(\r\n|\r|\n)")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8", "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "utf-16-be"),
)
# Control characters that text in an 8-bit encoding does hold: tab, line ends, form feed, escape.
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\x1b")
# Above this share of bytes >= 0x80 an unmarked 8-bit file is more likely GBK or Shift-JIS, which
# Windows-1252 would show as rubbish.
_MAX_HIGH_SHARE = 0.3
_ASCII = bytes(range(0x80))
_NAMES = {"cp1252": "Windows-1252"}


@dataclass(frozen=True, slots=True)
class FileText:
    """A decoded file. `raw` has its own line ends; `bom` is what goes in front of the bytes."""

    raw: str
    encoding: str = "utf-8"
    bom: bytes = b""
    codec: str = "utf-8"

    @property
    def text(self) -> str:
        return normalised(self.raw)

    @property
    def newline(self) -> Newline:
        return majority_newline(self.raw)


def normalised(text: str) -> str:
    """`text` with "\\n" for every line end."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def majority_newline(raw: str) -> Newline:
    crlf = raw.count("\r\n")
    return "\r\n" if crlf > raw.count("\n") - crlf else "\n"


def decode(content: bytes, *, name: str) -> FileText:
    """The text of a file.

    Encodings: UTF-8 and UTF-16 with a byte order mark, UTF-8, else Windows-1252 where the file
    is clearly text. `name` is for messages.

    Raises:
        NotText: binary, or in an encoding that cannot be told.
    """
    for bom, codec, encoding in _BOMS:
        if content.startswith(bom):
            raw = _decoded(content[len(bom) :], codec)
            if raw is None:
                raise NotText(f"{name} begins as {codec.upper()} text, but is damaged or binary.")
            if "\0" in raw:
                raise _binary(name)
            return FileText(raw, encoding, bom, codec)
    if b"\0" in content:
        raise _binary(name)
    raw = _decoded(content, "utf-8")
    if raw is not None:
        return FileText(raw)
    return FileText(_eight_bit(content, name), "cp1252", codec="cp1252")


def encode(file: FileText, text: str) -> bytes:
    """The bytes that make `file` hold `text`; untouched lines keep their bytes.

    Raises:
        WriteFailed: the file's encoding has no such character.
    """
    wanted = normalised(text).removeprefix("\ufeff")
    raw = keep_line_ends(file.raw, wanted)
    try:
        return file.bom + raw.encode(file.codec)
    except UnicodeEncodeError as err:
        encoding = _NAMES.get(file.codec, file.encoding)
        char = err.object[err.start]
        raise WriteFailed(
            f"The file is {encoding} and cannot hold {char!a}; nothing was written.",
            hint="Leave such characters out, or ask the user to convert the file to UTF-8.",
        ) from err


def keep_line_ends(raw: str, text: str) -> str:
    """`text` with the line ends of `raw`: kept for kept lines, the usual one for new ones."""
    if "\r" not in raw:
        return text
    parts = _LINE_END.split(raw)
    lines, ends = parts[0::2], parts[1::2]
    counts = Counter(ends)
    newline = max(("\n", "\r\n", "\r"), key=lambda end: counts[end])
    if len(counts) == 1:
        return text.replace("\n", newline)
    new_lines = text.split("\n")
    kept = list(_kept_ends(lines, new_lines, [*ends, newline]))[: len(new_lines) - 1]
    new_ends = [end or newline for end in kept]
    for at in range(1, len(new_ends)):
        # "\r", nothing and "\n" would be one line end.
        if new_ends[at - 1] == "\r" and not new_lines[at] and new_ends[at] == "\n":
            changed, end = (at - 1, "\r\n") if kept[at] else (at, "\r")
            new_ends[changed] = end
    return "".join(line + end for line, end in zip(new_lines, [*new_ends, ""], strict=True))


def _kept_ends(old: list[str], new: list[str], ends: list[str]) -> Iterator[str]:
    """For every new line the ending of the old line it came from, "" for an added one."""
    before = common_prefix(old, new)
    rest = min(len(old), len(new)) - before
    after = common_prefix(old[::-1][:rest], new[::-1][:rest])
    yield from ends[:before]
    middle = old[before : len(old) - after], new[before : len(new) - after]
    matcher = SequenceMatcher(None, *middle, autojunk=False)
    for _, start, stop, new_start, new_stop in matcher.get_opcodes():
        kept = ends[before + start : before + stop][: new_stop - new_start]
        yield from kept
        yield from [""] * (new_stop - new_start - len(kept))
    yield from ends[len(old) - after :]


def common_prefix(first: Sequence[str], second: Sequence[str]) -> int:
    """How many lines at the front are equal."""
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return count


def _decoded(content: bytes, codec: str) -> str | None:
    try:
        return content.decode(codec)
    except UnicodeDecodeError:
        return None


def _eight_bit(content: bytes, name: str) -> str:
    if any(byte < 0x20 and byte not in _TEXT_CONTROLS for byte in set(content)):
        raise _binary(name)
    text = _decoded(content, "cp1252")
    high = len(content.translate(None, delete=_ASCII))
    if text is None or high > _MAX_HIGH_SHARE * len(content):
        raise NotText(
            f"{name} is text in an encoding that cannot be told; it is neither UTF-8 nor Latin.",
            hint="Ask the user to convert it to UTF-8.",
        )
    return text


def _binary(name: str) -> NotText:
    return NotText(f"{name} is a binary file, not text.")
