"""Runs: they outlive who started them, and every end is told once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from vitto_jupyter.errors import DocumentNotFound, KernelUnavailable, StorageFailed
from vitto_jupyter.workspace.base import Cell, Execution, Question, SetOutput
from vitto_jupyter.workspace.memory import MemoryDocuments, MemoryKernels, stream
from vitto_jupyter.workspace.runs import runs as runs_module
from vitto_jupyter.workspace.runs.run_reports import RunNotice, in_words
from vitto_jupyter.workspace.runs.run_state import Run, RunRequest
from vitto_jupyter.workspace.runs.runs import Runs

N = "n.ipynb"


class Gate:
    """An answer of a kernel that ends when it is opened."""

    def __init__(self, text: str = "done\n") -> None:
        self.started = asyncio.Event()
        self.opened = asyncio.Event()
        self.text = text

    async def __call__(self) -> Execution:
        self.started.set()
        await self.opened.wait()
        return Execution("ok", None, (stream(self.text),), 0.01)


class Scene:
    def __init__(self, **answers: Any) -> None:
        self.documents = MemoryDocuments(notebooks={N: list("abc"), "m.ipynb": ["a"]})
        self.kernels = MemoryKernels(answers)
        self.runs = Runs(self.documents, self.kernels)
        self.heard: list[tuple[str, RunNotice]] = []
        self.runs.listen(detached=self._hear("detached"), finished=self._hear("finished"))

    def _hear(self, what: str) -> Callable[[RunNotice], Awaitable[None]]:
        async def hear(notice: RunNotice) -> None:
            self.heard.append((what, notice))

        return hear

    async def start(self, path: str = N, sources: str = "", **options: Any) -> Run:
        cells = (await self.documents.read_notebook(path)).cells
        wanted = tuple(cell for cell in cells if not sources or cell.source in sources)
        return await self.runs.start(RunRequest(path, wanted, "python3", "s1", "t1", **options))

    async def ended(self, run: Run) -> list[str]:
        assert await self.runs.wait(run, 5)
        if run.notices:
            await run.notices
        return [cell.state for cell in run.report().runs]


async def test_a_run_that_was_handed_back_is_told_of_and_is_news_once() -> None:
    gate = Gate()
    scene = Scene(b=gate)
    run = await scene.start()
    await gate.started.wait()
    scene.runs.hand_back(run)
    scene.runs.hand_back(run)
    assert scene.runs.take_news("s1") == ()
    gate.opened.set()
    assert await scene.ended(run) == ["ok", "ok", "ok"]
    assert [(what, n.labels, n.state, n.text) for what, n in scene.heard] == [
        ("detached", ("2", "3"), "running", ""),
        ("finished", (), "ok", "3 cells ran"),
    ]
    assert {(n.run_id, n.session_id, n.tool_call_id, n.path) for _, n in scene.heard} == {
        (run.run_id, "s1", "t1", N)
    }
    assert scene.runs.take_news("other") == ()
    assert scene.runs.take_news("s1") == (run.report(),)
    assert scene.runs.take_news("s1") == ()


async def test_a_run_that_ended_in_its_call_is_no_news() -> None:
    scene = Scene()
    run = await scene.start()
    await scene.ended(run)
    scene.runs.hand_back(run)
    assert (scene.heard, scene.runs.take_news("s1")) == ([], ())


async def test_a_listener_that_fails_does_not_matter() -> None:
    gate = Gate()
    scene = Scene(a=gate)

    async def fail(notice: RunNotice) -> None:
        raise StorageFailed("The disk is full.")

    scene.runs.listen(detached=fail, finished=fail)
    run = await scene.start()
    scene.runs.hand_back(run)
    gate.opened.set()
    assert await scene.ended(run) == ["ok", "ok", "ok"]


async def test_runs_of_one_notebook_go_one_after_the_other_and_others_at_once() -> None:
    gate = Gate()
    scene = Scene(a=gate)
    first = await scene.start()
    await gate.started.wait()
    second = await scene.start(sources="b")
    gate_free = await scene.start("m.ipynb")
    waiting = {r.run_id: (r.label, bool(r.since)) for r in scene.runs.open_runs()}
    assert waiting[first.run_id] == ("1", True)
    assert waiting[second.run_id] == ("", False)
    assert [code for _, code, _ in scene.kernels.ran] == ["a"]
    gate.opened.set()
    for run in (first, second, gate_free):
        await scene.ended(run)
    sources = [code for path, code, _ in scene.kernels.ran if path == N]
    assert sources == ["a", "b", "c", "b"]
    assert scene.runs.open_runs() == ()


async def test_a_stop_ends_a_run_that_has_not_begun() -> None:
    gate = Gate()
    scene = Scene(a=gate)
    await scene.start()
    await gate.started.wait()
    second = await scene.start(sources="bc")
    scene.runs.stop_after_current(second)
    assert await scene.ended(second) == ["not_run", "not_run"]
    assert [code for _, code, _ in scene.kernels.ran] == ["a"]
    gate.opened.set()


async def test_time_in_which_the_user_is_asked_is_free() -> None:
    answered = asyncio.Event()
    asked: list[Question] = []

    async def ask(question: Question) -> str:
        asked.append(question)
        await answered.wait()
        return "Bob"

    scene = Scene(a=Question("name? "))
    run = await scene.start(sources="a", ask=ask)
    waiting = asyncio.create_task(scene.runs.wait(run, 0.01))
    done, _ = await asyncio.wait({waiting}, timeout=0.1)
    assert not done and asked == [Question("name? ")]
    (left,) = scene.runs.open_runs()
    assert left.asks
    answered.set()
    assert await waiting
    cell = scene.documents.saved_notebook(N).cells[0]
    assert cell.outputs == (stream("name? Bob\n", "stdin"),)


async def test_the_last_run_of_a_cell_is_remembered_with_its_source() -> None:
    scene = Scene()
    run = await scene.start(sources="a")
    await scene.ended(run)
    (cell, *_) = (await scene.documents.read_notebook(N)).cells
    last = scene.runs.last_run(N, cell.cell_id)
    assert last is not None
    assert (last.revision, last.run_id) == (cell.revision, run.run_id)
    assert scene.runs.last_run(N, "c2") is None


async def test_a_cell_of_another_source_is_not_run_and_not_remembered() -> None:
    scene = Scene()
    stale = Cell("c1", "code", "a old", "1")
    run = await scene.runs.start(RunRequest(N, (stale,), "python3"))
    assert await scene.ended(run) == ["changed"]
    assert run.report().runs[0].cell.source == "a"
    assert (scene.kernels.ran, scene.runs.last_run(N, "c1")) == ([], None)


class Updating(MemoryKernels):
    """The second cell changes what the first one displays."""

    async def execute(self, kernel_id: str, code: str, **options: Any) -> Execution:
        if code == "b":
            await options["on_change"]([SetOutput("c1", 0, stream("updated\n"))])
        return await super().execute(kernel_id, code, **options)


async def test_what_a_later_cell_changes_of_an_earlier_one_is_reported() -> None:
    scene = Scene()
    scene.kernels = scene.runs.kernels = Updating({"a": "first\n"})
    run = await scene.start(sources="ab")
    await scene.ended(run)
    (execution, _) = (cell.execution for cell in run.report().runs)
    assert execution is not None
    assert execution.outputs == (stream("updated\n"),)


async def test_scratch_code_is_in_no_notebook() -> None:
    scene = Scene(x="printed\n")
    scratch = Cell("", "code", "x", "")
    run = await scene.runs.start(RunRequest(N, (scratch,), "python3"))
    assert await scene.ended(run) == ["ok"]
    assert scene.kernels.ran == [(N, "x", None)]
    assert in_words(run.report()) == "the code ran"
    part = await scene.runs.output_part(run.run_id, "", 0, start=3, count=4)
    assert (part.text, part.total_chars) == ("nted", 8)
    with pytest.raises(DocumentNotFound):
        await scene.runs.output_part(run.run_id, "", 1, start=0, count=4)


async def test_what_ended_runs_hold_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs_module, "_LIMIT_RUNS", 3)
    monkeypatch.setattr(runs_module, "_LIMIT_CHARS", 25)
    scene = Scene(a="x" * 10)
    made = []
    for _ in range(5):
        run = await scene.start(sources="a")
        await scene.ended(run)
        made.append(run)
    assert [scene.runs.find(run.run_id) is not None for run in made] == [False] * 2 + [True] * 3
    outputs = [run.report().runs[0].execution for run in made[2:]]
    assert [bool(e and e.outputs) for e in outputs] == [False, True, True]


async def test_closing_stores_what_was_printed_and_ends_all_runs() -> None:
    gate = Gate()
    scene = Scene(a=gate)
    run, second = await scene.start(), await scene.start()
    await gate.started.wait()
    scene.runs.hand_back(run)
    await scene.runs.close()
    assert [cell.state for cell in run.report().runs] == ["failed", "not_run", "not_run"]
    assert second.over and scene.runs.open_runs() == ()
    assert scene.documents.running_cells(N) == frozenset()
    assert [what for what, _ in scene.heard] == ["detached", "finished"]
    with pytest.raises(KernelUnavailable):
        await scene.start()


async def test_a_kernel_that_cannot_be_started_is_said_before_anything_begins() -> None:
    scene = Scene()
    with pytest.raises(KernelUnavailable):
        await scene.runs.start(RunRequest(N, (Cell("c1", "code", "a", "1"),), "cobol"))
    assert scene.documents.running_cells(N) == frozenset()
