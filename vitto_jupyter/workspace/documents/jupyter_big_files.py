"""Big notebooks on the server's disk: read and edited by another process, saved in pieces.

Used by jupyter_documents. What this process gets is small: views with cut outputs, parts, and
the bytes of an edited file, which go through the contents manager piece by piece.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...errors import EditConflict, ToolError, WriteFailed
from ..base import Cell, Notebook, OutputPart, Revision
from ..notebooks.notebook_work import Change, Given, Part
from ..paths import shown
from .big_work import (
    PIECE_BYTES,
    CheckBases,
    Edited,
    EditNotebook,
    MoreOutputs,
    Place,
    ReadNotebook,
    ReadPart,
    content_of,
    digest_of,
    utf8_pieces,
)
from .file_process import FileProcess, ProcessEnded, Request
from .jupyter_files import FAULTS, ContentsFiles, read_fault, reason_of, to_the_end

_TRIES = 3  # merges of one change onto a file that others write at the same time
_log = logging.getLogger(__name__)


class BigNotebooks:
    """The work on one notebook must be under the lock of its file when it writes."""

    def __init__(self, files: ContentsFiles, process: FileProcess | None = None) -> None:
        self._files = files
        self._process = process or FileProcess()

    async def close(self) -> None:
        await self._process.close()

    async def find(self, path: str) -> Place | None:
        """The file, when it is one for here."""
        os_path = await self._files.big_file(path)
        return None if os_path is None else Place(os_path, path)

    async def read(self, place: Place, given: Given) -> Notebook:
        notebook, *pieces = await self._ask(place, ReadNotebook(place, given))
        cells: list[Cell] = []
        for piece in pieces:
            if isinstance(piece, MoreOutputs):
                cells[-1] = replace(cells[-1], outputs=cells[-1].outputs + piece.outputs)
            else:
                cells.extend(piece)
        return replace(notebook, cells=tuple(cells))

    async def part(self, place: Place, part: Part, given: Given) -> OutputPart:
        (found,) = await self._ask(place, ReadPart(place, part, given))
        return found

    async def check(self, place: Place, bases: Mapping[str, Revision], given: Given) -> None:
        """As `notebook_work.check_bases`."""
        await self._ask(place, CheckBases(place, bases, given))

    async def change(self, place: Place, change: Change, given: Given) -> Given:
        """Edit and save. Gives the ids that go with the new file.

        Raises:
            EditConflict, WriteFailed
        """
        for _ in range(_TRIES):
            edited, *after = await self._ask(place, EditNotebook(place, change, given))
            before = await self._bytes_of(place)
            if await asyncio.to_thread(digest_of, before) == edited.before:
                if edited.after != edited.before:
                    await to_the_end(self._save(place, edited, after=after, before=before))
                return edited.given
        raise EditConflict(
            f"{shown(place.path)} is being written by somebody else all the time; "
            "nothing was written.",
            hint="Try again.",
        )

    # -- inside ----------------------------------------------------------------------------------

    async def _ask(self, place: Place, request: Request) -> list[Any]:
        try:
            return await self._process.call(request)
        except ProcessEnded as err:
            raise ToolError(
                f"{shown(place.path)} could not be read: the process that reads big files {err}.",
                code="read_failed",
                hint="Memory may be short. Try again, or look at parts of it with a command.",
            ) from err
        except OSError as err:
            raise read_fault(err, place.path) from err

    async def _bytes_of(self, place: Place) -> list[bytes]:
        try:
            return await asyncio.to_thread(_pieces_of, place)
        except OSError as err:
            raise read_fault(err, place.path) from err

    async def _save(
        self, place: Place, edited: Edited, *, after: Sequence[bytes], before: Sequence[bytes]
    ) -> None:
        fault: Exception | None = None
        async with self._files.noted(place.path, *after):
            try:
                await self._files.send(place.path, after)
            except FAULTS as err:
                fault = err
        if await self._digest(place) == edited.after:
            if fault is not None:
                _log.warning("Saving %s was reported as failed, but it is right.", place.path)
            return
        reason = reason_of(fault) if fault else "the server stored something else"
        await self._put_back(place, edited, before)
        restored = await self._digest(place) == edited.before
        now = "Nothing was changed." if restored else "The file now holds neither old nor new text."
        raise WriteFailed(f"Writing {shown(place.path)} failed: {reason}. {now}") from fault

    async def _put_back(self, place: Place, edited: Edited, before: Sequence[bytes]) -> None:
        """After a failure half-way."""
        if await self._digest(place) != edited.before:
            try:
                await self._files.send(place.path, before)
            except FAULTS as err:
                _log.error("%s could not be put back: %s", place.path, reason_of(err))

    async def _digest(self, place: Place) -> str:
        """Of what is there now, "" when it cannot be read."""
        try:
            return await asyncio.to_thread(_digest_at, place)
        except (ToolError, OSError):
            return ""


def _digest_at(place: Place) -> str:
    content, _ = content_of(place)
    return digest_of([content])  # both without the interpreter's lock


def _pieces_of(place: Place) -> list[bytes]:
    content, _ = content_of(place)
    return list(utf8_pieces(content, PIECE_BYTES))
