"""Whatever happens to pages and calls, no character that the user typed is lost.

A user, in up to two tabs, and an agent work on one notebook. Calls are lost, repeated and
delayed; pages sleep, close, crash and open again. Every piece of text is marked, so that it can
be told where it went; what is claimed of the agent's edits must be true as well.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from simulated_page import SimulatedPage
from virtual_time import run_virtually

from vitto_jupyter.errors import DeadlineExceeded, ToolError
from vitto_jupyter.protocol.base import HostId
from vitto_jupyter.services.hosts import Hosts
from vitto_jupyter.workspace.base import (
    AddOutput,
    BeginRun,
    Cell,
    DeleteCell,
    EndRun,
    InsertCells,
    MoveCells,
    NewCell,
    Notebook,
    NotebookEdit,
    ReplaceSource,
    RunEdit,
)
from vitto_jupyter.workspace.documents.live import LiveDocuments
from vitto_jupyter.workspace.memory import MemoryDocuments, notebook_of

N = "n.ipynb"
Step = tuple[str, int, int]

USER = ("type", "type", "type", "move", "delete", "save")
PAGES = ("open", "close", "crash", "sleep", "wake", "lose call", "lose answer", "delay")
AGENT = ("read", "read", "append", "append", "insert", "delete cell", "move cell", "run")
steps = st.lists(
    st.tuples(
        st.sampled_from((*USER, *PAGES, *AGENT, "pass", "pass")),
        st.integers(0, 5),
        st.integers(0, 5),
    ),
    min_size=10,
    max_size=40,
)
WAITS_S = (0.0, 0.1, 1.0, 3.0, 15.0, 60.0)


class LoopClock:
    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()


class Disk(MemoryDocuments):
    """The files, which pages read and write as a whole."""

    before_write: Callable[[], None]

    async def load(self, path: str) -> list[dict[str, Any]]:
        return [
            {
                "cell_id": cell.cell_id,
                "cell_type": cell.cell_type,
                "source": cell.source,
                "execution_count": cell.execution_count,
                "outputs": list(cell.outputs),
            }
            for cell in self.saved_notebook(path).cells
        ]

    async def store(self, path: str, cells: list[dict[str, Any]]) -> None:
        made = [Cell(c["cell_id"], c["cell_type"], c["source"], "") for c in cells]
        self._store(path, replace(notebook_of(*made), path=path))

    async def edit_notebook(self, path: str, edits: Sequence[NotebookEdit]) -> None:
        self.before_write()
        await super().edit_notebook(path, edits)

    def texts(self) -> str:
        return "\0".join(cell.source for cell in self.saved_notebook(N).cells)


class World:
    """The user, the agent, their marks, and everything between them."""

    def __init__(self) -> None:
        self.disk = Disk(notebooks={N: ["a", "b", "c"]})
        self.disk.before_write = self._check_write
        self.pages: list[SimulatedPage] = []
        self.notices: list[str] = []
        self.hosts = Hosts(self._wake, LoopClock())  # type: ignore[arg-type]
        self.live = LiveDocuments(self.hosts, self.disk)
        self.hosts.listen(self.live.pages_changed)
        self.read: Notebook | None = None
        self.marks = 0
        self.typed: list[str] = []
        self.given_up: set[str] = set()
        self.refused: set[str] = set()
        self.wrong: list[str] = []
        self.acts: list[asyncio.Task[None]] = []

    def _wake(self, host_id: HostId) -> None:
        for page in self.pages:
            page.wake(host_id)

    def mark(self, who: str) -> str:
        self.marks += 1
        return f"<{who}{self.marks}>"

    def everything(self) -> str:
        held = [cell["source"] for page in self.pages for cell in page.notebooks[N]]
        shown = [text for page in self.pages for text in page.notices]
        return "\0".join([*held, *shown, *self.notices, self.disk.texts()])

    def give_up(self, source: str) -> None:
        """Whoever saw this text had it go."""
        self.given_up |= set(re.findall(r"<\w+>", source))

    def _check_write(self) -> None:
        """The server writes the file: no page may be known to hold unsaved changes."""
        if any(page.told_dirty(N) for page in self.pages):
            self.wrong.append("the file was written over a page with unsaved changes")

    # -- steps -----------------------------------------------------------------------------------

    async def do(self, step: Step) -> None:
        name, first, second = step
        if name == "pass":
            await asyncio.sleep(WAITS_S[first])
        elif name == "open":
            await self.open()
        elif name in AGENT:
            self.acts.append(asyncio.create_task(self.act(name, first, second)))
            await asyncio.sleep(0)
        elif self.pages:
            await self.in_page(name, self.pages[first % len(self.pages)], second)

    async def open(self) -> None:
        if len(self.pages) == 2:
            return
        page = SimulatedPage(self.mark("page"), store=self.store, load=self.disk.load, pace_s=0.7)
        page.notebooks[N] = page.on_disk[N] = await self.disk.load(N)
        page.active = N
        self.pages.append(page)
        page.connect(self.hosts)

    async def store(self, path: str, cells: list[dict[str, Any]]) -> None:
        """Saved by a page: the server's event has the others look."""
        await self.disk.store(path, cells)
        for page in self.pages:
            if page.hears and page.notebooks[N] is not cells:
                await page.look_on_disk(N)

    async def in_page(self, name: str, page: SimulatedPage, number: int) -> None:
        cells = page.notebooks[N]
        cell = cells[number % len(cells)] if cells else None
        match name:
            case "close" | "crash":
                self.leave(page, closing=name == "close")
            case "sleep":
                page.sleep()
            case "wake":
                await page.wake_up()
            case "lose call" | "lose answer":
                method = ("edit_notebook", "read_notebook", "save")[number % 3]
                page.losses.setdefault(method, []).append(name.removeprefix("lose "))
            case "delay":
                page.delay_s = WAITS_S[number]
            case "save" if page.hears:
                await page.user_saves(N)
            case "type" if cell:
                mark = self.mark("user")
                self.typed.append(mark)
                page.user_types(N, cell["cell_id"], mark)
            case "move" if cell:
                page.user_moves(N, cell["cell_id"], number % 2)
            case "delete" if cell:
                self.give_up(cell["source"])
                page.user_deletes(N, cell["cell_id"])

    def leave(self, page: SimulatedPage, *, closing: bool) -> None:
        """What was not saved goes with the page, as the browser warns."""
        self.pages.remove(page)
        self.notices += page.notices
        for cell in page.notebooks[N]:
            self.give_up(cell["source"])
        if closing:
            page.close()
        else:
            page.crash()

    # -- the agent -------------------------------------------------------------------------------

    async def act(self, name: str, first: int, second: int) -> None:
        mark = self.mark("agent")
        if name == "read" or self.read is None:
            await self.look()
            return
        cells = self.read.cells
        if name == "run" and cells:
            await self.run(cells[first % len(cells)])
            return
        edits = _edits(name, cells, first, second, mark)
        if not edits:
            return
        deleted = "" if name != "delete cell" else cells[first % len(cells)].source
        self.give_up(deleted)  # the agent saw this text, and nothing else of the cell may go
        try:
            await self.live.edit_notebook(N, edits)
        except DeadlineExceeded:
            return  # nothing is claimed
        except ToolError:
            self.refused.add(mark)
            return
        if name in ("append", "insert") and mark not in self.everything():
            if mark not in self.given_up:
                self.wrong.append(f"{mark} was said to be made")
        await self.look()

    async def run(self, cell: Cell) -> None:
        """As runs do it: the beginning, outputs and the end one by one."""
        output = {"output_type": "stream", "name": "stdout", "text": "x"}
        parts: tuple[RunEdit, ...] = (
            BeginRun(cell.cell_id, cell.revision),
            AddOutput(cell.cell_id, output),
            EndRun(cell.cell_id, 1),
        )
        try:
            for part in parts:
                await self.live.edit_notebook(N, [part])
            await self.live.save(N)
        except ToolError:
            return

    async def look(self) -> None:
        try:
            self.read = await self.live.read_notebook(N)
        except ToolError:
            return

    # -- the end ---------------------------------------------------------------------------------

    async def settle(self) -> None:
        """All calm down: pages are awake and quick, and calls come to their ends."""
        for page in self.pages:
            page.losses.clear()
            page.delay_s = 0
            await page.wake_up()
        if not self.pages:
            await self.open()
        await asyncio.sleep(300)
        await asyncio.gather(*self.acts)
        await self.live.close()


