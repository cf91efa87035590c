"""Running cells through `Workspace.runs`: wait for a while, then leave the run to itself.

Shared by run_cells, execute_code, edit_cell and insert_cells. What runs is the source that the
user saw.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ..errors import KernelUnavailable
from ..workspace.base import AddOutput, Cell, KernelSpec, Notebook, Question, RunEdit, TextSink
from ..workspace.runs.run_reports import RunReport
from ..workspace.runs.run_state import RunRequest
from .base import ToolContext, nobody

_PROGRESS_CHARS = 20_000


class Progress:
    """Live text of a call, bounded: everything else is in the result."""

    def __init__(self, sink: TextSink) -> None:
        self._sink = sink
        self._left = _PROGRESS_CHARS

    async def say(self, text: str) -> None:
        if not text or self._left <= 0:
            return
        if len(text) > self._left:
            text = f"{text[: self._left]}\n[… live output goes on; the result has the rest …]\n"
        self._left -= len(text)
        await self._sink(text)

    async def begins(self, cell: Cell, number: int, count: int) -> None:
        if count > 1:
            await self.say(f"cell {cell.label} ({number} of {count})\n")

    async def changed(self, edits: Sequence[RunEdit]) -> None:
        """Say what is printed."""
        for edit in edits:
            if isinstance(edit, AddOutput) and edit.output.get("output_type") == "stream":
                text = edit.output.get("text")
                await self.say("".join(text) if isinstance(text, list) else str(text))


# -- which kernel --------------------------------------------------------------------------------


async def kernel_name_for(ctx: ToolContext, notebook: Notebook) -> str:
    """The kernel that runs this notebook's cells: its running one, the obvious one, or what the
    user chooses.

    Raises:
        KernelUnavailable: nobody chose; lists what there is.
    """
    running = await ctx.workspace.kernels.find(notebook.path)
    if running is not None:
        return running.name
    specs = await ctx.workspace.kernels.specs()
    name = obvious_kernel(notebook, specs)
    if name is not None:
        return name
    why = "names no kernel"
    if notebook.kernel_name:
        why = f'names the kernel "{notebook.kernel_name}", which is not installed'
    choices = tuple((s.name, f"{s.display_name} ({s.language})") for s in specs)
    if choices:
        prompt = f"{notebook.path} {why}. Which kernel shall run it?"
        chosen = await ctx.ask(Question(prompt, choices=choices))
        if chosen in dict(choices):
            return str(chosen)
    listing = ", ".join(f"{spec.name} ({spec.language})" for spec in specs) or "none"
    raise KernelUnavailable(
        f"{notebook.path} cannot be run: it {why}, and none was chosen. Installed: {listing}.",
        hint='Start one with kernel{"action": "start", "kernel_name": …} and run again.',
    )


def obvious_kernel(notebook: Notebook, specs: Sequence[KernelSpec]) -> str | None:
    """The installed kernel that the notebook names, else the only one of its language. Pure."""
    if notebook.kernel_name in {spec.name for spec in specs}:
        return notebook.kernel_name
    if len(specs) != 1:
        return None
    fits = not notebook.language or notebook.language.lower() == specs[0].language.lower()
    return specs[0].name if fits else None


def default_kernel(specs: Sequence[KernelSpec]) -> str | None:
    """For a new notebook: the only spec, or python3; None when there is a real choice."""
    names = [spec.name for spec in specs]
    if len(names) == 1:
        return names[0]
    return "python3" if "python3" in names else None


# -- the run -------------------------------------------------------------------------------------


def wait_s_for(ctx: ToolContext, wanted_s: float | None) -> float:
    """How long a call waits for cells: never longer than is configured."""
    wait_s = ctx.settings.cell_wait_s if wanted_s is None else wanted_s
    return min(wait_s, ctx.settings.cell_timeout_s)


async def run_in_order(
    ctx: ToolContext,
    path: str,
    cells: Sequence[Cell],
    *,
    kernel_name: str,
    trusted: bool = False,
    wait_s: float | None = None,
) -> RunReport:
    """Run the cells until one does not end well, and wait for it at most `wait_s`.

    After that the run goes on in the background, with all its cells: the report is not `over`.
    When the call is cancelled no further cell is started; the one that runs goes on.

    Args:
        trusted: The user allowed exactly these sources, see BeginRun.

    Raises:
        KernelUnavailable: there is no kernel and none could be started.
    """
    runs = ctx.workspace.runs
    request = RunRequest(
        path,
        tuple(cells),
        kernel_name,
        session_id=ctx.session_id,
        tool_call_id=ctx.tool_call_id,
        trusted=trusted,
        ask=None if ctx.ask is nobody else ctx.ask,
        watcher=Progress(ctx.progress),
    )
    run = await runs.start(request)
    try:
        await runs.wait(run, wait_s_for(ctx, wait_s))
    except asyncio.CancelledError:
        runs.stop_after_current(run)
        raise
    finally:
        runs.hand_back(run)
    return run.report()
