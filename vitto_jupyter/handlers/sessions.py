"""sessions: list and create; sessions/{id}: look, rename, delete; stopping its turn."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado.web import authenticated

from ..protocol.requests import CreateSession, PatchSession, SessionCreatedReply
from .base import VittoHandler


class SessionsHandler(VittoHandler):
    @authenticated
    @authorized
    async def get(self) -> None:
        sessions = await self.services.sessions.list()
        self.finish(f"[{','.join(session.model_dump_json() for session in sessions)}]")

    @authenticated
    @authorized
    async def post(self) -> None:
        session = await self.services.sessions.create(self.parse(CreateSession))
        self.reply(201, SessionCreatedReply(session_id=session.session_id))


class SessionHandler(VittoHandler):
    @authenticated
    @authorized
    async def get(self, session_id: str) -> None:
        self.reply(200, await self.services.sessions.get(self.id(session_id)))

    @authenticated
    @authorized
    async def patch(self, session_id: str) -> None:
        body = self.parse(PatchSession)
        self.reply(200, await self.services.sessions.rename(self.id(session_id), body.title))

    @authenticated
    @authorized
    async def delete(self, session_id: str) -> None:
        await self.services.sessions.delete(self.id(session_id))
        self.reply(204)
