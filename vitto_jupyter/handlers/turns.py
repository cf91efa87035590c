"""sessions/{id}/turns starts a turn; sessions/{id}/cancel stops the agent."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado.web import authenticated

from ..protocol.requests import StartTurn, TurnStartedReply
from .base import VittoHandler


class TurnsHandler(VittoHandler):
    @authenticated
    @authorized
    async def post(self, session_id: str) -> None:
        body = self.parse(StartTurn)
        turn_id = await self.services.sessions.start_turn(self.id(session_id), body)
        self.reply(202, TurnStartedReply(turn_id=turn_id))


class CancelHandler(VittoHandler):
    @authenticated
    @authorized
    async def post(self, session_id: str) -> None:
        self.reply(200, await self.services.sessions.cancel(self.id(session_id)))
