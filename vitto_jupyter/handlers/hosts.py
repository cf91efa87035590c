"""hosts: a front end says what it holds, fetches what it is asked to do there, and answers."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado.web import authenticated

from ..protocol.base import CallId, HostId
from ..protocol.requests import HostAnswer, RegisterHost
from .base import VittoHandler


class HostHandler(VittoHandler):
    @authenticated
    @authorized
    async def put(self, host_id: str) -> None:
        self.services.hosts.register(HostId(self.id(host_id)), self.parse(RegisterHost))
        self.reply(204)


class HostCallsHandler(VittoHandler):
    # fetching calls is polling by a page, not a person at work
    _track_activity = False

    @authenticated
    @authorized
    async def get(self, host_id: str) -> None:
        self.reply(200, self.services.hosts.calls(HostId(self.id(host_id))))


class HostCallHandler(VittoHandler):
    @authenticated
    @authorized
    async def put(self, host_id: str, call_id: str) -> None:
        answer = self.parse(HostAnswer)
        self.services.hosts.answer(HostId(self.id(host_id)), CallId(self.id(call_id)), answer)
        self.reply(204)
