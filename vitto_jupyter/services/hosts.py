"""Hosts: the front ends that hold documents, and the calls that they answer.

Owns who holds what and the calls under way. A page that is idle holds no connection: it is
woken by an event, fetches its calls, acts, and sends each answer.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ..agent.ports import Clock
from ..errors import (
    DocumentNotFound,
    EditConflict,
    NotFound,
    NotText,
    ToolError,
    WriteFailed,
)
from ..protocol.base import CallId, HostId, JsonObject, new_id
from ..protocol.context import Diagnostic
from ..protocol.requests import HeldDocument, HostAnswer, HostCall, HostCallsReply, RegisterHost
from ..workspace.base import Seen
from ..workspace.documents.pages import PageGone, Unanswered
from ..workspace.paths import shown

LIMIT_HOSTS = 50
LIMIT_CALLS = 200
LIMIT_DIAGNOSTICS = 500
_LIMIT_ENDED = 1000
_LIMIT_SILENT = 500

_ERRORS: dict[str, type[ToolError]] = {
    "edit_conflict": EditConflict,
    "not_found": DocumentNotFound,
    "write_failed": WriteFailed,
    "not_text": NotText,
}
_READS = frozenset({"read_text", "read_notebook", "output_part"})
_WRITES = frozenset({"write_text", "edit_notebook"})


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a page may take, in seconds.

    `fetch_s`: to fetch a call before it counts as gone; it is woken again every `wake_s`.
    `again_s`: until a fetched call without an answer is handed out again, since the reply that
    carried it may have been lost.
    """

    fetch_s: float = 5.0
    wake_s: float = 1.5
    again_s: float = 4.0


@dataclass(slots=True)
class _Call:
    """A call under way. `answer` becomes what the page says, None when the page closes."""

    host_id: HostId
    call: HostCall
    answer: asyncio.Future[HostAnswer | None]
    fetched: asyncio.Event = field(default_factory=asyncio.Event)
    handed_out_at: float | None = None


