"""Server-sent events over one HTTP response."""

from __future__ import annotations

import asyncio

from tornado.iostream import StreamClosedError
from tornado.web import RequestHandler

HEARTBEAT_S = 15.0
CHUNK_BYTES = 32 * 1024


class EventStream:
    """Writes messages to a handler's response; `gone` once the client has left."""

    def __init__(self, handler: RequestHandler) -> None:
        self._handler = handler
        self._waiting_bytes = 0
        self.gone = False
        handler.set_header("Content-Type", "text/event-stream")
        handler.set_header("Cache-Control", "no-cache")
        handler.set_header("X-Accel-Buffering", "no")

    async def send(self, data: bytes, *, event: str, id: int | None = None) -> None:
        """One message; `data` is one line. Goes out with the next `flush`, or before."""
        head = f"id: {id}\n" if id is not None else ""
        message = f"{head}event: {event}\ndata: ".encode() + data + b"\n\n"
        self._handler.write(message)
        self._waiting_bytes += len(message)
        if self._waiting_bytes >= CHUNK_BYTES:
            await self.flush()

    async def comment(self) -> None:
        """Says that the connection is alive; proxies cut silent ones."""
        self._handler.write(": alive\n\n")
        await self.flush()

    async def flush(self) -> None:
        """Send what waits now."""
        self._waiting_bytes = 0
        try:
            await self._handler.flush()
        except StreamClosedError:
            self.gone = True
        # flushing alone does not yield while the socket has room: others must have their turn
        await asyncio.sleep(0)
