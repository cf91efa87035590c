"""Whatever is below vitto/api/ and is no route."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado.web import authenticated

from ..errors import NotFound
from .base import VittoHandler


class MissingHandler(VittoHandler):
    @authenticated
    @authorized("read")
    async def get(self, rest: str) -> None:
        raise NotFound("There is nothing at this address.")

    post = put = patch = delete = head = get
