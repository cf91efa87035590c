"""sessions/{id}/events: the event stream; first what the trail holds, then live."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado.web import authenticated

from ..errors import BadRequest
from ..services.event_hub import Subscription
from . import sse
from .base import VittoHandler


class EventsHandler(VittoHandler):
    """`after=N` or Last-Event-ID say where to start; with `idle=close` the stream ends once
    all is sent and no turn runs, so that an idle page holds no connection."""

    @authenticated
    @authorized
    async def get(self, session_id: str) -> None:
        after = self._last_event_id() or self.number("after", 0)
        close_when_idle = self._closes_when_idle()
        sessions = self.services.sessions
        async with sessions.events(self.id(session_id), after=after) as subscription:
            await self._follow(subscription, close_when_idle=close_when_idle)

    async def _follow(self, subscription: Subscription, *, close_when_idle: bool) -> None:
        stream = sse.EventStream(self)
        await stream.flush()
        while not stream.gone and not (close_when_idle and subscription.idle):
            batch = await subscription.next(timeout_s=sse.HEARTBEAT_S)
            for written in batch:
                await stream.send(written.line, event=written.type, id=written.seq)
            if batch:
                await stream.flush()
            elif subscription.closed:
                return
            elif not subscription.idle or not close_when_idle:
                await stream.comment()

    def _last_event_id(self) -> int:
        """What a reconnecting EventSource says; 0 when it says nothing usable."""
        text = self.request.headers.get("Last-Event-ID", "")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0

    def _closes_when_idle(self) -> bool:
        idle = self.query("idle", "keep")
        if idle not in ("keep", "close"):
            raise BadRequest("idle must be keep or close.")
        return idle == "close"
