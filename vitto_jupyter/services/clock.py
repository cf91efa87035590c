"""The real clock. Built by app.py; tests bring their own."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta


class SystemClock:
    """The `Clock` of agent/ports.py, by the machine's clocks."""

    def now_iso(self, *, after_s: float = 0.0) -> str:
        at = datetime.now(UTC) + timedelta(seconds=after_s)
        return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
