"""context: the workspace as the agent would see it."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado.web import authenticated

from ..tools.context import workspace_context
from ..workspace.paths import api_path
from .base import VittoHandler


class ContextHandler(VittoHandler):
    @authenticated
    @authorized
    async def get(self) -> None:
        path = self.query("path")
        checked = api_path(path) if path else None
        bench = await self.services.workbench()
        self.reply(200, await workspace_context(bench.workspace, checked))
