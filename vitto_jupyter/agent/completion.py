"""Waiting for work: what must not be cut in half, and what runs side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def to_completion(work: Coroutine[Any, Any, T]) -> T:
    """Await `work` to its end, however often the caller is cancelled meanwhile.

    Raises:
        asyncio.CancelledError: the caller was cancelled; `work` has ended, well or not.
        Exception: what `work` raised, when the caller was not cancelled.
    """
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as err:
            cancelled = err
    if cancelled is not None:
        raise cancelled from (None if task.cancelled() else task.exception())
    return task.result()


async def side_by_side(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run all in tasks of their own; none is left running when this returns or raises.

    Not a TaskGroup: on Python 3.11 a failing child leaves the parent marked as cancelled.

    Raises:
        asyncio.CancelledError: the caller was cancelled, even when a work swallowed that.
        Exception: the first failure in order; the others were cancelled then.
    """
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        failures = await to_completion(_cancelled(tasks))
    if failures:
        raise failures[0]


async def _cancelled(tasks: list[asyncio.Task[None]]) -> list[BaseException]:
    """Cancel what still runs and wait for it; what failed, in order."""
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    failures = [task.exception() for task in tasks if not task.cancelled()]
    return [failure for failure in failures if failure is not None]
