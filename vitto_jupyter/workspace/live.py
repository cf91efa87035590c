"""Documents that a page holds are read and edited there; all others through the fallback.

Owns the choice between the two, and the outputs of runs until they end, so that a page that
comes or goes in the middle of a run changes nothing about what the notebook gets.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol
from weakref import WeakValueDictionary

from ..errors import DeadlineExceeded, DocumentNotFound, EditConflict, ToolError, WriteFailed
from ..protocol.base import HostId, JsonObject
from . import host_wire
from .base import (
    BeginRun,
    Documents,
    Entry,
    Notebook,
    NotebookEdit,
    Revision,
    RunEdit,
    TextDocument,
    revision_of,
)
from .output_fold import OpenRuns, split_edits
from .paths import api_path, shown
from .text_codec import normalised

ANSWER_TIMEOUT_S = 20.0
_LIMIT_NOTEBOOKS = 100


class PageGone(ToolError):
    """The page did not fetch the call: it did nothing and is forgotten.

    `unsaved` tells whether it held unsaved changes of the document when last heard of.
    """

    code = "page_gone"

    def __init__(self, path: str, *, unsaved: bool) -> None:
        super().__init__(
            f"A page holds {shown(path)} with unsaved changes and did not answer; it may be "
            "asleep or offline. Nothing was done, so that these changes are not lost.",
            hint="Ask the user to come back to that page, or to open the document again.",
        )
        self.unsaved = unsaved


class HostCaller(Protocol):
    """The way to the pages; `services/hosts.py`."""

    def holder(self, path: str) -> HostId | None:
        """The page that is asked about the document; None when no page holds it."""

    def has_unsaved(self, path: str) -> bool:
        """Whether a page that fell silent holds unsaved changes of it."""

    async def call(
        self, path: str, method: str, params: JsonObject, *, timeout_s: float
    ) -> JsonObject:
        """What the holder answers.

        Raises:
            PageGone: nobody acted.
            DeadlineExceeded: the page fetched the call and did not answer.
            EditConflict, DocumentNotFound, WriteFailed, NotText, ToolError: as the page says.
        """


@dataclass(slots=True)
class _Runs:
    """Open runs of one notebook; `shown_in` is the page that has seen all of them so far."""

    open: OpenRuns = field(default_factory=OpenRuns)
    shown_in: HostId | None = None


class LiveDocuments:
    """The Documents port; held documents live in a page, the others in `fallback`."""

    def __init__(
        self, hosts: HostCaller, fallback: Documents, *, timeout_s: float = ANSWER_TIMEOUT_S
    ) -> None:
        self._hosts = hosts
        self._fallback = fallback
        self._timeout_s = timeout_s
        self._runs: dict[str, _Runs] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def entries(self, path: str) -> tuple[Entry, ...]:
        return await self._fallback.entries(path)

    async def entry(self, path: str) -> Entry:
        return await self._fallback.entry(path)

    async def create_notebook(self, path: str, *, kernel_name: str, language: str) -> Notebook:
        return await self._fallback.create_notebook(
            path, kernel_name=kernel_name, language=language
        )

    # -- text ------------------------------------------------------------------------------------

    async def read_text(self, path: str) -> TextDocument:
        path = api_path(path)
        value = await self._ask_to_read(path, "read_text")
        if value is None:
            return await self._fallback.read_text(path)
        return _document(path, host_wire.parsed(host_wire.TextAnswer, value).text)

    async def write_text(self, path: str, text: str, *, base: Revision | None) -> TextDocument:
        path = api_path(path)
        if base is None and self._hosts.holder(path) is not None:
            raise EditConflict(
                f"{shown(path)} is open in a page; nothing was written.", hint="Read it first."
            )
        wanted = normalised(text)
        value = await self._ask(path, "write_text", {"path": path, "base": base, "text": wanted})
        if value is None:
            return await self._fallback.write_text(path, text, base=base)
        found = _document(path, host_wire.parsed(host_wire.TextAnswer, value).text)
        if found.text != wanted:
            raise WriteFailed(
                f"{shown(path)} was edited in the page, but reads back differently.",
                hint="Read it again before any other edit.",
            )
        return found

    # -- notebooks -------------------------------------------------------------------------------

    async def read_notebook(self, path: str) -> Notebook:
        path = api_path(path)
        value = await self._ask_to_read(path, "read_notebook")
        if value is None:
            return await self._fallback.read_notebook(path)
        answer = host_wire.parsed(host_wire.NotebookAnswer, value)
        return host_wire.notebook_of(answer, path=path)

    async def edit_notebook(self, path: str, edits: Sequence[NotebookEdit]) -> None:
        path = api_path(path)
        sources, runs = split_edits(edits)
        async with self._lock(path):
            if sources and await self._edit_in_page(path, sources) is None:
                await self._fallback.edit_notebook(path, sources)
            if runs:
                await self._show_runs(path, runs)

    async def save(self, path: str) -> None:
        path = api_path(path)
        if await self._ask(path, "save", {"path": path}) is None:
            await self._fallback.save(path)

    async def _show_runs(self, path: str, edits: Sequence[RunEdit]) -> None:
        """Fold the edits in, and show them where the notebook is open; store what has ended."""
        runs = self._runs.setdefault(path, _Runs())
        whole = _with_replays(runs.open, edits)
        holder = self._hosts.holder(path)
        folded = runs.open.apply(edits)
        self._forget_runs(path)
        to_store = folded.ended.keys() | {edit.cell_id for edit in folded.late}
        try:
            seen_before = holder is not None and holder == runs.shown_in
            answer = await self._edit_in_page(path, edits if seen_before else whole)
        except (PageGone, DeadlineExceeded, DocumentNotFound):
            # The run goes on: a page that comes back gets all of it with the next change.
            runs.shown_in = None
            if to_store and self._is_in_a_page(path):
                raise
            answer = None
        runs.shown_in = holder if answer is not None else None
        if answer is None and to_store:
            stored = [edit for edit in whole if edit.cell_id in to_store]
            await self._fallback.edit_notebook(path, stored)

    def _is_in_a_page(self, path: str) -> bool:
        return self._hosts.holder(path) is not None or self._hosts.has_unsaved(path)

    def _forget_runs(self, path: str) -> None:
        """Drop what has ended, and the oldest of too many: runs whose end nobody reported."""
        if not self._runs[path].open:
            del self._runs[path]
        while len(self._runs) > _LIMIT_NOTEBOOKS:
            del self._runs[next(iter(self._runs))]

    async def _edit_in_page(self, path: str, edits: Sequence[NotebookEdit]) -> JsonObject | None:
        params: JsonObject = {"path": path, "edits": [host_wire.edit_json(edit) for edit in edits]}
        return await self._ask(path, "edit_notebook", params)

    # -- pages -----------------------------------------------------------------------------------

    async def _ask(self, path: str, method: str, params: JsonObject) -> JsonObject | None:
        """What the page that holds the document answers; None: the fallback is to be used."""
        while self._hosts.holder(path) is not None:
            try:
                return await self._hosts.call(path, method, params, timeout_s=self._timeout_s)
            except PageGone as gone:
                if gone.unsaved and self._hosts.holder(path) is None:
                    raise
        if self._hosts.has_unsaved(path):
            raise PageGone(path, unsaved=True)
        return None

    async def _ask_to_read(self, path: str, method: str) -> JsonObject | None:
        try:
            return await self._ask(path, method, {"path": path})
        except DocumentNotFound:
            return None  # closed in the page a moment ago

    def _lock(self, path: str) -> asyncio.Lock:
        lock = self._locks.get(path)
        if lock is None:
            lock = self._locks[path] = asyncio.Lock()
        return lock


def _with_replays(runs: OpenRuns, edits: Sequence[RunEdit]) -> list[RunEdit]:
    """The edits, after what brings a fresh viewer to where their runs are now."""
    cell_ids = dict.fromkeys(edit.cell_id for edit in edits if not isinstance(edit, BeginRun))
    return [*(edit for cell_id in cell_ids for edit in runs.replay(cell_id)), *edits]


def _document(path: str, text: str) -> TextDocument:
    text = normalised(text)
    return TextDocument(path, text, revision_of(text), held=True)
