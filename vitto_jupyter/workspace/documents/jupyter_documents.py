"""Documents through the Jupyter contents API: the one that works with no page open."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from jupyter_server.services.contents.manager import ContentsManager

from ...errors import EditConflict, NotText
from .. import text_codec
from ..base import (
    BeginRun,
    Entry,
    Notebook,
    NotebookEdit,
    OutputPart,
    Revision,
    RunEdit,
    TextDocument,
    revision_of,
)
from ..notebooks import notebook_json
from ..notebooks.notebook_work import Change, Given, Part, changed, check_bases, part_of, viewed
from ..notebooks.output_fold import OpenRuns, split_edits
from ..paths import api_path, is_notebook, shown
from .jupyter_big_files import BigNotebooks
from .jupyter_files import BIG_BYTES, ContentsFiles, Overtaken
from .save_journal import SaveJournal

_LIMIT_PATHS = 200  # of notebooks with something to remember between calls
_QUOTE_LIMIT_CHARS = 4000
_TRIES = 5  # while others type in a shared document
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Remembered:
    """What a notebook file does not say: runs that have not ended, and ids of id-less cells."""

    runs: OpenRuns = field(default_factory=OpenRuns)
    given: Given = field(default_factory=dict)


class JupyterDocuments:
    """The Documents port over a contents manager, sync or async.

    With a `journal`, saves that a kill cuts in the middle are mended by its `recover`.

    Notebooks are read and written as files, byte for byte: saving them as notebooks would
    reformat them and could sign outputs that the agent made.
    """

    def __init__(
        self,
        manager: ContentsManager,
        journal: SaveJournal | None = None,
        *,
        files: ContentsFiles | None = None,
    ) -> None:
        self._files = files or ContentsFiles(manager, journal)
        self._big = BigNotebooks(self._files)
        self._remembered: OrderedDict[str, _Remembered] = OrderedDict()

    async def close(self) -> None:
        """End the process that reads big files, when there is one."""
        await self._big.close()

    async def entries(self, path: str) -> tuple[Entry, ...]:
        return await self._files.entries(path)

    async def entry(self, path: str) -> Entry:
        return await self._files.entry(path)

    async def resolved(self, path: str) -> str:
        return await self._files.resolved(path)

    # -- text ------------------------------------------------------------------------------------

    async def read_text(self, path: str) -> TextDocument:
        return await self.raw_text(_text_path(path))

    async def raw_text(self, path: str) -> TextDocument:
        path = api_path(path)
        content = await self._files.read(path)
        if len(content) < BIG_BYTES:
            return _text(content, path)
        return await asyncio.to_thread(_text, content, path)

    async def write_text(self, path: str, text: str, *, base: Revision | None) -> TextDocument:
        path = _text_path(path)
        async with self._files.lock(path):
            if base is None:
                await self._files.create(path, text_codec.encode(text_codec.FileText(""), text))
            else:
                await self._replace_text(path, text, base)
            return await self.read_text(path)

    async def _replace_text(self, path: str, text: str, base: Revision) -> None:
        before = await self._files.read(path)
        file = text_codec.decode(before, name=shown(path))
        if revision_of(file.text) != base:
            raise EditConflict(
                f"{shown(path)} has changed; nothing was written.{_now(file.text)}",
                hint="Read it again and base the edit on what is there now.",
            )
        # In a thread: finding which lines are kept takes long in large files with mixed ends.
        content = await asyncio.to_thread(text_codec.encode, file, text)
        await self._files.replace(path, content, before=before)

    # -- notebooks -------------------------------------------------------------------------------

    async def read_notebook(self, path: str) -> Notebook:
        path = _notebook_path(path)
        if place := await self._big.find(path):
            return await self._big.read(place, self._given(path))
        content = await self._files.read(path)
        return await asyncio.to_thread(_read, content, path, self._given(path))

    async def output_part(
        self, path: str, cell_id: str, index: int, *, field: str, start: int, count: int
    ) -> OutputPart:
        path = _notebook_path(path)
        part = Part(cell_id, index, field, start, count)
        if place := await self._big.find(path):
            return await self._big.part(place, part, self._given(path))
        content = await self._files.read(path)
        return await asyncio.to_thread(_part, content, path, part, self._given(path))

    async def edit_notebook(self, path: str, edits: Sequence[NotebookEdit]) -> None:
        path = _notebook_path(path)
        sources, run_edits = split_edits(edits)
        async with self._files.lock(path):
            state = self._state(path)
            open_runs = state.runs.copy()
            runs = open_runs.apply(run_edits)
            change = Change(sources, runs, _bases(run_edits))
            if not sources and not change.bases:
                state.runs = open_runs
            if sources or runs.ended or runs.late:
                await self._change(path, state, change)
            elif change.bases:
                await self._check_bases(path, state, change)
            state.runs = open_runs

    async def create_notebook(self, path: str, *, kernel_name: str, language: str) -> Notebook:
        path = _notebook_path(path)
        content = notebook_json.empty_notebook(kernel_name=kernel_name, language=language)
        async with self._files.lock(path):
            await self._files.create(path, content)
            self._remembered.pop(path, None)
        return await self.read_notebook(path)

    def follow_disk(self) -> None:
        """Nothing to do: nothing is held."""

    async def save(self, path: str) -> None:
        """Nothing to do: edits are written at once."""

    async def _change(self, path: str, state: _Remembered, change: Change) -> None:
        """Merge onto the file as it is now: the user may have saved since a run began."""
        if place := await self._big.find(path):
            state.given = await self._big.change(place, change, state.given)
            return
        for tries_left in reversed(range(_TRIES)):
            before = await self._files.read(path)
            edited = await asyncio.to_thread(changed, before, change, path=path, given=state.given)
            try:
                await self._files.replace(path, edited.content, before=before)
            except Overtaken:
                if not tries_left:
                    raise
            else:
                state.given = edited.given
                return

    async def _check_bases(self, path: str, state: _Remembered, change: Change) -> None:
        if place := await self._big.find(path):
            await self._big.check(place, change.bases, state.given)
            return
        content = await self._files.read(path)
        await asyncio.to_thread(_check, content, path, change.bases, state.given)

    def _given(self, path: str) -> Given:
        return self._remembered[path].given if path in self._remembered else {}

    def _state(self, path: str) -> _Remembered:
        state = self._remembered.setdefault(path, _Remembered())
        self._remembered.move_to_end(path)
        idle = [old for old, kept in self._remembered.items() if not kept.runs and old != path]
        for old in idle[: max(0, len(self._remembered) - _LIMIT_PATHS)]:
            del self._remembered[old]
        return state


def _text_path(path: str) -> str:
    path = api_path(path)
    if is_notebook(path):
        raise NotText(
            f"{shown(path)} is a notebook; it is not read or written as text.",
            hint="Use the notebook tools.",
        )
    return path


def _notebook_path(path: str) -> str:
    path = api_path(path)
    if not is_notebook(path):
        raise NotText(f"{shown(path)} is not a notebook.", hint="Its name must end in .ipynb.")
    return path


def _document(path: str, file: text_codec.FileText) -> TextDocument:
    return TextDocument(path, file.text, revision_of(file.text), file.newline, file.encoding)


def _now(text: str) -> str:
    return f" It is now:\n{text}" if len(text) <= _QUOTE_LIMIT_CHARS else ""


def _bases(edits: Sequence[RunEdit]) -> dict[str, Revision]:
    begun = [edit for edit in edits if isinstance(edit, BeginRun)]
    return {edit.cell_id: edit.base for edit in begun if edit.base is not None}


# -- in a thread ---------------------------------------------------------------------------------


def _text(content: bytes, path: str) -> TextDocument:
    return _document(path, text_codec.decode(content, name=shown(path)))


def _read(content: bytes, path: str, given: Given) -> Notebook:
    return viewed(notebook_json.parse(content, name=shown(path)), path=path, given=given)


def _part(content: bytes, path: str, part: Part, given: Given) -> OutputPart:
    return part_of(notebook_json.parse(content, name=shown(path)), part, path=path, given=given)


def _check(content: bytes, path: str, bases: dict[str, Revision], given: Given) -> None:
    file = notebook_json.parse(content, name=shown(path))
    check_bases(file, bases, path=path, given=given)
