"""Documents that a page holds are read and edited there; all others through the fallback."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from weakref import WeakValueDictionary

from ...errors import DeadlineExceeded, DocumentNotFound, EditConflict, ToolError, WriteFailed
from ...protocol.base import JsonObject
from ..base import (
    Documents,
    Entry,
    Notebook,
    NotebookEdit,
    OutputPart,
    Revision,
    SourceEdit,
    TextDocument,
    revision_of,
)
from ..notebooks.output_fold import split_edits
from ..paths import api_path, shown
from ..text_codec import normalised
from . import host_wire
from .disk_watch import DiskWatch
from .edit_outcome import Outcome, misread_cell, outcome_of
from .live_runs import LiveRuns
from .pages import ANSWER_TIMEOUT_S, HostCaller, Pages, Unanswered


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
        self._disk = DiskWatch(self._pages, fallback)
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
        return await self._text(path, await self._ask_to_read(path, "read_text"))

    async def _text(self, path: str, value: JsonObject | None) -> TextDocument:
        """What a page answered; None: the file."""
        if value is None:
            return await self._fallback.read_text(path)
        return self._document(path, value)

    async def raw_text(self, path: str) -> TextDocument:
        return await self._fallback.raw_text(path)

    async def write_text(self, path: str, text: str, *, base: Revision | None) -> TextDocument:
        path = api_path(path)
        if base is None and self._pages.holder(path) is not None:
            raise EditConflict(
                f"{shown(path)} is open in a page; nothing was written.", hint="Read it first."
            )
        wanted = normalised(text)
        try:
            value = await self._pages.ask(path, "write_text", base=base, text=wanted)
        except Unanswered as err:
            return await self._written_after_all(path, wanted, base=base, lost=err)
        if value is None:
            return await self._fallback.write_text(path, text, base=base)
        found = self._document(path, value)
        if found.text != wanted:
            raise _reads_back_differently(shown(path))
        return found

    async def read_notebook(self, path: str) -> Notebook:
        path = api_path(path)
        await self._deliver(path)
        return await self._notebook(path, await self._ask_to_read(path, "read_notebook"))

    async def _notebook(self, path: str, value: JsonObject | None) -> Notebook:
        """What a page answered; None: the file."""
        if value is None:
            return await self._fallback.read_notebook(path)
        answer = host_wire.parsed(host_wire.NotebookAnswer, value)
        return host_wire.notebook_of(answer, path=path, also_open=self._pages.also_open(path))

    async def output_part(
        self, path: str, cell_id: str, index: int, *, field: str, start: int, count: int
    ) -> OutputPart:
        path = api_path(path)
        wanted = {"cell_id": cell_id, "index": index, "field": field}
        value = await self._pages.ask(path, "output_part", **wanted, start=start, count=count)
        if value is None:
            return await self._fallback.output_part(
                path, cell_id, index, field=field, start=start, count=count
            )
        part = host_wire.parsed(host_wire.OutputPartAnswer, value)
        return OutputPart(part.text, part.start, part.total_chars)

    async def edit_notebook(self, path: str, edits: Sequence[NotebookEdit]) -> None:
        path = api_path(path)
        sources, runs = split_edits(edits)
        await self._deliver(path)
        async with self._lock(path):
            if sources:
                await self._edit_sources(path, sources)
            if runs:
                await self._runs.apply(path, runs)

    async def save(self, path: str) -> None:
        path = api_path(path)
        async with self._lock(path):
            await self._runs.save(path)

    def follow_disk(self) -> None:
        self._disk.look_soon()

    # -- calls that were not answered --------------------------------------------------------

    async def _edit_sources(self, path: str, edits: Sequence[SourceEdit]) -> None:
        sent = [host_wire.edit_json(edit) for edit in edits]
        try:
            value = await self._pages.ask(path, "edit_notebook", edits=sent)
        except Unanswered as err:
            outcome = await self._outcome(path, edits, err)
            if outcome == "not made" and err.closed:
                # what the closed page had is gone: whatever counts now gets the edit
                await self._edit_sources(path, edits)
            elif outcome != "made":
                raise _unanswered(path, outcome) from err
            return
        if value is None:
            await self._fallback.edit_notebook(path, edits)
            return
        revisions = host_wire.parsed(host_wire.EditAnswer, value).cells
        misread = None if revisions is None else misread_cell(edits, revisions)
        if misread is not None:
            raise _reads_back_differently(f"Cell {misread} of {shown(path)}")

    async def _outcome(self, path: str, edits: Sequence[SourceEdit], lost: Unanswered) -> Outcome:
        """Whether the edits were made, by what is there now: in a page, or in the file."""
        try:
            value = await self._pages.ask_again(path, "read_notebook", lost)
            return outcome_of(edits, await self._notebook(path, value))
        except ToolError:
            return "not known"

    async def _written_after_all(
        self, path: str, text: str, *, base: Revision | None, lost: Unanswered
    ) -> TextDocument:
        """What is there, if it is `text`.

        Raises:
            ToolError: it is not, or nobody can tell.
        """
        try:
            value = await self._pages.ask_again(path, "read_text", lost)
            found = await self._text(path, value)
        except ToolError:
            raise _unanswered(path, "not known") from lost
        if found.text == text:
            return found
        if lost.closed:
            return await self.write_text(path, text, base=base)
        raise _unanswered(path, "not made" if found.revision == base else "not known") from lost

    # -- results that wait for a page ------------------------------------------------------------

    def pages_changed(self) -> None:
        """Bring results to a page that is back, or to the file when it is gone."""
        if self._runs.owed_paths and (self._delivery is None or self._delivery.done()):
            self._delivery = asyncio.get_running_loop().create_task(self._deliver_all())

    async def close(self) -> None:
        await self._disk.close()
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

    def _document(self, path: str, value: JsonObject) -> TextDocument:
        """The revision is that of the text as the page has it: it compares with its own."""
        answer = host_wire.parsed(host_wire.TextAnswer, value)
        return TextDocument(
            path,
            normalised(answer.text),
            revision_of(answer.text),
            held=True,
            dirty=answer.dirty,
            also_open=self._pages.also_open(path),
        )

    def _lock(self, path: str) -> asyncio.Lock:
        lock = self._locks.get(path)
        if lock is None:
            lock = self._locks[path] = asyncio.Lock()
        return lock


def _reads_back_differently(what: str) -> WriteFailed:
    return WriteFailed(
        f"{what} was edited in the page, but reads back differently.",
        hint="Read it again before any other edit.",
    )


def _unanswered(path: str, outcome: Outcome) -> ToolError:
    lead = f"The page that holds {shown(path)} did not answer"
    if outcome == "not made":
        return WriteFailed(
            f"{lead}. Reading it again shows that nothing was changed.",
            code="not_made",
            hint="Try again.",
        )
    return DeadlineExceeded(
        f"{lead}, and it could not be found out whether it made the change.",
        hint="Read the document again before any other edit.",
    )
