"""The whole text of outputs that are too long for a notebook, in files. Imported by runs only.

A file per output, written in a thread of its own and in order. Bounded: of each output the first
part, of all outputs the newest ones; what is over goes.
"""

from __future__ import annotations

import asyncio
import logging
import re
from bisect import bisect_right
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from ..base import OutputPart

_LIMIT_WAITING_CHARS = 64_000_000  # taken and not yet written: the disk is too slow
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
_log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(slots=True)
class _Kept:
    """The file of one output: `pieces` are (first character, first byte) of what was written."""

    file: Path
    pieces: list[tuple[int, int]] = field(default_factory=list)
    chars: int = 0
    size: int = 0
    full: bool = False


class OutputSpool:
    """Texts by run, cell and output, below `folder`, which other servers may use too."""

    def __init__(
        self, folder: Path, *, output_bytes: int = 64 * 2**20, total_bytes: int = 512 * 2**20
    ) -> None:
        self._folder = folder
        self._output_bytes = output_bytes
        self._total_bytes = total_bytes
        self._kept: dict[tuple[str, str, int], _Kept] = {}
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="vitto-outputs")
        self._waiting_chars = 0
        self._made = 0
        self._closed = False

    def of_cell(self, run_id: str, cell_id: str) -> CellOverflow:
        return CellOverflow(self, run_id, cell_id)

    async def read(
        self, run_id: str, cell_id: str, index: int, *, start: int, count: int
    ) -> OutputPart | None:
        """Characters [start, start + count) of what was taken; None when nothing is kept."""
        key = (run_id, cell_id, index)
        return await self._do(lambda: self._read(key, start, count))

    async def close(self) -> None:
        """Write what was taken; what comes later is dropped."""
        if not self._closed:
            self._closed = True
            await self._do(lambda: None)
            self._worker.shutdown(wait=False)

    def take(self, key: tuple[str, str, int], text: str) -> None:
        if self._closed:
            return
        if self._waiting_chars > _LIMIT_WAITING_CHARS:
            self._worker.submit(self._close, key)
            return
        self._waiting_chars += len(text)
        loop = asyncio.get_running_loop()
        written = loop.run_in_executor(self._worker, self._write, key, text)
        written.add_done_callback(lambda _: self._written(len(text)))

    def drop(self, run_id: str, cell_id: str) -> None:
        if not self._closed:
            self._worker.submit(self._drop, run_id, cell_id)

    def _written(self, chars: int) -> None:
        self._waiting_chars -= chars

    async def _do(self, act: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._worker, act)

    # -- in the thread ---------------------------------------------------------------------------

    def _write(self, key: tuple[str, str, int], text: str) -> None:
        kept = self._kept.get(key)
        if kept is None:
            self._made += 1
            name = _UNSAFE.sub("_", f"{key[0]}-{key[1]}-{key[2] + 1}-{self._made}")[:150]
            kept = self._kept[key] = _Kept(self._folder / f"{name}.txt")
        left = self._output_bytes - kept.size
        data = text.encode("utf-8", "surrogatepass")
        if kept.full or left <= 0:
            kept.full = True
            return
        if len(data) > left:
            kept.full = True
            data = data[:left].decode("utf-8", "ignore").encode("utf-8")
            text = data.decode("utf-8")
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with kept.file.open("ab") as file:
                file.write(data)
        except OSError as err:
            _log.warning("an output could not be kept: %s", err)
            kept.full = True
            return
        kept.pieces.append((kept.chars, kept.size))
        kept.chars += len(text)
        kept.size += len(data)
        self._make_room(kept.file)

    def _close(self, key: tuple[str, str, int]) -> None:
        if key in self._kept:
            self._kept[key].full = True

    def _make_room(self, newest: Path) -> None:
        files = []
        for file in self._folder.glob("*.txt"):
            try:
                stat = file.stat()
            except OSError:  # another server was faster
                continue
            files.append((stat.st_mtime, stat.st_size, file))
        total = sum(size for _, size, _ in files)
        for _, size, file in sorted(files):
            if total <= self._total_bytes:
                return
            if file != newest:
                file.unlink(missing_ok=True)
                total -= size

    def _read(self, key: tuple[str, str, int], start: int, count: int) -> OutputPart | None:
        kept = self._kept.get(key)
        if kept is None or not kept.pieces:
            return None
        start = max(0, min(start, kept.chars))
        at = bisect_right(kept.pieces, (start, kept.size)) - 1
        end = bisect_right(kept.pieces, (start + count, kept.size))
        first_char, first_byte = kept.pieces[at]
        last_byte = kept.pieces[end][1] if end < len(kept.pieces) else kept.size
        try:
            with kept.file.open("rb") as file:
                file.seek(first_byte)
                data = file.read(last_byte - first_byte)
        except OSError:
            del self._kept[key]
            return None
        text = data.decode("utf-8", "surrogatepass")[start - first_char :][:count]
        return OutputPart(text, start, kept.chars)

    def _drop(self, run_id: str, cell_id: str) -> None:
        for key in [key for key in self._kept if key[:2] == (run_id, cell_id)]:
            self._kept.pop(key).file.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class CellOverflow:
    """The Overflow of one cell of one run."""

    spool: OutputSpool
    run_id: str
    cell_id: str

    def take(self, index: int, text: str) -> None:
        self.spool.take((self.run_id, self.cell_id, index), text)

    def hint(self, index: int) -> str:
        cell = f"cell_id {self.cell_id}, " if self.cell_id else ""
        return f"read_output reads all of it: run {self.run_id}, {cell}output {index + 1}"

    def clear(self) -> None:
        self.spool.drop(self.run_id, self.cell_id)
