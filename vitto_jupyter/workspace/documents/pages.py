"""Asking the page that holds a document. Used by `live`; implemented by `services/hosts`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ...errors import DeadlineExceeded, DocumentNotFound, ToolError
from ...protocol.base import HostId, JsonObject
from ..base import NotebookEdit
from ..paths import shown
from . import host_wire

ANSWER_TIMEOUT_S = 20.0


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


class Unanswered(DeadlineExceeded):
    """The page fetched the call and did not answer: whether it acted must be found out.

    `closed` tells whether it was closed meanwhile; else it may still be at work.
    """

    def __init__(
        self, message: str, *, host_id: HostId, hint: str = "", closed: bool = False
    ) -> None:
        super().__init__(message, hint=hint)
        self.host_id = host_id
        self.closed = closed


class HostCaller(Protocol):
    """The way to the pages."""

    def holder(self, path: str) -> HostId | None:
        """The page that is asked about the document; None when no page holds it."""

    def holders(self, path: str) -> tuple[HostId, ...]:
        """All pages that hold the document, the one that is asked first."""

    def held_paths(self) -> tuple[str, ...]:
        """The documents that pages hold."""

    def also_open(self, path: str) -> str:
        """In words, that other pages hold other versions of the document; "" when none does."""

    def has_unsaved(self, path: str) -> bool:
        """Whether a page that fell silent holds unsaved changes of it."""

    async def call(
        self,
        path: str,
        method: str,
        params: JsonObject,
        *,
        timeout_s: float,
        host_id: HostId | None = None,
    ) -> JsonObject:
        """What the holder, or the page `host_id`, answers.

        Raises:
            PageGone: nobody acted; pages that fell silent with unsaved changes are woken.
            Unanswered: the page fetched the call and did not answer.
            EditConflict, DocumentNotFound, WriteFailed, NotText, ToolError: as the page says.
        """


class Pages:
    """Calls to whichever page holds a document. None as an answer: the file alone counts."""

    def __init__(self, hosts: HostCaller, *, timeout_s: float = ANSWER_TIMEOUT_S) -> None:
        self._hosts = hosts
        self._timeout_s = timeout_s

    def holder(self, path: str) -> HostId | None:
        return self._hosts.holder(path)

    def held_paths(self) -> tuple[str, ...]:
        return self._hosts.held_paths()

    def also_open(self, path: str) -> str:
        return self._hosts.also_open(path)

    def are_holding(self, path: str) -> bool:
        """Whether the document is in a page, one that fell silent with unsaved changes too."""
        return self._hosts.holder(path) is not None or self._hosts.has_unsaved(path)

    async def ask(self, path: str, method: str, **params: JsonObject) -> JsonObject | None:
        """What the page that holds the document answers; see HostCaller for what is raised."""
        while self._hosts.holder(path) is not None:
            try:
                return await self._hosts.call(
                    path, method, {"path": path, **params}, timeout_s=self._timeout_s
                )
            except PageGone as gone:
                if gone.unsaved and self._hosts.holder(path) is None:
                    raise
        if self._hosts.has_unsaved(path):
            await self._hosts.call(path, method, params, timeout_s=0)  # raises, and wakes the page
        return None

    async def ask_again(self, path: str, method: str, lost: Unanswered) -> JsonObject | None:
        """As `ask`, of the page that owes an answer: calls are done in order, so what it then
        says is what became of the call. Of a closed page the others, or the file, tell.
        """
        try:
            if lost.closed:
                return await self.ask(path, method)
            return await self._hosts.call(
                path, method, {"path": path}, timeout_s=self._timeout_s, host_id=lost.host_id
            )
        except DocumentNotFound:
            return None  # closed there since

    async def look_on_disk(self, path: str) -> None:
        """Have every page that holds the document compare it with its file.

        Raises:
            ToolError: a page did not, or could not.
        """
        for host_id in self._hosts.holders(path):
            await self._hosts.call(
                path,
                "look_on_disk",
                {"path": path},
                timeout_s=self._timeout_s,
                host_id=host_id,
            )

    async def edit_notebook(self, path: str, edits: Sequence[NotebookEdit]) -> bool:
        """True when a page made the edits."""
        made = [host_wire.edit_json(edit) for edit in edits]
        return await self.ask(path, "edit_notebook", edits=made) is not None
