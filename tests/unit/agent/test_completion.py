"""Work that must not be cut in half."""

from __future__ import annotations

import asyncio

import pytest

from vitto_jupyter.agent.completion import side_by_side, to_completion


async def test_result_of_the_work_is_returned() -> None:
    async def work() -> int:
        await asyncio.sleep(0)
        return 3

    assert await to_completion(work()) == 3


async def test_failure_of_the_work_is_raised() -> None:
    async def work() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await to_completion(work())


async def test_cancellations_wait_for_the_work_and_are_raised_then() -> None:
    gate, ended = asyncio.Event(), []

    async def work() -> None:
        await gate.wait()
        ended.append(True)

    task = asyncio.create_task(to_completion(work()))
    for _ in range(3):
        await asyncio.sleep(0)
        task.cancel()
    await asyncio.sleep(0)
    assert not task.done()
    gate.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == [True]


async def test_cancellation_outranks_a_failure_of_the_work() -> None:
    gate = asyncio.Event()

    async def work() -> None:
        await gate.wait()
        raise ValueError("no")

    task = asyncio.create_task(to_completion(work()))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    gate.set()
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    assert isinstance(caught.value.__cause__, ValueError)


# -- side by side --------------------------------------------------------------------------------


async def test_all_works_are_done_when_it_returns() -> None:
    ended = []

    async def work(name: str, rounds: int) -> None:
        for _ in range(rounds):
            await asyncio.sleep(0)
        ended.append(name)

    await side_by_side([work("slow", 9), work("fast", 1)])
    assert ended == ["fast", "slow"]


async def test_failure_cancels_the_others_and_leaves_the_caller_uncancelled() -> None:
    ended = []

    async def failing() -> None:
        await asyncio.sleep(0)
        raise ValueError("no")

    async def waiting() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("waiting")

    with pytest.raises(ValueError, match="no"):
        await side_by_side([waiting(), failing()])
    assert ended == ["waiting"]
    assert asyncio.current_task().cancelling() == 0


async def test_cancellation_is_raised_even_when_a_work_swallows_it() -> None:
    async def stubborn() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return

    async def failing_late() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError("no")

    task = asyncio.create_task(side_by_side([stubborn(), failing_late()]))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
