"""Tools that a client runs: its part of a turn's toolset, and the results it posts back.

Built by app.py; used by the one-shot door (`POST agent-session`). The server does nothing
for such a call but wait: whether to act is between the client and its user. Plan mode still
refuses what is no read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from pydantic import ConfigDict

from ..errors import BadRequest, Conflict, NotFound
from ..policy.facts import Facts
from ..protocol.base import JsonObject, Wire
from ..protocol.events import Mode
from ..protocol.requests import AgentToolResult, ClientTool
from ..protocol.tool import Effect, ToolResult
from ..tools.base import Grant, Proposal, Tool, ToolContext, failed
from ..tools.toolset import Toolset

EMPTY_SCHEMA: JsonObject = {"type": "object", "properties": {}}


class AnyInput(Wire):
    """The input of a client's own tool; the client checks it."""

    model_config = ConfigDict(extra="allow")


class ClientCalls:
    """The calls of one turn that its client runs.

    Args:
        timeout_s: How long the client may take for one call.
    """

    def __init__(self, *, timeout_s: float, mode: Mode) -> None:
        self._timeout_s = timeout_s
        self._mode = mode
        self._results: dict[str, asyncio.Future[ToolResult]] = {}

    def answer(self, tool_call_id: str, result: ToolResult) -> None:
        """Take the client's result; the same one again is fine.

        Raises:
            NotFound: no such call waits for this client.
            Conflict: it has another result already, or is over.
        """
        waiting = self._results.get(tool_call_id)
        if waiting is None:
            raise NotFound("No such call waits for a result.", code="call_not_found")
        if not waiting.done():
            waiting.set_result(result)
        elif waiting.cancelled() or waiting.result() != result:
            raise Conflict("This call is over already.", code="already_answered")

    def taken_over(self, tool: Tool) -> Tool:
        """A tool of the server, run by the client instead."""
        return replace(tool, propose=self._proposing(tool.effect), stream_input=False)

    def own(self, entry: ClientTool) -> Tool:
        """A tool that only the client has; what it may do is not known here."""
        return Tool(
            name=entry.name,
            description=entry.description,
            effect="execute",
            input_model=AnyInput,
            propose=self._proposing("execute"),
        )

    def _proposing(self, effect: Effect) -> Callable[[ToolContext, Wire], Awaitable[Proposal]]:
        async def propose(ctx: ToolContext, args: Wire) -> Proposal:
            # known before the call is shown: the client may answer at once
            call_id = ctx.tool_call_id
            self._results[call_id] = asyncio.get_running_loop().create_future()

            async def apply(grant: Grant) -> ToolResult:
                return await self._wait(call_id)

            judged: Effect = effect if self._mode == "plan" else "read"
            return Proposal(facts=Facts(effect=judged), apply=apply)

        return propose

    async def _wait(self, tool_call_id: str) -> ToolResult:
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._results[tool_call_id]
        except TimeoutError:
            return failed(
                f"The client did not answer within {self._timeout_s:g} s. "
                "Whether it ran the call is unknown."
            )


class ClientTools:
    """The client's calls by session; a session has one client at a time."""

    def __init__(self, *, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._calls: dict[str, ClientCalls] = {}

    def prepare(
        self, *, wanted: Sequence[str | ClientTool], server: Toolset, mode: Mode
    ) -> tuple[ClientCalls, Toolset]:
        """The toolset of a turn: the server's tools, with those in `wanted` run by the client.

        Raises:
            BadRequest: a name alone that the server has no tool for.
        """
        calls = ClientCalls(timeout_s=self._timeout_s, mode=mode)
        return calls, client_toolset(calls, wanted=wanted, server=server)

    def attach(self, session_id: str, calls: ClientCalls) -> None:
        """The turn has started: results for the session are for these calls."""
        self._calls[session_id] = calls

    def end(self, session_id: str) -> None:
        """The turn is over; late results are refused."""
        self._calls.pop(session_id, None)

    def answer(self, session_id: str, body: AgentToolResult) -> None:
        """Take a result. Raises NotFound, Conflict; see ClientCalls.answer."""
        calls = self._calls.get(session_id)
        if calls is None:
            raise NotFound("No call of this session waits for a client.", code="call_not_found")
        calls.answer(body.tool_use_id, result_of(body))


def client_toolset(
    calls: ClientCalls, *, wanted: Sequence[str | ClientTool], server: Toolset
) -> Toolset:
    """The server's tools in their order, then the client's own ones."""
    taken = {entry if isinstance(entry, str) else entry.name for entry in wanted}
    own = [entry for entry in wanted if isinstance(entry, ClientTool)]
    unknown = [e for e in wanted if isinstance(e, str) and server.find(e) is None]
    if unknown:
        raise BadRequest(
            f"There is no tool {unknown[0]!r} to take over.",
            code="unknown_tool",
            hint="Describe your own tools in full: name, description and input_schema.",
        )
    if len(taken) < len(wanted):
        raise BadRequest("Two of the tools have the same name.")
    replaced = {entry.name for entry in own}
    ours = [server.find(spec.name) for spec in server.specs if spec.name not in replaced]
    tools = [calls.taken_over(t) if t.name in taken else t for t in ours if t is not None]
    toolset = Toolset([*tools, *(calls.own(entry) for entry in own)])
    schemas = {entry.name: entry.input_schema or EMPTY_SCHEMA for entry in own}
    toolset.specs = tuple(
        replace(spec, input_schema=schemas.get(spec.name, spec.input_schema))
        for spec in toolset.specs
    )
    return toolset


def result_of(body: AgentToolResult) -> ToolResult:
    if body.error is not None:
        output = body.result if isinstance(body.result, str) else ""
        return failed(body.error, output=output)
    if isinstance(body.result, ToolResult):
        return body.result
    return ToolResult(success=True, output=body.result or "")
