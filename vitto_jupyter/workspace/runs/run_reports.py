"""What became of the cells of a run. Values only; imported by runs and whatever shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..base import Cell, Execution, Output, Revision

RunState = Literal[
    "ok", "error", "interrupted", "aborted", "died", "ended", "restarted",
    "waiting", "running", "changed", "gone", "failed", "not_run",
]  # fmt: skip
_GOING_ON = ("ok", "waiting", "running", "not_run")


@dataclass(frozen=True, slots=True)
class CellRun:
    """What became of one cell; of scratch code when its cell id is "".

    The states of an Execution, and: "waiting" for its turn, "changed" or "gone" since its source
    was shown, "failed" to be run for `reason`, "not_run" since the run ended before it.
    """

    cell: Cell
    state: RunState
    execution: Execution | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RunReport:
    """A run as it is now. `problems` are faults in mirroring or saving, for model and user.

    `over` False: it goes on in the background, `read_output` with `run_id` looks again; `asks`:
    its code waits for an answer of the user.
    """

    run_id: str
    path: str
    kernel_name: str
    runs: tuple[CellRun, ...]
    problems: tuple[str, ...] = ()
    over: bool = True
    asks: bool = False

    @property
    def stopped(self) -> CellRun | None:
        """The cell after which nothing more was run."""
        return next((run for run in self.runs if run.state not in _GOING_ON), None)

    @property
    def state(self) -> str:
        """Of the whole: "running", "ok", "not_run", or what its last cell came to."""
        if not self.over:
            return "running"
        if self.stopped is not None:
            return self.stopped.state
        return "ok" if all(run.state == "ok" for run in self.runs) else "not_run"


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run that goes on. `cell_id` and `label` are of the cell that runs since `since` (ISO
    8601, UTC), "" when the run still waits for another one of its notebook; `waiting` are the
    labels of the cells to come; `asks`: its code waits for an answer of the user."""

    run_id: str
    session_id: str
    tool_call_id: str
    path: str
    cell_id: str
    label: str
    since: str
    waiting: tuple[str, ...]
    asks: bool = False


@dataclass(frozen=True, slots=True)
class LastRun:
    """The last run of a cell by us: the revision that ran, when, and in which kernel process."""

    revision: Revision
    run_id: str
    began_at: str
    kernel_id: str
    kernel_started_at: str


@dataclass(frozen=True, slots=True)
class RunNotice:
    """A run was handed back (`state` "running") or has ended; `labels` are of the cells that
    have not ended, `text` says the end in words, for people."""

    run_id: str
    session_id: str
    tool_call_id: str
    path: str
    labels: tuple[str, ...]
    state: str
    text: str


def size_of(outputs: Sequence[Output]) -> int:
    """About how many characters the outputs hold."""
    total = 0
    for output in outputs:
        data = output.get("data")
        parts = [output.get("text"), *(data.values() if isinstance(data, dict) else ())]
        total += sum(len(part) for part in parts if isinstance(part, str))
    return total


def in_words(report: RunReport) -> str:
    """The end of a run, for people."""
    total = len(report.runs)
    good = sum(1 for run in report.runs if run.state == "ok")
    cells = "1 cell" if total == 1 else f"{total} cells"
    if not report.runs[0].cell.cell_id:
        cells = "the code"
    stopped = report.stopped
    if stopped is None:
        return f"{good} of {cells} ran in {report.path}" if good < total else f"{cells} ran"
    what = f"cell {stopped.cell.label}" if stopped.cell.cell_id else "the code"
    last = stopped.execution.outputs[-1:] if stopped.execution else ()
    named = next((str(o.get("ename")) for o in last if o.get("output_type") == "error"), "")
    return f"{what}: {named or stopped.reason or stopped.state.replace('_', ' ')}"
