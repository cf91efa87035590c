"""Waiting for work that must not be cut in half, such as a write to the conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
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
