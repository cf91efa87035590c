"""The deadline of a call stands still while the call asks the user, and counts otherwise."""

from __future__ import annotations

import asyncio

import pytest

from vitto_jupyter.agent.deadlines import Deadline
from vitto_jupyter.errors import DeadlineExceeded


async def test_what_takes_too_long_is_cancelled() -> None:
    with pytest.raises(DeadlineExceeded, match="it was looking"):
        await Deadline().within(0.01, asyncio.Event().wait(), "it was looking")


async def test_a_timeout_of_the_work_itself_is_not_the_deadline() -> None:
    async def work() -> None:
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        await Deadline().within(10, work(), "")


async def test_time_counts_again_after_the_last_of_two_questions() -> None:
    deadline = Deadline()
    first, second = asyncio.Event(), asyncio.Event()
    steps: list[str] = []

    async def ask(until: asyncio.Event) -> None:
        with deadline.paused():
            await until.wait()

    async def work() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(ask(first))
            group.create_task(ask(second))
        steps.append("asked")
        await asyncio.Event().wait()

    call = asyncio.create_task(deadline.within(0.1, work(), "it was at work"))
    await asyncio.sleep(0)
    first.set()
    done, _ = await asyncio.wait({call}, timeout=0.3)
    assert not done
    second.set()
    with pytest.raises(DeadlineExceeded):
        await call
    assert steps == ["asked"]


async def test_a_question_may_end_after_the_call() -> None:
    deadline = Deadline()
    answered = asyncio.Event()

    async def ask() -> None:
        with deadline.paused():
            await answered.wait()

    async def work() -> asyncio.Task[None]:
        task = asyncio.create_task(ask())
        await asyncio.sleep(0)
        return task

    asking = await deadline.within(10, work(), "")
    answered.set()
    await asking
    with pytest.raises(DeadlineExceeded):
        await deadline.within(0.01, asyncio.Event().wait(), "later")