def _edits(
    name: str, cells: tuple[Cell, ...], first: int, second: int, mark: str
) -> list[NotebookEdit]:
    if not cells:
        return [InsertCells("end", (NewCell("code", mark, mark),))] if name == "insert" else []
    cell, other = cells[first % len(cells)], cells[second % len(cells)]
    match name:
        case "append":
            return [ReplaceSource(cell.cell_id, cell.revision, cell.source + mark)]
        case "insert":
            return [InsertCells(cell.cell_id, (NewCell("code", mark, mark),))]
        case "delete cell":
            return [DeleteCell(cell.cell_id, cell.revision)]
        case "move cell" if cell.cell_id != other.cell_id:
            return [MoveCells((cell.cell_id,), other.cell_id)]
    return []


async def _play(script: list[Step]) -> None:
    world = World()
    await world.open()
    await world.look()
    for step in script:
        await world.do(step)
    await world.settle()
    found = world.everything()
    lost = [mark for mark in world.typed if mark not in found and mark not in world.given_up]
    assert not lost, f"the user's {lost} are nowhere: {found!r}"
    made = [mark for mark in world.refused if mark in found]
    assert not world.wrong, f"{world.wrong}: {found!r}"
    assert not made, f"the agent's {made} were said not to be made: {found!r}"


@settings(
    derandomize=True,
    deadline=None,
    max_examples=300,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(steps)
def test_no_sequence_of_edits_and_faults_loses_what_the_user_typed(script: list[Step]) -> None:
    run_virtually(_play(script))
