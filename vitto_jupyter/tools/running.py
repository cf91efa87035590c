"""Running cells: one after the other on the server, each one mirrored into its document.

Shared by run_cells, edit_cell and insert_cells. What runs is the source that the user saw.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from ..errors import KernelUnavailable, ToolError
from ..workspace.base import (
    AddOutput,
    BeginRun,
    Cell,
    EndRun,
    Execution,
    KernelSpec,
    Notebook,
    RunEdit,
    TextSink,
)
from .base import ToolContext

_PROGRESS_CHARS = 20_000

RunState = Literal[
    "ok", "error", "aborted", "died", "restarted", "running", "changed", "gone", "failed", "not_run"
]


@dataclass(frozen=True, slots=True)
class CellRun:
    """What became of one cell. `reason` explains "failed" and "not_run"."""

    cell: Cell
    state: RunState
    execution: Execution | None = None
    reason: str = ""


@dataclass(slots=True)
class RunReport:
    """A whole run. `problems` are faults in mirroring or saving, for the model and the user."""

    path: str
    kernel_name: str
    runs: list[CellRun] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def stopped(self) -> CellRun | None:
        """The run after which nothing more was run."""
        return next((run for run in self.runs if run.state not in ("ok", "not_run")), None)

    def note(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)


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

    async def follow(self, edits: Sequence[RunEdit]) -> None:
        """Say what is printed."""
        for edit in edits:
            if isinstance(edit, AddOutput) and edit.output.get("output_type") == "stream":
                text = edit.output.get("text")
                await self.say("".join(text) if isinstance(text, list) else str(text))


# -- which kernel --------------------------------------------------------------------------------


async def kernel_name_for(ctx: ToolContext, notebook: Notebook) -> str:
    """The kernel that runs this notebook's cells: its running one, else the one it names.

    Raises:
        KernelUnavailable: what it names is not installed, or nothing is named and there is a
            choice; lists the choice.
    """
    running = await ctx.workspace.kernels.find(notebook.path)
    if running is not None:
        return running.name
    specs = await ctx.workspace.kernels.specs()
    return choose_kernel(notebook, specs)


def choose_kernel(notebook: Notebook, specs: Sequence[KernelSpec]) -> str:
    """The spec name for a notebook without a running kernel. Pure."""
    names = [spec.name for spec in specs]
    if notebook.kernel_name in names:
        return notebook.kernel_name
    if not notebook.kernel_name:
        name = default_kernel(specs)
        if name is not None:
            return name
    listing = ", ".join(f"{spec.name} ({spec.language})" for spec in specs) or "none"
    named = f'its kernel "{notebook.kernel_name}" is not installed' if notebook.kernel_name else ""
    raise KernelUnavailable(
        f"{notebook.path} cannot be run: {named or 'it names no kernel'}. Installed: {listing}.",
        hint='Start one with kernel{"action": "start", "kernel_name": …} and run again.',
    )


def default_kernel(specs: Sequence[KernelSpec]) -> str | None:
    """The only spec, or python3; None when there is a real choice."""
    names = [spec.name for spec in specs]
    if len(names) == 1:
        return names[0]
    return "python3" if "python3" in names else None


# -- the run -------------------------------------------------------------------------------------


async def run_in_order(
    ctx: ToolContext, path: str, cells: Sequence[Cell], *, kernel_name: str, timeout_s: float
) -> RunReport:
    """Run the cells until one does not end well or `timeout_s` is over for all together."""
    kernel = await ctx.workspace.kernels.for_notebook(path, kernel_name=kernel_name)
    report = RunReport(path, kernel.name)
    progress = Progress(ctx.progress)
    ends_at = time.monotonic() + timeout_s
    for number, cell in enumerate(cells, start=1):
        left_s = ends_at - time.monotonic()
        if report.stopped or (left_s <= 0 and report.runs):
            reason = "" if report.stopped else "the time was over"
            report.runs.append(CellRun(cell, "not_run", reason=reason))
            continue
        if len(cells) > 1:
            await progress.say(f"cell {cell.label} ({number} of {len(cells)})\n")
        one = _OneRun(ctx, path, cell, report, progress)
        report.runs.append(await one.run(kernel.kernel_id, timeout_s=max(left_s, 0.1)))
    await _save(ctx, report)
    return report


@dataclass(frozen=True, slots=True)
class _OneRun:
    ctx: ToolContext
    path: str
    cell: Cell
    report: RunReport
    progress: Progress

    async def run(self, kernel_id: str, *, timeout_s: float) -> CellRun:
        now = (await self.ctx.workspace.documents.read_notebook(self.path)).cell(self.cell.cell_id)
        if now is None:
            return CellRun(self.cell, "gone")
        if now.revision != self.cell.revision:
            return CellRun(now, "changed")
        await self._mirror([BeginRun(self.cell.cell_id)])
        try:
            execution = await self.ctx.workspace.kernels.execute(
                kernel_id,
                self.cell.source,
                cell_id=self.cell.cell_id,
                timeout_s=timeout_s,
                on_change=self._on_change,
            )
        except ToolError as err:
            await self._end(None)
            return CellRun(self.cell, "failed", reason=f"{err.message} {err.hint}".strip())
        except asyncio.CancelledError:
            # Stopping the agent leaves the kernel at work; what came so far is kept.
            await self._end(None)
            await _save(self.ctx, self.report)
            raise
        await self._end(execution)
        return CellRun(self.cell, execution.state, execution)

    async def _on_change(self, edits: Sequence[RunEdit]) -> None:
        await self._mirror(edits)
        await self.progress.follow(edits)

    async def _end(self, execution: Execution | None) -> None:
        count = execution.execution_count if execution else None
        timing = execution.timing if execution else {}
        await self._mirror([EndRun(self.cell.cell_id, count, timing)])

    async def _mirror(self, edits: Sequence[RunEdit]) -> None:
        """Write run edits into the document; the run itself does not depend on it."""
        try:
            await self.ctx.workspace.documents.edit_notebook(self.path, edits)
        except ToolError as err:
            self.report.note(f"Outputs could not be written into the notebook: {err.message}")


async def _save(ctx: ToolContext, report: RunReport) -> None:
    try:
        await ctx.workspace.documents.save(report.path)
    except ToolError as err:
        report.note(f"The notebook could not be saved: {err.message}")
