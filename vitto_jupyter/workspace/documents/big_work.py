"""The requests to the process for big files, and what it does for them.

Requests and answers are in the table of frame_values.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ...errors import NotText
from ..base import Cell, Notebook, Output, OutputPart, Revision
from ..notebooks import notebook_json
from ..notebooks.failures import silent_failures
from ..notebooks.notebook_json import NotebookFile
from ..notebooks.notebook_work import Change, Given, Part, changed, check_bases, part_of, viewed
from ..paths import shown

_ANSWER_ITEMS = 100  # what is decoded at once: about half a millisecond, or one
_ANSWER_CHARS = 100_000  # as many as one field of an output may have
PIECE_BYTES = 1_000_000
_SETTLED_NS = 2_000_000_000  # a file changed just now may change again within one tick of its clock
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Stamp:
    """Tells states of a file apart."""

    device: int
    inode: int
    size: int
    modified_ns: int


def stamp_of(found: os.stat_result) -> Stamp:
    return Stamp(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


@dataclass(frozen=True, slots=True)
class Place:
    """A file: where it is, its links resolved, and what people call it."""

    os_path: str
    path: str


@dataclass(slots=True)
class Kept:
    """The notebook read last: pages of its outputs are asked for one after the other."""

    _key: tuple[str, Stamp] | None = None
    _file: NotebookFile | None = None

    def parsed(self, place: Place) -> NotebookFile:
        key = (place.os_path, stamp_of(os.stat(place.os_path, follow_symlinks=False)))
        if self._file is not None and self._key == key:
            return self._file
        self.forget()
        content, stamp = content_of(place)
        file = notebook_json.parse(content, name=shown(place.path))
        if time.time_ns() - stamp.modified_ns > _SETTLED_NS:
            self._key, self._file = (place.os_path, stamp), file
        return file

    def forget(self) -> None:
        self._key = self._file = None


@dataclass(frozen=True, slots=True)
class MoreOutputs:
    """The next outputs of the last cell answered before."""

    outputs: tuple[Output, ...]


@dataclass(frozen=True, slots=True)
class ReadNotebook:
    """Answers: the notebook without cells, then tuples of cells and MoreOutputs."""

    place: Place
    given: Given

    def answers(self, kept: Kept) -> Iterator[Notebook | tuple[Cell, ...] | MoreOutputs]:
        notebook = viewed(kept.parsed(self.place), path=self.place.path, given=self.given)
        yield replace(notebook, cells=())
        # looked for here: for the server much text costs other work of its time
        looked_at = [
            replace(cell, failures=tuple(silent_failures(cell.outputs))) if cell.outputs else cell
            for cell in notebook.cells
        ]
        for cells in _in_pieces(looked_at, _chars_of):
            if len(cells) > 1 or _chars_of(cells[0]) <= _ANSWER_CHARS:
                yield cells
                continue
            yield (replace(cells[0], outputs=()),)
            yield from map(MoreOutputs, _in_pieces(cells[0].outputs, _chars_of_output))


@dataclass(frozen=True, slots=True)
class ReadPart:
    """Answers: the part."""

    place: Place
    part: Part
    given: Given

    def answers(self, kept: Kept) -> Iterator[OutputPart]:
        yield part_of(kept.parsed(self.place), self.part, path=self.place.path, given=self.given)


@dataclass(frozen=True, slots=True)
class CheckBases:
    """Answers nothing; raises when a cell that is about to run is another one."""

    place: Place
    bases: Mapping[str, Revision]
    given: Given

    def answers(self, kept: Kept) -> Iterator[Any]:
        file = kept.parsed(self.place)
        check_bases(file, self.bases, path=self.place.path, given=self.given)
        return iter(())


@dataclass(frozen=True, slots=True)
class Edited:
    """Digests of all bytes before and after, and the given ids that go with the new ones."""

    before: str
    after: str
    given: Given


@dataclass(frozen=True, slots=True)
class EditNotebook:
    """Answers: an Edited, then the new bytes in pieces of whole UTF-8. Nothing is written here."""

    place: Place
    change: Change
    given: Given

    def answers(self, kept: Kept) -> Iterator[Edited | bytes]:
        kept.forget()  # never by an earlier reading
        before, _ = content_of(self.place)
        edited = changed(before, self.change, path=self.place.path, given=self.given)
        digests = digest_of([before]), digest_of([edited.content])
        yield Edited(*digests, edited.given)
        yield from utf8_pieces(edited.content)


def content_of(place: Place) -> tuple[bytes, Stamp]:
    """The bytes of an ordinary file and the stamp that goes with them.

    The path was checked by the server; what could be put in its place meanwhile, such as a
    link or a pipe, is not opened.
    """
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0)
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC"):
        flags |= getattr(os, name, 0)
    with os.fdopen(os.open(place.os_path, flags), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise NotText(f"{shown(place.path)} is not an ordinary file.")
        content = file.read()
        # Written to meanwhile: the stamp of before fits nothing, so nobody takes it for this.
        return content, stamp_of(found)


def digest_of(pieces: Iterable[bytes]) -> str:
    whole = hashlib.sha256()
    for piece in pieces:
        whole.update(piece)
    return whole.hexdigest()


def utf8_pieces(content: bytes, limit_bytes: int = PIECE_BYTES) -> Iterator[bytes]:
    """The content in pieces that end between characters."""
    at = 0
    while at < len(content):
        end = min(at + limit_bytes, len(content))
        while end < len(content) and content[end] & 0xC0 == 0x80:
            end -= 1
        yield content[at:end]
        at = end


def _in_pieces(
    items: Iterable[_Item], chars_of: Callable[[_Item], int]
) -> Iterator[tuple[_Item, ...]]:
    """The items in pieces within both limits, but for single items that are longer."""
    some: list[_Item] = []
    chars = 0
    for item in items:
        more = chars_of(item)
        if some and (len(some) == _ANSWER_ITEMS or chars + more > _ANSWER_CHARS):
            yield tuple(some)
            some, chars = [], 0
        some.append(item)
        chars += more
    if some:
        yield tuple(some)


def _chars_of(cell: Cell) -> int:
    """About how much of it is sent."""
    return len(cell.source) + sum(map(_chars_of_output, cell.outputs))


def _chars_of_output(output: Output) -> int:
    data = output.get("data")
    traceback = output.get("traceback")
    values = [
        *output.values(),
        *(data.values() if isinstance(data, dict) else ()),
        *(traceback if isinstance(traceback, list) else ()),
    ]
    return sum(len(value) for value in values if isinstance(value, str))
