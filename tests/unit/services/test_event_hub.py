"""The hub: written before shown, joined only while a write is in flight, nothing lost."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from vitto_jupyter.errors import Conflict, StorageFailed
from vitto_jupyter.protocol.context import TurnContext
from vitto_jupyter.protocol.events import (
    EVENT,
    Notice,
    TextDelta,
    ThinkingDelta,
    ToolProgress,
    TurnFinished,
    TurnStarted,
)
from vitto_jupyter.services import event_hub
from vitto_jupyter.services.clock import SystemClock
from vitto_jupyter.services.event_hub import EventHub, Subscription
from vitto_jupyter.services.trails import Trail, Written

STARTED = TurnStarted(prompt="p", mode="ask", context=TurnContext(), provider="", model="")


class SlowTrail(Trail):
    """A trail whose writes wait for `go`; `full` makes them fail."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.go = threading.Event()
        self.go.set()
        self.full = False
        self.refused = 0
        self.batches: list[list[str]] = []

    def append(self, batch: Sequence[Written]) -> None:
        assert self.go.wait(10)
        if self.full:
            self.refused += 1
            raise StorageFailed("No space left on device.")
        self.batches.append([event.type for event in batch])
        super().append(batch)


@pytest.fixture
def trail(tmp_path: Path) -> SlowTrail:
    trail = SlowTrail(tmp_path)
    trail.open("ses_1", "2026-11-30T09:00:00.000Z")
    return trail


@pytest.fixture
def woken() -> list[None]:
    return []


@pytest.fixture
def hub(trail: SlowTrail, woken: list[None]) -> EventHub:
    return EventHub(
        session_id="ses_1", trail=trail, clock=SystemClock(), wake=lambda: woken.append(None)
    )


async def read(subscription: Subscription, count: int) -> list:
    events: list = []
    async with asyncio.timeout(10):
        while len(events) < count:
            batch = await subscription.next(timeout_s=10)
            events.extend(EVENT.validate_json(written.line) for written in batch)
    return events


def notice(text: str) -> Notice:
    return Notice(level="info", code="n", text=text)


async def test_an_event_is_on_disk_before_a_subscriber_sees_it(hub, trail) -> None:
    with hub.subscribe(after=0) as subscription:
        trail.go.clear()
        emitting = asyncio.create_task(hub.emit(notice("a"), turn_id=None))
        assert await subscription.next(timeout_s=0.05) == ()
        trail.go.set()
        await emitting
        (seen,) = await subscription.next(timeout_s=10)
        assert trail.read(after=0) == (seen,)


async def test_deltas_are_joined_only_while_a_write_is_in_flight(hub, trail) -> None:
    with hub.subscribe(after=0) as subscription:
        await hub.emit(TextDelta(text="first"), turn_id="trn_1")
        assert [e.text for e in await read(subscription, 1)] == ["first"]
        trail.go.clear()
        await hub.emit(TextDelta(text="a"), turn_id="trn_1")
        await asyncio.sleep(0)  # the writer takes it
        for piece in "bcd":
            await hub.emit(TextDelta(text=piece), turn_id="trn_1")
        trail.go.set()
        assert [e.text for e in await read(subscription, 2)] == ["a", "bcd"]


async def test_joining_keeps_order_and_kinds_apart(hub, trail) -> None:
    trail.go.clear()
    for event in (
        notice("0"),
        ThinkingDelta(text="t"),
        TextDelta(text="a"),
        TextDelta(text="b"),
        ToolProgress(tool_call_id="call_1", text="x"),
        ToolProgress(tool_call_id="call_2", text="y"),
        ToolProgress(tool_call_id="call_2", text="z"),
    ):
        asyncio.get_running_loop().create_task(hub.emit(event, turn_id="trn_1"))
    last = asyncio.create_task(hub.emit(notice("end"), turn_id="trn_1"))
    await asyncio.sleep(0)
    trail.go.set()
    await last
    with hub.subscribe(after=0) as subscription:
        events = await read(subscription, 6)
    assert [event.text for event in events] == ["0", "t", "ab", "x", "yz", "end"]
    assert [event.seq for event in events] == [1, 2, 3, 4, 5, 6]


async def test_an_event_is_stamped_with_number_turn_and_time(hub) -> None:
    await hub.emit(notice("a"), turn_id="trn_1")
    with hub.subscribe(after=0) as subscription:
        (event,) = await read(subscription, 1)
    assert (event.seq, event.session_id, event.turn_id) == (1, "ses_1", "trn_1")
    assert event.at.endswith("Z")


