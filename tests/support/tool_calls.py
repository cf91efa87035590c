"""Calls tools the way the agent does, without policy and approval: parse, propose, apply."""

from __future__ import annotations

from typing import Any

from vitto_jupyter.errors import ToolError
from vitto_jupyter.protocol.tool import ToolResult
from vitto_jupyter.settings import Settings
from vitto_jupyter.tools.base import Grant, Proposal, ToolContext, failed
from vitto_jupyter.tools.seen import Seen
from vitto_jupyter.tools.toolset import builtin_toolset
from vitto_jupyter.workspace.base import Workspace

TOOLSET = builtin_toolset()


class ToolCalls:
    """One session's calls over a workspace. `said` collects the live output."""

    def __init__(
        self,
        workspace: Workspace,
        *,
        notebook_path: str | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.toolset = TOOLSET
        self.said: list[str] = []
        self.seen = Seen()
        self.ctx = ToolContext(
            workspace=workspace,
            settings=settings or Settings(),
            notebook_path=notebook_path,
            progress=self._progress,
            seen=self.seen,
        )

    async def _progress(self, text: str) -> None:
        self.said.append(text)

    async def propose(self, name: str, **input: Any) -> Proposal:
        tool, args = self.toolset.parse(name, input)
        return await tool.propose(self.ctx, args)

    async def call(self, name: str, *, edited: str | None = None, **input: Any) -> ToolResult:
        try:
            proposal = await self.propose(name, **input)
            return await proposal.apply(Grant(by_user=True, edited=edited))
        except ToolError as err:
            return failed(f"{err.message} {err.hint}".strip(), code=err.code)

    async def apply(self, proposal: Proposal, edited: str | None = None) -> ToolResult:
        try:
            return await proposal.apply(Grant(by_user=True, edited=edited))
        except ToolError as err:
            return failed(f"{err.message} {err.hint}".strip(), code=err.code)
