"""Runs of cells: they belong here and not to the turn that started them.

A run goes through cells of one notebook in order, in a task of its own: it runs each in the
notebook's kernel, mirrors the outputs into the notebook wherever that lives, stops at the first
cell that does not end well, and saves. Whoever started it waits as long as it likes; a run that
is `handed_back` goes on alone. Runs of one notebook go one after the other.

For the tools: `start`, `wait`, `hand_back`, `stop_after_current`, `find`.
For what shows state: `open_runs` (the proof of what still runs), `last_run`.
For sessions: `listen` to runs that were handed back, `take_news` at the start of a turn.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from weakref import WeakValueDictionary

from ...errors import DocumentNotFound, EditConflict, KernelUnavailable, ToolError, VittoError
from ..base import (
    BeginRun,
    Cell,
    Documents,
    EndRun,
    Execution,
    KernelInfo,
    Kernels,
    OutputPart,
    Question,
    RunEdit,
)
from ..documents.pages import PageGone
from ..notebooks.output_fold import fold_output
from .output_spool import OutputSpool
from .run_reports import (
    CellRun,
    LastRun,
    OpenRun,
    RunNotice,
    RunReport,
    RunState,
    size_of,
)
from .run_state import Run, RunRequest

_LIMIT_RUNS = 100  # ended ones that are remembered
_LIMIT_CHARS = 32_000_000  # of the outputs of all ended runs
_LIMIT_CELLS = 10_000  # whose last run is remembered
_CLOSE_S = 3.0
_log = logging.getLogger(__name__)

Listener = Callable[[RunNotice], Awaitable[None]]


class Runs:
    """The runs of this server. `close` ends them before documents and kernels close."""

    def __init__(
        self, documents: Documents, kernels: Kernels, spool: OutputSpool | None = None
    ) -> None:
        self.documents = documents
        self.kernels = kernels
        self.spool = spool
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._queues: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._last: OrderedDict[tuple[str, str], LastRun] = OrderedDict()
        self._listeners: list[tuple[Listener, Listener]] = []
        self._closing = False

    # -- for tools -------------------------------------------------------------------------------

    async def start(self, request: RunRequest) -> Run:
        """Begin a run, once the notebook has a kernel.

        Raises:
            KernelUnavailable: it has none and none could be started.
        """
        if self._closing:
            raise KernelUnavailable("The server is shutting down.")
        await self.kernels.for_notebook(request.path, kernel_name=request.kernel_name)
        run = Run(request)
        self._runs[run.run_id] = run
        run.task = asyncio.create_task(self._work(run))
        run.task.add_done_callback(lambda task: self._end(run, task))
        self._forget()
        return run

    async def wait(self, run: Run, wait_s: float) -> bool:
        """Whether the run is over, within `wait_s`. Time in which it asks the user is free."""
        left_s = wait_s
        while not run.over and left_s > 0:
            began, turned, free = time.monotonic(), run.turned, run.asking > 0
            try:
                async with asyncio.timeout(None if free else left_s):
                    await turned.wait()
            except TimeoutError:
                break
            left_s -= 0.0 if free else time.monotonic() - began
        return run.over

    def hand_back(self, run: Run) -> None:
        """Nobody waits for it any more: what comes of it is told to listeners and as news."""
        ends_now = run.stopping and run.current is None
        if not (run.over or run.handed_back or ends_now):
            run.handed_back = True
            run.watcher = None
            self._notify(run, [detached for detached, _ in self._listeners])

    def stop_after_current(self, run: Run) -> None:
        """Start no further cell; the one that runs goes on in the kernel and is mirrored."""
        run.stopping = True
        if run.current is None and run.task is not None:
            run.task.cancel()

    def find(self, run_id: str) -> Run | None:
        return self._runs.get(run_id)

    async def output_part(
        self, run_id: str, cell_id: str, index: int, *, start: int, count: int
    ) -> OutputPart:
        """A part of what a run printed, also what its notebook leaves out.

        Raises:
            DocumentNotFound: there is no such output, or it is not kept any more.
        """
        part = None
        if self.spool is not None:
            part = await self.spool.read(run_id, cell_id, index, start=start, count=count)
        if part is None:
            text = self._text(run_id, cell_id, index)
            part = OutputPart(text[start : start + count], start, len(text))
        return part

    def _text(self, run_id: str, cell_id: str, index: int) -> str:
        run = self._runs.get(run_id)
        cells = [c for c in (run.cells if run else ()) if c.cell.cell_id == cell_id]
        outputs = cells[-1].execution.outputs if cells and cells[-1].execution else ()
        if not 0 <= index < len(outputs):
            raise DocumentNotFound(f"Output {index + 1} of this run is not there (any more).")
        output = outputs[index]
        data = output.get("data")
        text = data.get("text/plain") if isinstance(data, dict) else output.get("text")
        lines = output.get("traceback")
        return "\n".join(map(str, lines)) if isinstance(lines, list) else str(text or "")

    # -- for what shows state --------------------------------------------------------------------

    def open_runs(self) -> tuple[OpenRun, ...]:
        """What still runs or waits to run, by what was really asked of the kernels."""
        return tuple(run.open_run() for run in self._runs.values() if not run.over)

    def last_run(self, path: str, cell_id: str) -> LastRun | None:
        """The last run of a cell that was started here since the server started."""
        return self._last.get((path, cell_id))

    # -- for sessions ----------------------------------------------------------------------------

    def listen(self, *, detached: Listener, finished: Listener) -> None:
        """Hear of every run that is handed back, and of its end: in that order, once each.

        The session is named by `RunNotice.session_id`, the call by its `tool_call_id`.
        """
        self._listeners.append((detached, finished))

    def take_news(self, session_id: str) -> tuple[RunReport, ...]:
        """Runs of this session that ended after they were handed back, each told once."""
        news = [
            run
            for run in self._runs.values()
            if run.request.session_id == session_id
            and run.handed_back
            and run.over
            and not run.told
        ]
        for run in news:
            run.told = True
        return tuple(run.report() for run in news)

    def _notify(self, run: Run, listeners: list[Listener]) -> None:
        before, notice = run.notices, run.notice()

        async def tell() -> None:
            if before is not None:
                await before
            for listener in listeners:
                try:
                    await listener(notice)
                except VittoError as err:
                    _log.warning("run %s could not be told about: %s", run.run_id, err.message)

        run.notices = asyncio.create_task(tell())

    async def close(self) -> None:
        """End all runs; what they printed so far is stored. The kernels work on."""
        self._closing = True
        tasks = {run.task for run in self._runs.values() if run.task and not run.over}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_CLOSE_S)
        notices = {run.notices for run in self._runs.values() if run.notices}
        if notices:
            await asyncio.wait(notices, timeout=_CLOSE_S)
        if self.spool is not None:
            await self.spool.close()

    # -- a run -----------------------------------------------------------------------------------

    async def _work(self, run: Run) -> None:
        request = run.request
        try:
            async with self._queue(request.path):
                for index in range(len(run.cells)):
                    if run.stopping or not await self._goes_on(run, index):
                        break
                await self._save(run)
        except asyncio.CancelledError:
            if self._closing:
                await self._give_up(run)
            raise

    async def _goes_on(self, run: Run, index: int) -> bool:
        """Run one cell; whether the next one may follow."""
        run.current, run.since, run.began = index, _now(), time.monotonic()
        try:
            kernel = await self.kernels.for_notebook(
                run.request.path, kernel_name=run.request.kernel_name
            )
            run.cells[index] = await _CellRunner(self, run, index, kernel).run()
        except ToolError as err:
            reason = f"{err.message} {err.hint}".strip()
            run.cells[index] = replace(run.cells[index], state="failed", reason=reason)
        return run.cells[index].state == "ok"

    async def _save(self, run: Run) -> None:
        if any(cell.cell.cell_id for cell in run.cells):
            try:
                await self.documents.save(run.request.path)
            except ToolError as err:
                run.note(f"The notebook could not be saved: {err.message}")

    async def _give_up(self, run: Run) -> None:
        if run.current is not None and run.cells[run.current].state == "running":
            cell = run.cells[run.current]
            await self._save(run)
            reason = "the server was shut down while it ran"
            run.cells[run.current] = replace(cell, state="failed", reason=reason)

    def _end(self, run: Run, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (fault := task.exception()):
            _log.error("a run ended because of a fault in Vitto", exc_info=fault)
        ends: dict[str, RunState] = {"waiting": "not_run", "running": "failed"}
        run.cells = [replace(c, state=ends.get(c.state, c.state)) for c in run.cells]
        run.over = True
        run.watcher = None
        run.pulse()
        if run.handed_back:
            self._notify(run, [finished for _, finished in self._listeners])
        self._forget()

    async def mirror(self, run: Run, edits: Sequence[RunEdit]) -> None:
        """Write run edits into the notebook; the run itself does not depend on it."""
        edits = [edit for edit in edits if edit.cell_id]
        if not edits:
            return
        try:
            await self.documents.edit_notebook(run.request.path, edits)
            if run.over:
                await self.documents.save(run.request.path)
        except ToolError as err:
            run.note(f"Outputs could not be written into the notebook: {err.message}")

    def _queue(self, path: str) -> asyncio.Lock:
        lock = self._queues.get(path)
        if lock is None:
            lock = self._queues[path] = asyncio.Lock()
        return lock

    def remember(self, run: Run, cell: Cell, kernel: KernelInfo) -> None:
        key = (run.request.path, cell.cell_id)
        self._last[key] = LastRun(
            cell.revision, run.run_id, run.since, kernel.kernel_id, kernel.started_at
        )
        self._last.move_to_end(key)
        while len(self._last) > _LIMIT_CELLS:
            self._last.popitem(last=False)

    def _forget(self) -> None:
        """Drop the oldest ended runs, and the outputs of older ones when they hold too much."""
        ended = [run for run in self._runs.values() if run.over]
        for run in ended[: max(0, len(ended) - _LIMIT_RUNS)]:
            del self._runs[run.run_id]
        left = _LIMIT_CHARS
        for run in reversed(ended):
            left -= sum(size_of(c.execution.outputs) for c in run.cells if c.execution)
            if left < 0:
                run.cells = [
                    replace(c, execution=c.execution and replace(c.execution, outputs=()))
                    for c in run.cells
                ]


class _CellRunner:
    """One cell of a run, from the check of its source to its end."""

    def __init__(self, runs: Runs, run: Run, index: int, kernel: KernelInfo) -> None:
        self._runs = runs
        self._run = run
        self._index = index
        self._kernel = kernel
        self._cell = run.cells[index].cell
        self._outputs: tuple = ()

    async def run(self) -> CellRun:
        cell, request = self._cell, self._run.request
        if cell.cell_id:
            refused = await self._begin()
            if refused is not None:
                return refused
            self._runs.remember(self._run, cell, self._kernel)
        self._show_running()
        await self._run.tell_begin(self._index)
        spool, kernels = self._runs.spool, self._runs.kernels
        execution = None
        try:
            execution = await kernels.execute(
                self._kernel.kernel_id,
                cell.source,
                cell_id=cell.cell_id or None,
                timeout_s=math.inf,
                on_change=self._changed,
                on_input=self._ask if request.ask else None,
                overflow=spool.of_cell(self._run.run_id, cell.cell_id) if spool else None,
            )
        finally:  # whatever happens: a cell must not look as if it ran for ever
            await self._end(execution)
        return CellRun(cell, execution.state, execution)

    async def _begin(self) -> CellRun | None:
        """Show the cell as running; what came of it when it is not as it was shown."""
        cell, request = self._cell, self._run.request
        try:
            await self._runs.documents.edit_notebook(
                request.path, [BeginRun(cell.cell_id, cell.revision, request.trusted)]
            )
        except EditConflict as err:
            return await self._refused(err)
        except (DocumentNotFound, PageGone):
            raise  # nobody could say whether the cell is still what was shown
        except ToolError as err:
            self._run.note(f"Outputs could not be written into the notebook: {err.message}")
        return None

    async def _refused(self, err: EditConflict) -> CellRun:
        notebook = await self._runs.documents.read_notebook(self._run.request.path)
        now = notebook.cell(self._cell.cell_id)
        if now is None:
            return CellRun(self._cell, "gone")
        if now.revision == self._cell.revision:
            return CellRun(self._cell, "failed", reason=err.message)
        return CellRun(now, "changed")

    async def _end(self, execution: Execution | None) -> None:
        count = execution.execution_count if execution else None
        timing = execution.timing if execution else {}
        await self._runs.mirror(self._run, [EndRun(self._cell.cell_id, count, timing)])

    async def _changed(self, edits: Sequence[RunEdit]) -> None:
        for edit in edits:
            if edit.cell_id == self._cell.cell_id:
                self._outputs = fold_output(self._outputs, edit)
        if self._run.cells[self._index].state == "running":
            self._show_running()
        self._run.update_earlier(edits, until=self._index)
        await self._runs.mirror(self._run, edits)
        await self._run.tell(edits)

    def _show_running(self) -> None:
        so_far = Execution("running", None, self._outputs, 0.0)
        self._run.cells[self._index] = CellRun(self._cell, "running", so_far)

    async def _ask(self, question: Question) -> str | None:
        assert self._run.request.ask is not None
        self._run.asking += 1
        self._run.pulse()
        try:
            return await self._run.request.ask(question)
        finally:
            self._run.asking -= 1
            self._run.pulse()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
