"""Work that must not be cut in half."""

from __future__ import annotations

import asyncio

import pytest

from vitto_jupyter.agent.completion import to_completion


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
