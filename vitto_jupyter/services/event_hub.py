"""The event hub of one session: numbers events, writes them, then shows them. Owned by sessions.

While a write is in flight, deltas of the same kind are joined; what has gathered is stamped
and written as one batch. An idle stream never waits: there is no timer. A subscriber holds a
number, not a queue: it reads from a ring of recent events, or from the trail when it is behind.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

from ..agent.ports import Clock
from ..errors import Conflict, StorageFailed
from ..protocol.events import Event, TextDelta, ThinkingDelta, ToolInputDelta, ToolProgress
from .trails import Trail, Written, encode

log = logging.getLogger(__name__)
JOINED_CHARS = 64 * 1024  # a reader that is slow holds one event, which must not grow
RING_BYTES = 4 * 1024 * 1024
WAKING = frozenset(
    (
        "turn.started",
        "turn.finished",
        "approval.requested",
        "question.asked",
        "question.closed",
        "run.detached",
        "run.finished",
        "session.renamed",
    )
)
PIECES = {
    TextDelta: "text",
    ThinkingDelta: "text",
    ToolProgress: "text",
    ToolInputDelta: "partial_json",
}


@dataclass(slots=True)
class _Pending:
    """An event, or joined pieces of one delta, that is not written yet."""

    event: Event
    turn_id: str | None
    pieces: list[str] = field(default_factory=list)
    chars: int = 0
    written: asyncio.Future[None] | None = None

    def joined(self) -> Event:
        if len(self.pieces) < 2:
            return self.event
        return self.event.model_copy(update={PIECES[type(self.event)]: "".join(self.pieces)})


class EventHub:
    """Events of one session. `wake` is called after something that idle pages want to know."""

    def __init__(
        self, *, session_id: str, trail: Trail, clock: Clock, wake: Callable[[], None]
    ) -> None:
        self._session_id = session_id
        self._trail = trail
        self._clock = clock
        self._wake = wake
        self._pending: list[_Pending] = []
        self._in_flight: list[_Pending] = []
        self._writer: asyncio.Task[None] | None = None
        self._failure: StorageFailed | None = None
        self._ring: deque[Written] = deque()
        self._ring_bytes = 0
        self._changed = asyncio.Event()
        self.last_seq = trail.last_seq
        self.running_turn_id: str | None = None
        self.subscribers = 0
        self.closed = False

    # -- writing ---------------------------------------------------------------------------

    async def emit(self, event: Event, *, turn_id: str | None) -> None:
        """Record `event`; see EventSink.

        Raises:
            StorageFailed: the trail could not be written; deltas report it at the next call. Or
                the session was closed meanwhile.
        """
        if self.closed:
            raise StorageFailed("This session was closed.", code="session_closed", hint="Reload.")
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        if type(event) in PIECES:
            self._add_piece(event, turn_id)
            self._start_writer()
            return
        written = asyncio.get_running_loop().create_future()
        self._pending.append(_Pending(event, turn_id, written=written))
        self._start_writer()
        await written

    def _add_piece(self, event: Event, turn_id: str | None) -> None:
        piece = getattr(event, PIECES[type(event)])
        last = self._pending[-1] if self._pending else None
        joins = last is not None and last.turn_id == turn_id and last.chars < JOINED_CHARS
        if last is not None and joins and _same_stream(last.event, event):
            last.pieces.append(piece)
            last.chars += len(piece)
        else:
            self._pending.append(_Pending(event, turn_id, [piece], len(piece)))

    def _start_writer(self) -> None:
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write_pending())
            self._writer.add_done_callback(self._writer_ended)

    async def _write_pending(self) -> None:
        while self._pending:
            taken = self._in_flight = self._pending
            self._pending = []
            batch = [self._stamp(item, self.last_seq + n) for n, item in enumerate(taken, start=1)]
            await asyncio.to_thread(self._trail.append, batch)
            self._in_flight = []
            self._show(batch, taken)

    def _writer_ended(self, writer: asyncio.Task[None]) -> None:
        """Whoever waits for an event that was not written must hear of it, whatever went wrong."""
        failure = None if writer.cancelled() else writer.exception()
        if failure is None:
            return
        if not isinstance(failure, StorageFailed):
            log.error("events were not written", exc_info=failure)
            failure = StorageFailed("Vitto failed while it recorded this.")
        lost = self._in_flight + self._pending
        self._in_flight, self._pending = [], []
        self._fail(lost, failure)

    def _stamp(self, item: _Pending, seq: int) -> Written:
        envelope = {
            "seq": seq,
            "session_id": self._session_id,
            "turn_id": item.turn_id,
            "at": self._clock.now_iso(),
        }
        event = item.joined().model_copy(update=envelope)
        kind = cast(str, getattr(event, "type"))  # noqa: B009 - every event has one
        return Written(seq=seq, type=kind, line=encode(event))

    def _fail(self, items: Sequence[_Pending], failure: StorageFailed) -> None:
        waiting = [i.written for i in items if i.written is not None and not i.written.done()]
        for written in waiting:
            written.set_exception(failure)
        if not waiting:
            self._failure = failure

    def _show(self, batch: Sequence[Written], taken: Sequence[_Pending]) -> None:
        for event, item in zip(batch, taken, strict=True):
            self._ring.append(event)
            self._ring_bytes += len(event.line)
            if event.type == "turn.started":
                self.running_turn_id = item.turn_id
            elif event.type == "turn.finished":
                self.running_turn_id = None
            if item.written is not None and not item.written.done():
                item.written.set_result(None)
        while self._ring_bytes > RING_BYTES and len(self._ring) > 1:
            self._ring_bytes -= len(self._ring.popleft().line)
        self.last_seq = batch[-1].seq
        self._notify()
        if any(event.type in WAKING for event in batch):
            self._wake()

    # -- reading ---------------------------------------------------------------------------

    def subscribe(self, *, after: int) -> Subscription:
        """Everything after number `after`, then what comes.

        Raises:
            Conflict: the trail is shorter than that (a damaged end was put aside).
        """
        if after > self.last_seq:
            raise Conflict(
                f"This session has {self.last_seq} events, fewer than {after}.",
                code="trail_shorter",
                hint="Load the session again from its start (after=0).",
            )
        return Subscription(self, after)

    def recent(self, *, after: int) -> tuple[Written, ...] | None:
        """What the ring holds after that number; None when it does not reach back so far."""
        if after >= self.last_seq:
            return ()
        first = self.last_seq - len(self._ring) + 1
        if after + 1 < first:
            return None
        ring = self._ring
        return tuple(ring[i] for i in range(after + 1 - first, len(ring)))

    async def behind(self, *, after: int) -> tuple[Written, ...]:
        return await asyncio.to_thread(self._trail.read, after=after)

    async def wait_changed(self, timeout_s: float) -> None:
        """Until something was shown or the hub closed; at most `timeout_s`."""
        changed = self._changed
        try:
            async with asyncio.timeout(timeout_s):
                await changed.wait()
        except TimeoutError:
            return

    async def close(self) -> None:
        """Write what waits, then end all subscriptions."""
        if self._writer is not None:
            await asyncio.wait({self._writer})
        self.closed = True
        self._notify()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class Subscription:
    """A reader's place in the events of a session. Use as `with hub.subscribe(after=n) as s`."""

    def __init__(self, hub: EventHub, after: int) -> None:
        self._hub = hub
        self._after = after

    def __enter__(self) -> Subscription:
        self._hub.subscribers += 1
        return self

    def __exit__(self, *exc: object) -> None:
        self._hub.subscribers -= 1

    @property
    def closed(self) -> bool:
        return self._hub.closed

    @property
    def idle(self) -> bool:
        """All has been read and no turn runs."""
        return self._after >= self._hub.last_seq and self._hub.running_turn_id is None

    async def next(self, *, timeout_s: float) -> tuple[Written, ...]:
        """The next events, in order; empty when none came in time or the hub closed."""
        if self._after >= self._hub.last_seq and not self._hub.closed:
            await self._hub.wait_changed(timeout_s)
        batch = self._hub.recent(after=self._after)
        if batch is None:
            batch = await self._behind()
        if batch:
            self._after = batch[-1].seq
        return batch

    async def _behind(self) -> tuple[Written, ...]:
        try:
            return await self._hub.behind(after=self._after)
        except FileNotFoundError:
            if self.closed:  # the session was deleted meanwhile
                return ()
            raise


def _same_stream(last: Event, event: Event) -> bool:
    """True when the pieces may be joined: same kind and same tool call."""
    return type(last) is type(event) and getattr(last, "tool_call_id", None) == getattr(
        event, "tool_call_id", None
    )