class Hosts:
    """Who holds which document; also the HostCaller and FrontEnds ports.

    Args:
        wake: Tells the page that there are calls for it; may be called again and again.
    """

    def __init__(
        self, wake: Callable[[HostId], None], clock: Clock, *, patience: Patience | None = None
    ) -> None:
        self._wake = wake
        self._clock = clock
        self._patience = patience or Patience()
        self._hosts: OrderedDict[HostId, RegisterHost] = OrderedDict()  # latest word last
        self._calls: dict[CallId, _Call] = {}
        self._ended: OrderedDict[CallId, HostId] = OrderedDict()
        # documents with unsaved changes in pages that fell silent, the oldest first
        self._silent: OrderedDict[tuple[HostId, str], None] = OrderedDict()
        self._listeners: list[Callable[[], None]] = []

    def listen(self, changed: Callable[[], None]) -> None:
        """Have `changed` called after each page that says what it holds, or that it closes."""
        self._listeners.append(changed)

    # -- what pages say --------------------------------------------------------------------------

    def register(self, host_id: HostId, body: RegisterHost) -> None:
        """All that the page holds now; replaces what it said before.

        What it opened newly is the user's choice of version: silent pages count no more there.
        """
        before = self._hosts.pop(host_id, None)
        known = {document.path for document in before.documents} if before else set()
        self._forget_silence(host_id, {document.path for document in body.documents} - known)
        if body.closing:
            self._drop_calls(host_id)
        else:
            self._hosts[host_id] = body
        while len(self._hosts) > LIMIT_HOSTS:
            self._fall_silent(next(iter(self._hosts)))
        for changed in self._listeners:
            changed()

    def calls(self, host_id: HostId) -> HostCallsReply:
        """The calls that wait for the page; one that it fetched lately is not among them.

        Raises:
            NotFound: the page is not known (any more): it must register again.
        """
        if host_id not in self._hosts:
            raise NotFound("This page is not registered.", hint="Register it, then fetch again.")
        now = self._clock.monotonic()
        waiting = [call for call in self._calls.values() if self._is_due(call, host_id, now)]
        for call in waiting:
            call.handed_out_at = now
            call.fetched.set()
        return HostCallsReply(calls=tuple(call.call for call in waiting))

    def answer(self, host_id: HostId, call_id: CallId, body: HostAnswer) -> None:
        """Take an answer; the first one counts, a repeated one is ignored.

        Raises:
            NotFound: the page was never asked this.
        """
        call = self._calls.get(call_id)
        if call is not None and call.host_id == host_id:
            call.fetched.set()
            if not call.answer.done():
                call.answer.set_result(body)
        elif self._ended.get(call_id) != host_id:
            raise NotFound("There is no such call for this page.")

    # -- who holds what --------------------------------------------------------------------------

    def holder(self, path: str) -> HostId | None:
        """The one page that acts on the document, see `holders`."""
        return next(iter(self.holders(path)), None)

    def holders(self, path: str) -> tuple[HostId, ...]:
        """The pages that hold the document: where it is active first, then where it has unsaved
        changes, then the latest to register.

        Each has a copy of its own; only the first acts.
        """
        held = sorted(
            reversed(list(self._documents(path))), key=lambda h: (not h[1].active, not h[1].dirty)
        )
        return tuple(host_id for host_id, _ in held)

    def held_paths(self) -> tuple[str, ...]:
        return tuple({d.path: None for body in self._hosts.values() for d in body.documents})

    def also_open(self, path: str) -> str:
        """In words, what other pages than the holder have of it that differs from its copy."""
        held = dict(self._documents(path))
        acting = self.holder(path)
        others = [document for host_id, document in held.items() if host_id != acting]
        if acting is None or (not others and not self.has_unsaved(path)):
            return ""
        differing = [d for d in others if not d.revision or d.revision != held[acting].revision]
        if self.has_unsaved(path):
            return "A page that fell silent holds unsaved changes of it, which are not in this one."
        if any(document.dirty for document in differing):
            return (
                f"It is open in {_tabs(len(held))}; the other one has unsaved changes, "
                "which are not in this one."
            )
        if any(document.revision for document in differing):
            return f"It is open in {_tabs(len(held))}; the other one shows another version."
        return ""

    def has_unsaved(self, path: str) -> bool:
        """Whether a page that fell silent holds unsaved changes of it.

        That counts until it is heard of again, or the user opens the document anew.
        """
        return any(silent_path == path for _, silent_path in self._silent)

    def seen(self) -> Seen:
        active: str | None = None
        paths: dict[str, None] = {}
        diagnostics: dict[Diagnostic, None] = {}
        for body in self._hosts.values():
            for document in body.documents:
                paths[document.path] = None
                active = document.path if document.active else active
            diagnostics.update(dict.fromkeys(body.diagnostics))
        return Seen(active, tuple(sorted(paths)), tuple(diagnostics)[:LIMIT_DIAGNOSTICS])

    # -- calling ---------------------------------------------------------------------------------

    async def call(
        self,
        path: str,
        method: str,
        params: JsonObject,
        *,
        timeout_s: float,
        host_id: HostId | None = None,
    ) -> JsonObject:
        """Ask the holder of `path`, or the page `host_id`; see HostCaller for what is raised."""
        host_id = host_id or self.holder(path)
        if host_id is None:
            raise PageGone(path, unsaved=self._wake_silent(path))
        if len(self._calls) >= LIMIT_CALLS:
            raise ToolError("Too many calls wait for pages already.", code="busy")
        call_id = CallId(new_id("call"))
        call = _Call(
            host_id,
            HostCall(call_id=call_id, method=method, params=params),
            asyncio.get_running_loop().create_future(),
        )
        self._calls[call_id] = call
        try:
            await self._until_fetched(call, path)
            before = self._hosts.get(host_id)
            marked = self._mark(host_id, path, dirty=True) if method in _WRITES else None
            async with asyncio.timeout(timeout_s):
                answer = await call.answer
        except TimeoutError as err:
            raise _no_answer(call, path, timeout_s) from err
        finally:
            self._end(call_id)
        if answer is None and method in _WRITES and call.handed_out_at is not None:
            raise Unanswered(
                f"The page that held {shown(path)} was closed before it answered.",
                host_id=host_id,
                closed=True,
            )
        if answer is None and method == "save":
            raise WriteFailed(
                f"The page that held {shown(path)} was closed before it said that it has saved.",
                hint="Read the document again to see what is stored.",
            )
        if answer is None:
            # What a closed page had not saved is gone, so the file alone counts.
            raise PageGone(path, unsaved=False)
        if _is_error(answer) and marked is not None and self._hosts.get(host_id) is marked:
            self._hosts[host_id] = before  # refused: all is as it was
        value = _value_of(answer)
        dirty = False if method == "save" else value.get("dirty")
        if isinstance(dirty, bool):
            self._mark(host_id, path, dirty=dirty)
        return value

    async def _until_fetched(self, call: _Call, path: str) -> None:
        """Wake the page until it fetches the call; forget it when it does not.

        Raises:
            PageGone
        """
        waited_s = 0.0
        while waited_s < self._patience.fetch_s and call.host_id in self._hosts:
            self._wake(call.host_id)
            wait_s = min(self._patience.wake_s, self._patience.fetch_s - waited_s)
            try:
                async with asyncio.timeout(wait_s):
                    await call.fetched.wait()
            except TimeoutError:
                waited_s += wait_s
            else:
                return
        if not call.fetched.is_set():
            self._fall_silent(call.host_id)
            raise PageGone(path, unsaved=(call.host_id, path) in self._silent)

    # -- inside ----------------------------------------------------------------------------------

    def _documents(self, path: str) -> Iterator[tuple[HostId, HeldDocument]]:
        for host_id, body in self._hosts.items():
            for document in body.documents:
                if document.path == path:
                    yield host_id, document

    def _is_due(self, call: _Call, host_id: HostId, now: float) -> bool:
        if call.host_id != host_id or call.answer.done():
            return False
        return call.handed_out_at is None or now - call.handed_out_at >= self._patience.again_s

    def _mark(self, host_id: HostId, path: str, *, dirty: bool) -> RegisterHost | None:
        """Note what a call does to the page's copy: it may fall silent before it registers."""
        body = self._hosts.get(host_id)
        if body is None:
            return None
        documents = tuple(
            document.model_copy(update={"dirty": dirty}) if document.path == path else document
            for document in body.documents
        )
        self._hosts[host_id] = body.model_copy(update={"documents": documents})
        return self._hosts[host_id]

    def _fall_silent(self, host_id: HostId) -> None:
        """Forget a page, but not that it holds unsaved changes."""
        body = self._hosts.pop(host_id, None)
        for document in body.documents if body else ():
            if document.dirty:
                self._silent[host_id, document.path] = None
        while len(self._silent) > _LIMIT_SILENT:
            self._silent.popitem(last=False)

    def _wake_silent(self, path: str) -> bool:
        """Wake the pages that fell silent with unsaved changes of it; True when there are any.

        One that hears it fetches its calls, learns that it is not known, and registers again.
        """
        silent = [host_id for host_id, silent_path in self._silent if silent_path == path]
        for host_id in silent if self.has_unsaved(path) else ():
            self._wake(host_id)
        return bool(silent) and self.has_unsaved(path)

    def _forget_silence(self, host_id: HostId, opened: set[str]) -> None:
        for key in [key for key in self._silent if key[0] == host_id or key[1] in opened]:
            del self._silent[key]

    def _drop_calls(self, host_id: HostId) -> None:
        """Nobody will answer these: let those who wait know at once."""
        for call in self._calls.values():
            if call.host_id == host_id and not call.answer.done():
                call.answer.set_result(None)
                call.fetched.set()

    def _end(self, call_id: CallId) -> None:
        call = self._calls.pop(call_id)
        self._ended[call_id] = call.host_id
        while len(self._ended) > _LIMIT_ENDED:
            self._ended.popitem(last=False)


def _tabs(count: int) -> str:
    return "two tabs" if count == 2 else f"{count} tabs"


def _no_answer(call: _Call, path: str, timeout_s: float) -> Unanswered:
    waited = f"The page that holds {shown(path)} did not answer in {timeout_s:g} s"
    if call.call.method in _READS:
        return Unanswered(f"{waited}; nothing was read.", host_id=call.host_id, hint="Try again.")
    return Unanswered(
        f"{waited}. Whether it made the change is unknown.",
        host_id=call.host_id,
        hint="Read the document again before any other edit.",
    )


def _is_error(answer: HostAnswer) -> bool:
    return answer.error_code is not None or answer.error is not None


def _value_of(answer: HostAnswer) -> JsonObject:
    if not _is_error(answer):
        return answer.value or {}
    error = _ERRORS.get(answer.error_code or "", ToolError)
    raise error(answer.error or "The page could not do this and did not say why.")
