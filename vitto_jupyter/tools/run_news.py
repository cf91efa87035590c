"""What became of runs after their call: for the start of a turn, and for read_output."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from ..errors import DocumentNotFound
from ..protocol.tool import ToolResult
from ..workspace.base import Workspace
from .base import ToolContext
from .run_view import run_result


async def run_news(workspace: Workspace, session_id: str) -> str:
    """Runs that ended after they were handed back, as the model is to hear of them at the start
    of a turn; each is told once. "" when there is nothing to tell."""
    parts = []
    for report in workspace.runs.take_news(session_id):
        result = await run_result(report)
        end = f"{result.error}\n" if result.error else ""
        parts.append(f"The run {report.run_id} that went on in the background has ended.\n{end}")
        parts.append(result.output)
    return "\n".join(parts)


async def read_run(ctx: ToolContext, run_id: str, *, wait_s: float) -> ToolResult:
    """How a run stands: its table and newest outputs; waits for its end, at most `wait_s`.

    Raises:
        DocumentNotFound: there is no such run, or the server was restarted since.
    """
    runs = ctx.workspace.runs
    run = runs.find(run_id)
    if run is None:
        raise DocumentNotFound(
            f"There is no run {run_id} (any more).",
            hint="Runs are known until the server restarts; outputs are in the notebook's cells.",
        )
    with suppress(TimeoutError):  # a question may be open for hours
        async with asyncio.timeout(wait_s):
            await runs.wait(run, wait_s)
    run.told = run.told or run.over
    return await run_result(run.report())