async def test_a_subscriber_far_behind_reads_from_the_trail(hub, monkeypatch) -> None:
    monkeypatch.setattr(event_hub, "RING_BYTES", 2000)
    for number in range(1200):
        await hub.emit(notice(str(number)), turn_id=None)
    assert hub.recent(after=0) is None
    with hub.subscribe(after=100) as subscription:
        events = await read(subscription, 1100)
    assert [event.text for event in events] == [str(number) for number in range(100, 1200)]


async def test_two_subscribers_see_the_same(hub) -> None:
    with hub.subscribe(after=0) as one, hub.subscribe(after=0) as other:
        reading = asyncio.gather(read(one, 20), read(other, 20))
        for number in range(20):
            await hub.emit(notice(str(number)), turn_id=None)
        first, second = await reading
    assert first == second


async def test_a_full_disk_is_told_and_nothing_unsaved_is_shown(hub, trail) -> None:
    await hub.emit(notice("kept"), turn_id=None)
    trail.full = True
    with pytest.raises(StorageFailed):
        await hub.emit(notice("lost"), turn_id=None)
    trail.full = False
    await hub.emit(notice("works again"), turn_id=None)
    with hub.subscribe(after=0) as subscription:
        assert [e.text for e in await read(subscription, 2)] == ["kept", "works again"]


async def test_a_delta_that_could_not_be_saved_is_told_at_the_next_call(hub, trail) -> None:
    trail.full = True
    await hub.emit(TextDelta(text="lost"), turn_id="trn_1")
    async with asyncio.timeout(10):
        while not trail.refused:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    trail.full = False
    with pytest.raises(StorageFailed):
        await hub.emit(notice("not tried"), turn_id="trn_1")
    await hub.emit(notice("works again"), turn_id="trn_1")


async def test_whatever_goes_wrong_while_writing_nobody_waits_for_ever(
    hub, trail, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(event_hub, "encode", lambda event: 1 / 0)
        async with asyncio.timeout(5):
            with pytest.raises(StorageFailed):
                await hub.emit(notice("a"), turn_id=None)
    await hub.emit(notice("b"), turn_id=None)
    assert trail.batches == [["notice"]]


async def test_a_reader_behind_ends_when_the_session_is_deleted(hub, trail, tmp_path) -> None:
    for number in range(3):
        await hub.emit(notice(f"{number}" * 1000), turn_id=None)
    with hub.subscribe(after=0) as subscription:
        hub._ring.clear()
        hub._ring_bytes = 0
        await hub.close()
        (tmp_path / "trail.jsonl").unlink()
        assert await subscription.next(timeout_s=5) == ()
        assert subscription.closed


async def test_a_closed_hub_takes_nothing_more(hub, trail) -> None:
    await hub.close()
    for event in (notice("a"), TextDelta(text="b")):
        with pytest.raises(StorageFailed):
            await hub.emit(event, turn_id=None)
    assert trail.batches == []


async def test_a_cancelled_emit_is_written_all_the_same(hub, trail) -> None:
    trail.go.clear()
    emitting = asyncio.create_task(hub.emit(notice("a"), turn_id=None))
    await asyncio.sleep(0)
    emitting.cancel()
    await asyncio.sleep(0)
    trail.go.set()
    await hub.emit(notice("b"), turn_id=None)
    with hub.subscribe(after=0) as subscription:
        assert [e.text for e in await read(subscription, 2)] == ["a", "b"]


async def test_a_subscription_is_idle_when_all_is_read_and_no_turn_runs(hub) -> None:
    with hub.subscribe(after=0) as subscription:
        assert subscription.idle
        await hub.emit(STARTED, turn_id="trn_1")
        await read(subscription, 1)
        assert not subscription.idle
        await hub.emit(TurnFinished(reason="done"), turn_id="trn_1")
        assert not subscription.idle
        await read(subscription, 1)
        assert subscription.idle


async def test_idle_pages_are_woken_by_what_they_care_about(hub, woken) -> None:
    await hub.emit(notice("a"), turn_id=None)
    assert woken == []
    await hub.emit(STARTED, turn_id="trn_1")
    assert woken == [None]


async def test_closing_ends_subscriptions(hub) -> None:
    with hub.subscribe(after=0) as subscription:
        waiting = asyncio.create_task(subscription.next(timeout_s=60))
        await asyncio.sleep(0)
        await hub.close()
        assert await asyncio.wait_for(waiting, 10) == ()
        assert subscription.closed


async def test_a_number_beyond_the_end_is_refused(hub) -> None:
    with pytest.raises(Conflict, match="fewer"):
        hub.subscribe(after=1)
