"""providers: what there is to choose, and what a new turn would use."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado.web import authenticated

from ..services.provider_choice import Wish
from .base import VittoHandler


class ProvidersHandler(VittoHandler):
    """With `session_id=` the choice is that session's."""

    @authenticated
    @authorized
    async def get(self) -> None:
        session_id = self.query("session_id")
        wish = await self.services.sessions.wish(self.id(session_id)) if session_id else Wish()
        self.reply(200, await self.services.choice.overview(wish))
