"""run_cells, execute_code and kernel."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from ..errors import EditConflict, KernelUnavailable, ToolError
from ..policy.facts import Facts
from ..protocol.approval import ActionPreview, CodePreview, Snippet
from ..protocol.base import Wire
from ..protocol.tool import ToolResult
from ..workspace.base import Cell, KernelInfo, Notebook
from ..workspace.paths import name_of
from ..workspace.runs.run_reports import OpenRun, in_words
from .base import Grant, Proposal, Tool, ToolContext, done, failed, read_proposal
from .clipping import count_of
from .run_view import run_result
from .running import kernel_name_for, run_in_order, wait_s_for
from .targets import cell_name, cell_of, notebook_path, open_notebook
from .variables import running_kernel

_SETTLE_S = 5.0
_LOOK_EVERY_S = 0.1


WaitSeconds = Annotated[float, Field(ge=0)]


class RunCells(Wire):
    path: str | None = None
    cell_ids: tuple[str, ...] | None = None
    wait_s: WaitSeconds | None = None


class ExecuteCode(Wire):
    code: str
    path: str | None = None
    wait_s: WaitSeconds | None = None


class Kernel(Wire):
    action: Literal["list", "start", "restart", "interrupt"]
    path: str | None = None
    kernel_name: str | None = None


# -- run_cells -----------------------------------------------------------------------------------


async def _propose_run(ctx: ToolContext, args: RunCells) -> Proposal:
    path = notebook_path(ctx, args.path)
    notebook = await open_notebook(ctx, path)
    cells = _cells_to_run(notebook, args)
    kernel_name = await kernel_name_for(ctx, notebook)
    preview = CodePreview(
        path=path,
        language=notebook.language or "python",
        snippets=tuple(
            Snippet(cell_id=cell.cell_id, label=cell.label, source=cell.source) for cell in cells
        ),
    )

    async def apply(grant: Grant) -> ToolResult:
        report = await run_in_order(
            ctx,
            path,
            cells,
            kernel_name=kernel_name,
            trusted=grant.by_user,
            wait_s=args.wait_s,
        )
        return await run_result(report)

    code = "\n\n".join(cell.source for cell in cells)
    title = f"Run {_what(cells, everything=args.cell_ids is None)} of {name_of(path)}?"
    facts, waits_s = Facts("execute", (path,), code=code), wait_s_for(ctx, args.wait_s)
    return Proposal(facts, apply, title=title, preview=preview, waits_s=waits_s)


def _cells_to_run(notebook: Notebook, args: RunCells) -> list[Cell]:
    if args.cell_ids is None:
        cells = [c for c in notebook.cells if c.cell_type == "code" and c.source.strip()]
        for cell in cells:
            cell_of(notebook, cell.cell_id)
    else:
        cells = [cell_of(notebook, cell_id) for cell_id in args.cell_ids]
    if not cells:
        raise ToolError(f"{notebook.path} has no code cells to run.")
    other = next((cell for cell in cells if cell.cell_type != "code"), None)
    if other is not None:
        raise ToolError(f"{cell_name(other)} is a {other.cell_type} cell; only code can be run.")
    return cells


def _what(cells: Sequence[Cell], *, everything: bool) -> str:
    if len(cells) == 1:
        return f"cell {cells[0].label}"
    return f"all {count_of(len(cells), 'code cell')}" if everything else f"{len(cells)} cells"


# -- execute_code --------------------------------------------------------------------------------


async def _propose_execute(ctx: ToolContext, args: ExecuteCode) -> Proposal:
    path = notebook_path(ctx, args.path)
    notebook = await open_notebook(ctx, path)
    if not args.code.strip():
        raise ToolError("There is no code to run.", code="invalid_input")
    kernel_name = await kernel_name_for(ctx, notebook)
    preview = CodePreview(
        path=path,
        language=notebook.language or "python",
        snippets=(Snippet(cell_id=None, label=None, source=args.code),),
    )

    async def apply(grant: Grant) -> ToolResult:
        return await _execute(ctx, path, args, kernel_name)

    title = f"Run code in the kernel of {name_of(path)}?"
    facts, waits_s = Facts("execute", (path,), code=args.code), wait_s_for(ctx, args.wait_s)
    return Proposal(facts, apply, title=title, preview=preview, waits_s=waits_s)


async def _execute(ctx: ToolContext, path: str, args: ExecuteCode, kernel_name: str) -> ToolResult:
    scratch = Cell("", "code", args.code, "")
    report = await run_in_order(ctx, path, (scratch,), kernel_name=kernel_name, wait_s=args.wait_s)
    result = await run_result(report)
    (row,) = result.metadata["cells"]
    metadata = {**result.metadata, "seconds": row["seconds"]}
    del metadata["cells"]
    return result.model_copy(update={"metadata": metadata})


# -- kernel --------------------------------------------------------------------------------------


async def _propose_kernel(ctx: ToolContext, args: Kernel) -> Proposal:
    if args.action == "list":
        return read_proposal((), lambda: _list(ctx))
    path = notebook_path(ctx, args.path)
    if args.action == "start":
        return await _propose_start(ctx, path, args.kernel_name)
    kernel = await running_kernel(ctx, path)
    name = name_of(path)
    if args.action == "restart":
        title = f"Restart the kernel of {name}?"
        text = f"The kernel of {path} ({kernel.name}) is restarted: all its variables are lost."
    else:
        title = f"Interrupt the kernel of {name}?"
        text = f"What the kernel of {path} ({kernel.name}) is running is interrupted."

    async def apply(grant: Grant) -> ToolResult:
        return await _act(ctx, path, kernel, args.action)

    return Proposal(Facts("execute", (path,)), apply, title=title, preview=ActionPreview(text=text))


async def _propose_start(ctx: ToolContext, path: str, kernel_name: str | None) -> Proposal:
    notebook = await open_notebook(ctx, path)
    if await ctx.workspace.kernels.find(path) is not None:
        return read_proposal((path,), lambda: _state(ctx, path, "It runs already: "))
    specs = await ctx.workspace.kernels.specs()
    known = [spec.name for spec in specs]
    if kernel_name is not None and kernel_name not in known:
        raise KernelUnavailable(
            f'There is no kernel "{kernel_name}".', hint=f"Installed: {', '.join(known)}."
        )
    name = kernel_name or await kernel_name_for(ctx, notebook)

    async def apply(grant: Grant) -> ToolResult:
        await ctx.workspace.kernels.for_notebook(path, kernel_name=name)
        return await _state(ctx, path, "Started: ")

    text = f"A new kernel ({name}) is started for {path}."
    title = f"Start a kernel for {name_of(path)}?"
    return Proposal(Facts("execute", (path,)), apply, title=title, preview=ActionPreview(text=text))


async def _act(ctx: ToolContext, path: str, kernel: KernelInfo, action: str) -> ToolResult:
    kernels = ctx.workspace.kernels
    now = await kernels.find(path)
    if now is None or now.kernel_id != kernel.kernel_id:
        raise EditConflict(f"{path} has another kernel than a moment ago; nothing was done.")
    before = [run for run in ctx.workspace.runs.open_runs() if run.path == path and run.since]
    if action == "restart":
        await kernels.restart(kernel.kernel_id)
        await _settles(ctx, path, before)
        return await _state(ctx, path, f"Restarted, all variables are lost: {_ends(ctx, before)}")
    await kernels.interrupt(kernel.kernel_id)
    if await _settles(ctx, path, before):
        return await _state(ctx, path, f"Interrupted: {_ends(ctx, before)}")
    left = [f"cell {run.label}" if run.cell_id else "the code" for run in _left(ctx, before)]
    what = f"{', '.join(left)} still runs" if left else "it is still busy"
    return failed(
        f"The kernel was told to interrupt, and {what} after {_SETTLE_S:g} s.",
        output="What it runs may end a little later, or not react to interrupts at all: then only "
        "a restart helps.",
        path=path,
        state="busy",
    )


async def _settles(ctx: ToolContext, path: str, runs: Sequence[OpenRun]) -> bool:
    """Whether what runs ends: code sent before that would be dropped by the kernel."""
    ends_at = time.monotonic() + _SETTLE_S
    while True:
        if not _left(ctx, runs):
            kernel = await ctx.workspace.kernels.find(path)
            if kernel is None or kernel.state != "busy" or _open_runs(ctx, path):
                return True
        if time.monotonic() >= ends_at:
            return False
        await asyncio.sleep(_LOOK_EVERY_S)


def _left(ctx: ToolContext, before: Sequence[OpenRun]) -> list[OpenRun]:
    """Those of which the same cell still runs."""
    now = {(run.run_id, run.since) for run in ctx.workspace.runs.open_runs()}
    return [run for run in before if (run.run_id, run.since) in now]


def _open_runs(ctx: ToolContext, path: str) -> list[OpenRun]:
    return [run for run in ctx.workspace.runs.open_runs() if run.path == path]


def _ends(ctx: ToolContext, before: Sequence[OpenRun]) -> str:
    """What the runs came to, in words, with a blank at the end; "" without any."""
    ends = ""
    for open_run in before:
        run = ctx.workspace.runs.find(open_run.run_id)
        if run is not None and run.over:
            ends += f"{run.run_id} ended, {in_words(run.report())}. "
    return ends


async def _state(ctx: ToolContext, path: str, lead: str) -> ToolResult:
    kernel = await ctx.workspace.kernels.find(path)
    if kernel is None:
        return failed(f"{path} has no kernel now.", path=path)
    lines = [f"{lead}{_kernel_line(kernel)}", *(_run_line(run) for run in _open_runs(ctx, path))]
    return done("\n".join(lines), path=path, state=kernel.state)


async def _list(ctx: ToolContext) -> ToolResult:
    running = await ctx.workspace.kernels.running()
    specs = await ctx.workspace.kernels.specs()
    lines = ["Running:"] if running else ["No kernel is running."]
    for kernel in running:
        lines.append(f"  {_kernel_line(kernel)}")
        if kernel.path:
            lines += [f"    {_run_line(run)}" for run in _open_runs(ctx, kernel.path)]
    lines += ["Installed:", *(f"  {s.name}: {s.display_name} ({s.language})" for s in specs)]
    return done("\n".join(lines), count=len(running))


def _kernel_line(kernel: KernelInfo) -> str:
    return f"{kernel.name}, {kernel.state}, {kernel.path or 'no notebook'}"


def _run_line(run: OpenRun) -> str:
    """What Vitto still runs there, whatever the kernel says of its state."""
    if not run.since:
        return f"{run.run_id}: not begun"
    what = f"cell {run.label}" if run.cell_id else "code"
    asks = ", asks the user for input" if run.asks else ""
    then = f", then cells {', '.join(run.waiting)}" if run.waiting else ""
    return f"{run.run_id}: {what} runs since {run.since}{asks}{then}"


RUN_CELLS = Tool(
    name="run_cells",
    description="Run cells by id in the given order (all code cells when left out) in the "
    "notebook's kernel; stops at the first error. Outputs come back in the result; after wait_s "
    "(default 60) the run goes on in the background and a handle comes back.",
    effect="execute",
    input_model=RunCells,
    propose=_propose_run,
)
EXECUTE_CODE = Tool(
    name="execute_code",
    description="Run scratch code in the notebook's live kernel; the notebook is not changed.",
    effect="execute",
    input_model=ExecuteCode,
    propose=_propose_execute,
)
KERNEL = Tool(
    name="kernel",
    description="List kernels; start, restart (loses all variables) or interrupt a notebook's.",
    effect="execute",
    input_model=Kernel,
    propose=_propose_kernel,
)
