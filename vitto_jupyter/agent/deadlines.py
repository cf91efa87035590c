"""The deadline of one tool call. Imported by the agent only."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from ..errors import DeadlineExceeded

T = TypeVar("T")


class Deadline:
    """Limits what a call does, one thing after the other; stands still while it asks the user."""

    def __init__(self) -> None:
        self._scope: asyncio.Timeout | None = None
        self._paused: asyncio.Timeout | None = None
        self._left_s = 0.0
        self._asking = 0

    async def within(self, seconds: float, work: Awaitable[T], what: str) -> T:
        """Await `work`, cancelled after `seconds`.

        Raises:
            DeadlineExceeded: it took longer; says what the call was doing.
        """
        scope = asyncio.timeout(seconds)
        try:
            async with scope:
                self._scope = scope
                return await work
        except TimeoutError as err:
            if not scope.expired():
                raise
            raise DeadlineExceeded(
                f"Stopped after {seconds:g} s: {what} and had not ended.",
                hint="What it did so far stays done; look at what is there before you repeat it.",
            ) from err
        finally:
            self._scope = None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """While the block runs, time does not count. It may go on after the call has ended."""
        if self._asking == 0:
            self._stop_clock()
        self._asking += 1
        try:
            yield
        finally:
            self._asking -= 1
            if self._asking == 0:
                self._start_clock()

    def _stop_clock(self) -> None:
        scope = self._scope
        ends_at = scope.when() if scope is not None and not scope.expired() else None
        if scope is not None and ends_at is not None:
            self._left_s = ends_at - asyncio.get_running_loop().time()
            scope.reschedule(None)
            self._paused = scope

    def _start_clock(self) -> None:
        if self._paused is not None and self._paused is self._scope:
            self._paused.reschedule(asyncio.get_running_loop().time() + self._left_s)
        self._paused = None
