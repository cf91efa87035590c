"""sessions/{id}/questions/{question_id}: the user's answer to a question of a call or a cell."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado.web import authenticated

from ..protocol.requests import AnswerQuestion
from .base import VittoHandler


class QuestionHandler(VittoHandler):
    @authenticated
    @authorized
    async def put(self, session_id: str, question_id: str) -> None:
        body = self.parse(AnswerQuestion)
        await self.services.sessions.answer(self.id(session_id), self.id(question_id), body.answer)
        self.finish({})
