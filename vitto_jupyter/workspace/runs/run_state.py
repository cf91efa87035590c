"""One run of cells and its state. Made and changed by runs only; the tools hold on to it."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from ...errors import VittoError
from ..base import Ask, Cell, RunEdit
from ..notebooks.output_fold import fold_output
from .run_reports import CellRun, OpenRun, RunNotice, RunReport, in_words

_log = logging.getLogger(__name__)


class RunWatcher(Protocol):
    """Whoever waits for a run and shows it live."""

    async def begins(self, cell: Cell, number: int, count: int) -> None: ...

    async def changed(self, edits: Sequence[RunEdit]) -> None: ...


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What is to be run. A cell with the id "" is scratch code: it is in no notebook.

    `trusted`: a person allowed exactly these sources. `ask` None: nobody answers `input()`.
    """

    path: str
    cells: tuple[Cell, ...]
    kernel_name: str
    session_id: str = ""
    tool_call_id: str = ""
    trusted: bool = False
    ask: Ask | None = None
    watcher: RunWatcher | None = None


class Run:
    """One run; made by `Runs.start` only. `turned` pulses when something about it changes."""

    def __init__(self, request: RunRequest) -> None:
        self.run_id = f"run_{secrets.token_hex(4)}"  # short: the model repeats it
        self.request = request
        self.watcher = request.watcher
        self.cells = [CellRun(cell, "waiting") for cell in request.cells]
        self.problems: list[str] = []
        self.current: int | None = None
        self.since = ""
        self.began = 0.0
        self.stopping = False
        self.over = False
        self.handed_back = False
        self.told = False
        self.asking = 0
        self.turned = asyncio.Event()
        self.task: asyncio.Task[None] | None = None
        self.notices: asyncio.Task[None] | None = None

    def report(self) -> RunReport:
        request = self.request
        return RunReport(
            self.run_id,
            request.path,
            request.kernel_name,
            tuple(self._until_now(run) for run in self.cells),
            tuple(self.problems),
            self.over,
            self.asking > 0,
        )

    def _until_now(self, run: CellRun) -> CellRun:
        if run.state != "running" or run.execution is None:
            return run
        seconds = time.monotonic() - self.began
        return replace(run, execution=replace(run.execution, seconds=seconds))

    def open_run(self) -> OpenRun:
        cell = None if self.current is None else self.cells[self.current].cell
        return OpenRun(
            run_id=self.run_id,
            session_id=self.request.session_id,
            tool_call_id=self.request.tool_call_id,
            path=self.request.path,
            cell_id=cell.cell_id if cell else "",
            label=cell.label if cell else "",
            since=self.since,
            waiting=() if self.stopping else self.labels("waiting"),
            asks=self.asking > 0,
        )

    def labels(self, *states: str) -> tuple[str, ...]:
        return tuple(run.cell.label for run in self.cells if run.state in states)

    def notice(self) -> RunNotice:
        report = self.report()
        request = self.request
        to_come = ("running",) if self.stopping else ("running", "waiting")
        return RunNotice(
            self.run_id,
            request.session_id,
            request.tool_call_id,
            request.path,
            self.labels(*to_come),
            report.state,
            in_words(report) if self.over else "",
        )

    def note(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)

    def update_earlier(self, edits: Sequence[RunEdit], *, until: int) -> None:
        """What cell number `until` changed of what earlier cells display (`update_display`)."""
        for index, run in enumerate(self.cells[:until]):
            own = [edit for edit in edits if edit.cell_id == run.cell.cell_id]
            if own and run.execution is not None:
                outputs = run.execution.outputs
                for edit in own:
                    outputs = fold_output(outputs, edit)
                self.cells[index] = replace(run, execution=replace(run.execution, outputs=outputs))

    def pulse(self) -> None:
        self.turned.set()
        self.turned = asyncio.Event()

    async def tell(self, edits: Sequence[RunEdit]) -> None:
        if self.watcher is not None:
            await self._watch(self.watcher.changed(edits))

    async def tell_begin(self, index: int) -> None:
        if self.watcher is not None:
            cell = self.cells[index].cell
            await self._watch(self.watcher.begins(cell, index + 1, len(self.cells)))

    async def _watch(self, telling: Awaitable[None]) -> None:
        try:
            await telling
        except VittoError as err:  # the run does not depend on who looks on
            _log.warning("a run could not be shown live: %s", err.message)
            self.watcher = None
