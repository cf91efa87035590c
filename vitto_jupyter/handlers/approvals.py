"""sessions/{id}/approvals/{approval_id}: the user's answer to a question."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado.web import authenticated

from ..protocol.approval import Decision
from .base import VittoHandler


class ApprovalHandler(VittoHandler):
    @authenticated
    @authorized
    async def put(self, session_id: str, approval_id: str) -> None:
        decision = self.parse(Decision)
        await self.services.sessions.decide(self.id(session_id), self.id(approval_id), decision)
        self.finish({})
