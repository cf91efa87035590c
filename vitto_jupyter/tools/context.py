"""get_context, and the workspace context that it and `GET context` show."""

from __future__ import annotations

import asyncio

from ..errors import ToolError
from ..protocol.base import Wire
from ..protocol.context import NotebookState, WorkspaceContext
from ..protocol.tool import ToolResult
from ..workspace.base import ReadNotebook, Workspace
from ..workspace.paths import is_notebook
from .base import Proposal, Tool, ToolContext, done, read_proposal
from .clipping import count_of
from .output_view import error_of

_MAX_OPEN = 30


class GetContext(Wire):
    pass


async def workspace_context(
    workspace: Workspace,
    path: str | None,
    *,
    read: ReadNotebook | None = None,
) -> WorkspaceContext:
    """What the agent would see now.

    Args:
        path: The document in front, None when unknown.
        read: Reads a notebook, when others read it at the same time.
    """
    seen = workspace.front_ends.seen()
    active = path or seen.active_path
    notebook, branch = await asyncio.gather(
        _notebook_state(workspace, active, read or workspace.documents.read_notebook),
        workspace.git.branch(active or ""),
    )
    return WorkspaceContext(
        root=workspace.root,
        path=active,
        notebook=notebook,
        git_branch=branch,
        problems=len(seen.diagnostics),
        diagnostics=seen.diagnostics,
    )


async def _notebook_state(
    workspace: Workspace, path: str | None, read: ReadNotebook
) -> NotebookState | None:
    """None also when the notebook cannot be read: context never fails."""
    if path is None or not is_notebook(path):
        return None
    try:
        notebook = await read(path)
        kernel = await workspace.kernels.find(path)
    except ToolError:
        return None
    return NotebookState(
        path=path,
        cells=len(notebook.cells),
        cells_with_errors=sum(1 for cell in notebook.cells if error_of(cell.outputs)),
        kernel_name=kernel.name if kernel else notebook.kernel_name,
        kernel_state=kernel.state if kernel else "not started",
    )


async def _propose(ctx: ToolContext, args: GetContext) -> Proposal:
    return read_proposal((), lambda: _get(ctx))


async def _get(ctx: ToolContext) -> ToolResult:
    workspace = ctx.workspace
    seen = workspace.front_ends.seen()
    context = await workspace_context(workspace, ctx.notebook_path)
    lines = [f"Root: {workspace.root}", f"Session's notebook: {ctx.notebook_path or 'none'}"]
    if context.notebook is not None:
        lines.append(_notebook_line(context.notebook))
    lines.append(f"In front of the user: {seen.active_path or 'not known'}")
    lines.append(f"Open: {', '.join(seen.open_paths[:_MAX_OPEN]) or 'nothing known'}")
    lines += await _kernel_lines(workspace)
    lines.append(f"Git branch: {context.git_branch or 'none'}")
    lines.append(f"Problems in open documents: {context.problems}")
    terminals = "available" if await workspace.terminals.available() else "not available"
    lines.append(f"Terminals: {terminals}")
    return done("\n".join(lines), path=context.path, count=context.problems)


def _notebook_line(state: NotebookState) -> str:
    errors = f", {count_of(state.cells_with_errors, 'cell')} with errors"
    return (
        f"{state.path}: {count_of(state.cells, 'cell')}{errors}, "
        f"kernel {state.kernel_name or 'not named'}, {state.kernel_state}"
    )


async def _kernel_lines(workspace: Workspace) -> list[str]:
    try:
        running = await workspace.kernels.running()
    except ToolError as err:
        return [f"Kernels: {err.message}"]
    kernels = [
        f"{kernel.path or 'no notebook'} ({kernel.name}, {kernel.state})" for kernel in running
    ]
    return [f"Kernels: {', '.join(kernels[:_MAX_OPEN]) or 'none running'}"]


GET_CONTEXT = Tool(
    name="get_context",
    description="What is open, the state of kernels, git branch and problems.",
    effect="read",
    input_model=GetContext,
    propose=_propose,
)
