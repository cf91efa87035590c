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
    DeadlineExceeded,
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
from ..workspace.pages import PageGone
from ..workspace.paths import shown

LIMIT_HOSTS = 50
LIMIT_CALLS = 200
LIMIT_DIAGNOSTICS = 500
_LIMIT_ENDED = 1000
_LIMIT_SILENT = 500
_SILENT_KEPT_S = 600.0

_ERRORS: dict[str, type[ToolError]] = {
    "edit_conflict": EditConflict,
    "not_found": DocumentNotFound,
    "write_failed": WriteFailed,
    "not_text": NotText,
}
_READS = frozenset({"read_text", "read_notebook"})


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
        self._silent: OrderedDict[tuple[HostId, str], float] = OrderedDict()
        self._listeners: list[Callable[[], None]] = []

    def listen(self, changed: Callable[[], None]) -> None:
        """Have `changed` called after each page that says what it holds, or that it closes."""
        self._listeners.append(changed)

    # -- what pages say --------------------------------------------------------------------------

    def register(self, host_id: HostId, body: RegisterHost) -> None:
        """All that the page holds now; replaces what it said before."""
        self._forget_silence(host_id)
        self._hosts.pop(host_id, None)
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
        """The one page that acts on the document: where it is active, else the latest to register.

        With several pages on one document each has its own copy; the others must not act.
        """
        held = [(host_id, document) for host_id, document in self._documents(path)]
        active = [host_id for host_id, document in held if document.active]
        return active[-1] if active else held[-1][0] if held else None

    def has_unsaved(self, path: str) -> bool:
        """Whether a page that fell silent a short time ago holds unsaved changes of it."""
        now = self._clock.monotonic()
        while self._silent and next(iter(self._silent.values())) <= now:
            self._silent.popitem(last=False)
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
        self, path: str, method: str, params: JsonObject, *, timeout_s: float
    ) -> JsonObject:
        """Ask the holder of `path`; see HostCaller for what is raised."""
        host_id = self.holder(path)
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
            async with asyncio.timeout(timeout_s):
                answer = await call.answer
        except TimeoutError as err:
            raise _no_answer(path, method, timeout_s) from err
        finally:
            self._end(call_id)
        if answer is None and method == "save":
            raise WriteFailed(
                f"The page that held {shown(path)} was closed before it said that it has saved.",
                hint="Read the document again to see what is stored.",
            )
        if answer is None:
            # What a closed page had not saved is gone, so the file alone counts.
            raise PageGone(path, unsaved=False)
        return _value_of(answer)

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

    def _fall_silent(self, host_id: HostId) -> None:
        """Forget a page, but for a while not that it holds unsaved changes."""
        body = self._hosts.pop(host_id, None)
        until = self._clock.monotonic() + _SILENT_KEPT_S
        for document in body.documents if body else ():
            if document.dirty:
                self._silent[host_id, document.path] = until
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

    def _forget_silence(self, host_id: HostId) -> None:
        for key in [key for key in self._silent if key[0] == host_id]:
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


def _no_answer(path: str, method: str, timeout_s: float) -> DeadlineExceeded:
    waited = f"The page that holds {shown(path)} did not answer in {timeout_s:g} s"
    if method in _READS:
        return DeadlineExceeded(f"{waited}; nothing was read.", hint="Try again.")
    return DeadlineExceeded(
        f"{waited}. Whether it made the change is unknown.",
        hint="Read the document again before any other edit.",
    )


def _value_of(answer: HostAnswer) -> JsonObject:
    if answer.error_code is None and answer.error is None:
        return answer.value or {}
    error = _ERRORS.get(answer.error_code or "", ToolError)
    raise error(answer.error or "The page could not do this and did not say why.")
