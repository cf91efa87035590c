"""Documents that a page holds are read and edited there; all others through the fallback."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from weakref import WeakValueDictionary

from ..errors import DocumentNotFound, EditConflict, WriteFailed
from ..protocol.base import JsonObject
from . import host_wire
from .base import (
    Documents,
    Entry,
    Notebook,
    NotebookEdit,
    Revision,
    TextDocument,
    revision_of,
)
from .live_runs import LiveRuns
from .output_fold import split_edits
from .pages import ANSWER_TIMEOUT_S, HostCaller, Pages
from .paths import api_path, shown
from .text_codec import normalised


class LiveDocuments:
    """The Documents port; held documents live in a page, the others in `fallback`.

    Whoever hears of pages coming and going calls `pages_changed`; `close` ends what that began.
    """

    def __init__(
        self, hosts: HostCaller, fallback: Documents, *, timeout_s: float = ANSWER_TIMEOUT_S
    ) -> None:
        self._pages = Pages(hosts, timeout_s=timeout_s)
        self._fallback = fallback
        self._runs = LiveRuns(self._pages, fallback)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._delivery: asyncio.Task[None] | None = None

    async def entries(self, path: str) -> tuple[Entry, ...]:
        return await self._fallback.entries(path)

    async def entry(self, path: str) -> Entry:
        return await self._fallback.entry(path)

    async def resolved(self, path: str) -> str:
        return await self._fallback.resolved(path)

    async def create_notebook(self, path: str, *, kernel_name: str, language: str) -> Notebook:
        return await self._fallback.create_notebook(
            path, kernel_name=kernel_name, language=language
        )

    async def read_text(self, path: str) -> TextDocument:
        path = api_path(path)
        value = await self._ask_to_read(path, "read_text")
        if value is None:
            return await self._fallback.read_text(path)
        return _document(path, value)

    async def write_text(self, path: str, text: str, *, base: Revision | None) -> TextDocument:
        path = api_path(path)
        if base is None and self._pages.holder(path) is not None:
            raise EditConflict(
                f"{shown(path)} is open in a page; nothing was written.", hint="Read it first."
            )
        wanted = normalised(text)
        value = await self._pages.ask(path, "write_text", base=base, text=wanted)
        if value is None:
            return await self._fallback.write_text(path, text, base=base)
        found = _document(path, value)
        if found.text != wanted:
            raise WriteFailed(
                f"{shown(path)} was edited in the page, but reads back differently.",
                hint="Read it again before any other edit.",
            )
        return found

    async def read_notebook(self, path: str) -> Notebook:
        path = api_path(path)
        await self._deliver(path)
        value = await self._ask_to_read(path, "read_notebook")
        if value is None:
            return await self._fallback.read_notebook(path)
        answer = host_wire.parsed(host_wire.NotebookAnswer, value)
        return host_wire.notebook_of(answer, path=path)

    async def edit_notebook(self, path: str, edits: Sequence[NotebookEdit]) -> None:
        path = api_path(path)
        sources, runs = split_edits(edits)
        await self._deliver(path)
        async with self._lock(path):
            if sources and not await self._pages.edit_notebook(path, sources):
                await self._fallback.edit_notebook(path, sources)
            if runs:
                await self._runs.apply(path, runs)

    async def save(self, path: str) -> None:
        path = api_path(path)
        if await self._pages.ask(path, "save") is None:
            await self._fallback.save(path)

    # -- results that wait for a page ------------------------------------------------------------

    def pages_changed(self) -> None:
        """Bring results to a page that is back, or to the file when it is gone."""
        if self._runs.owed_paths and (self._delivery is None or self._delivery.done()):
            self._delivery = asyncio.get_running_loop().create_task(self._deliver_all())

    async def close(self) -> None:
        if self._delivery is not None:
            self._delivery.cancel()
            await asyncio.wait({self._delivery})

    async def _deliver_all(self) -> None:
        for path in self._runs.owed_paths:
            await self._deliver(path)

    async def _deliver(self, path: str) -> None:
        if path in self._runs.owed_paths:
            async with self._lock(path):
                await self._runs.deliver(path)

    # -- inside ----------------------------------------------------------------------------------

    async def _ask_to_read(self, path: str, method: str) -> JsonObject | None:
        try:
            return await self._pages.ask(path, method)
        except DocumentNotFound:
            return None  # closed in the page a moment ago

    def _lock(self, path: str) -> asyncio.Lock:
        lock = self._locks.get(path)
        if lock is None:
            lock = self._locks[path] = asyncio.Lock()
        return lock


def _document(path: str, value: JsonObject) -> TextDocument:
    """The revision is that of the text as the page has it: it compares with its own."""
    answer = host_wire.parsed(host_wire.TextAnswer, value)
    text, dirty = answer.text, answer.dirty
    return TextDocument(path, normalised(text), revision_of(text), held=True, dirty=dirty)
