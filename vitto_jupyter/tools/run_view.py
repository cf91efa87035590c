"""How a run looks to the model: a line per cell, then the outputs. Pure."""

from __future__ import annotations

import asyncio
from typing import Any

from ..protocol.tool import ToolResult
from ..workspace.notebooks.failures import silent_failures
from ..workspace.runs.run_reports import CellRun, RunReport
from .base import done, failed
from .clipping import count_of
from .images import Images
from .output_view import (
    OUTPUT_CHARS,
    SMALL_CHARS,
    Place,
    error_of,
    outputs_text,
)
from .targets import cell_name

_OUTPUTS_CHARS = 30_000
# Beyond this the outputs of further cells are left out; the result stays below what is sent.
_ALL_CHARS = 40_000

_ENDS = {
    "aborted": "was not executed: the kernel dropped it, for example because of an interrupt",
    "interrupted": "was interrupted",
    "died": "did not end: the kernel died and all variables are lost. The next run starts a new "
    "kernel; run what it needs again",
    "ended": "ended its own kernel: all variables are lost. The next run starts a new kernel; run "
    "what it needs again",
    "restarted": "did not end: the kernel was restarted meanwhile and all variables are lost",
    "changed": "was changed after its source was shown, so it was not run",
    "gone": "has been deleted, so it was not run",
}


async def run_result(report: RunReport, *, lead: str = "") -> ToolResult:
    """The result of a run; `lead` says what was done before it."""
    images = Images()
    parts = [lead] if lead else []
    parts += _table(report)
    # In a thread: a run may have shown megabytes.
    parts += await asyncio.to_thread(_outputs, report, images)
    parts += [f"Note: {problem}" for problem in report.problems]
    if not report.over:
        parts.append(going_on(report))
    text = await images.placed("\n".join(parts))
    metadata: dict[str, Any] = {"path": report.path, "cells": [_row(run) for run in report.runs]}
    if images.items:
        metadata["images"] = images.items
    error = _error(report)
    if error:
        state = report.stopped.state if report.stopped else "not_run"
        return failed(error, output=text, state=state, **metadata)
    if not report.over:
        metadata["run_id"] = report.run_id
    return done(text, state=report.state, **metadata)


def going_on(report: RunReport) -> str:
    """Says that a run was handed back, and how to come back to it."""
    running = next((run for run in report.runs if run.state == "running"), None)
    waiting = sum(1 for run in report.runs if run.state == "waiting")
    facts = ["its first cell is about to start, or waits for another run to end"]
    if running is not None:
        spent = seconds_of(running.execution.seconds) if running.execution else ""
        facts = [f"{name_of_run(running)} has been running for {spent}"]
    if report.asks:
        facts.append("it waits for an answer of the user")
    if waiting:
        facts.append(f"{count_of(waiting, 'cell')} to come")
    return (
        f"[{report.run_id} goes on in the background: {', '.join(facts)}. Its end is told at the "
        f'next turn; read_output with run "{report.run_id}" looks or waits, kernel with action '
        "interrupt stops it.]"
    )


def name_of_run(run: CellRun) -> str:
    return cell_name(run.cell) if run.cell.cell_id else "the code"


def seconds_of(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"


def _table(report: RunReport) -> list[str]:
    good = sum(1 for run in report.runs if run.state == "ok")
    total = count_of(len(report.runs), "cell")
    so_far = "" if report.over else " so far"
    head = (
        f"{good} of {total} ran without error{so_far} in {report.path}, kernel {report.kernel_name}"
    )
    if len(report.runs) == 1 and good == 1:
        return [f"{_line(report.runs[0])}, kernel {report.kernel_name}"]
    return [head, *(_line(run) for run in report.runs)]


def _line(run: CellRun) -> str:
    facts = [f"{name_of_run(run)}: {run.state.replace('_', ' ')}"]
    if run.execution is not None:
        if run.execution.execution_count is not None:
            facts.append(f"[{run.execution.execution_count}]")
        facts.append(seconds_of(run.execution.seconds))
    return ", ".join(facts)


def place_in_run(run_id: str, cell_id: str) -> Place:
    """Where read_output finds the outputs of a cell of a run; "" is scratch code."""
    return Place(cell_id, f"read_output run={run_id}{f' cell_id={cell_id}' if cell_id else ''}")


def _outputs(report: RunReport, images: Images) -> list[str]:
    """The outputs of all cells; the more cells, the less of each. The last one is always shown."""
    printed = [run for run in report.runs if run.execution and run.execution.outputs]
    if not printed:
        return ["(no output)"]
    limit = max(min(OUTPUT_CHARS, _OUTPUTS_CHARS // len(printed)), SMALL_CHARS)
    last = _cell_outputs(report, printed[-1], images, limit)
    parts, size = [], len(last)
    for run in printed[:-1]:
        text = _cell_outputs(report, run, images, limit)
        size += len(text)
        if size > _ALL_CHARS:
            break
        parts.append(text)
    left_out = printed[len(parts) : -1]
    if left_out:
        labels = f"cells {left_out[0].cell.label}–{left_out[-1].cell.label}"
        ask = f"read_output run={report.run_id} cell_id=…"
        parts.append(f"[… output of {len(left_out)} cells ({labels}) left out: {ask} …]")
    return [*parts, last]


def _cell_outputs(report: RunReport, run: CellRun, images: Images, limit: int) -> str:
    outputs = run.execution.outputs if run.execution else ()
    place = place_in_run(report.run_id, run.cell.cell_id)
    text = outputs_text(outputs, images, limit=limit, place=place)
    flags = [f"FLAG {failure}" for failure in silent_failures(outputs)]
    return "\n".join([f"--- output of {name_of_run(run)}", text, *flags])


def _error(report: RunReport) -> str:
    """Why not everything ran; "" when it did."""
    rest = sum(1 for run in report.runs if run.state == "not_run")
    after = f" {count_of(rest, 'later cell')} not run." if rest else ""
    stopped = report.stopped
    if stopped is None:
        return f"The run was stopped.{after}" if rest else ""
    name = name_of_run(stopped)
    if stopped.state == "error":
        outputs = stopped.execution.outputs if stopped.execution else ()
        return f"{name} raised {error_of(outputs) or 'an error'}.{after}"
    if stopped.state == "changed":
        source = stopped.cell.source
        return f"{name} {_ENDS['changed']}.{after} Its source is now:\n{source}"
    how = _ENDS.get(stopped.state) or f"could not be run: {stopped.reason}"
    if stopped.execution and stopped.execution.detail:
        how += f" ({stopped.execution.detail})"
    return f"{name} {how}.{after}"


def _row(run: CellRun) -> dict[str, Any]:
    """The row of the UI's table."""
    execution = run.execution
    return {
        "cell_id": run.cell.cell_id,
        "label": run.cell.label,
        "state": run.state,
        "execution_count": execution.execution_count if execution else None,
        "seconds": round(execution.seconds, 3) if execution else None,
    }
