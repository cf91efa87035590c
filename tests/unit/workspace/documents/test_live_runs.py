"""LiveRuns: how a run begins, and what a page that comes later is told."""

from __future__ import annotations

from typing import Any

import pytest

from vitto_jupyter.errors import DeadlineExceeded, DocumentNotFound, EditConflict
from vitto_jupyter.workspace.base import (
    AddOutput,
    BeginRun,
    EndRun,
    Output,
    RunEdit,
    revision_of,
)
from vitto_jupyter.workspace.documents.live_runs import LiveRuns
from vitto_jupyter.workspace.documents.pages import PageGone, Pages
from vitto_jupyter.workspace.memory import MemoryDocuments

N = "n.ipynb"
BASE = revision_of("code\n1")
STALE = revision_of("code\nother")
BEGIN = BeginRun("c1", BASE, trusted=True)
OUT: Output = {"output_type": "stream", "name": "stdout", "text": "one\n"}


class Hosts:
    """One page, or none; `error` is what it answers instead of making the edits."""

    def __init__(self) -> None:
        self.page = ""
        self.unsaved = False
        self.error: Exception | None = None
        self.told: list[dict[str, Any]] = []

    def holder(self, path: str) -> Any:
        return self.page or None

    def has_unsaved(self, path: str) -> bool:
        return self.unsaved

    async def call(self, path: str, method: str, params: Any, *, timeout_s: float) -> Any:
        if self.error is not None:
            error, self.error = self.error, None
            if isinstance(error, PageGone | DocumentNotFound):
                self.page = ""
            raise error
        self.told += params.get("edits", [])
        return {}


class Scene:
    def __init__(self) -> None:
        self.hosts = Hosts()
        self.disk = MemoryDocuments(notebooks={N: ["1"]})
        self.runs = LiveRuns(Pages(self.hosts), self.disk)

    async def apply(self, *edits: RunEdit) -> None:
        await self.runs.apply(N, edits)

    async def stored(self) -> tuple[Output, ...]:
        return (await self.disk.read_notebook(N)).cells[0].outputs


async def test_with_no_page_the_file_says_whether_the_cell_is_still_the_same() -> None:
    scene = Scene()
    with pytest.raises(EditConflict):
        await scene.apply(BeginRun("c1", STALE))
    with pytest.raises(EditConflict):
        await scene.apply(BeginRun("gone", BASE))
    await scene.apply(BEGIN)
    await scene.apply(AddOutput("c1", OUT), EndRun("c1", 1))
    assert await scene.stored() == (OUT,)


async def test_a_run_that_was_refused_has_not_begun() -> None:
    scene = Scene()
    scene.hosts.page = "page"
    scene.hosts.error = EditConflict("the user typed")
    with pytest.raises(EditConflict):
        await scene.apply(BEGIN)
    await scene.apply(AddOutput("c1", OUT))
    assert [edit["op"] for edit in scene.hosts.told] == ["add_output"]


async def test_what_only_a_silent_page_knows_is_not_run() -> None:
    scene = Scene()
    scene.hosts.page, scene.hosts.unsaved = "page", True
    scene.hosts.error = PageGone(N, unsaved=True)
    with pytest.raises(PageGone):
        await scene.apply(BEGIN)


async def test_a_page_that_closed_a_moment_ago_leaves_the_check_to_the_file() -> None:
    scene = Scene()
    scene.hosts.page = "page"
    scene.hosts.error = DocumentNotFound("not open here")
    with pytest.raises(EditConflict):
        await scene.apply(BeginRun("c1", STALE))
    scene.hosts.page = "page"
    scene.hosts.error = DocumentNotFound("not open here")
    await scene.apply(BEGIN)
    await scene.apply(EndRun("c1", 1))
    assert await scene.stored() == ()


async def test_a_clean_page_that_is_gone_leaves_the_check_to_the_file() -> None:
    scene = Scene()
    scene.hosts.page = "page"
    scene.hosts.error = PageGone(N, unsaved=False)
    with pytest.raises(EditConflict):
        await scene.apply(BeginRun("c1", STALE))
    await scene.apply(AddOutput("c1", OUT))
    assert scene.hosts.told == []


async def test_a_page_that_took_the_start_and_did_not_answer_gets_all_of_it_again() -> None:
    scene = Scene()
    scene.hosts.page = "page"
    scene.hosts.error = DeadlineExceeded("no answer")
    await scene.apply(BEGIN)
    await scene.apply(AddOutput("c1", OUT))
    assert [edit["op"] for edit in scene.hosts.told] == ["begin_run", "add_output"]


async def test_a_page_that_opens_later_hears_of_the_trust_and_not_of_the_source() -> None:
    scene = Scene()
    await scene.apply(BEGIN)
    await scene.apply(AddOutput("c1", OUT))
    scene.hosts.page = "page"
    await scene.apply(AddOutput("c1", OUT))
    begun = scene.hosts.told[0]
    assert (begun["op"], begun["base"], begun["trusted"]) == ("begin_run", None, True)
    assert [edit["op"] for edit in scene.hosts.told] == ["begin_run", "add_output", "add_output"]
    scene.hosts.told.clear()
    await scene.apply(EndRun("c1", 1))
    assert [edit["op"] for edit in scene.hosts.told] == ["end_run"]


async def test_results_that_a_page_saved_are_not_written_again() -> None:
    scene = Scene()
    scene.hosts.page = "page"
    await scene.apply(BEGIN)
    await scene.apply(AddOutput("c1", OUT), EndRun("c1", 1))
    await scene.runs.save(N)
    scene.hosts.page = ""
    await scene.runs.save(N)
    assert (scene.runs.owed_paths, await scene.stored()) == ((), ())


async def test_a_page_that_closes_before_it_saved_leaves_the_results_to_the_file() -> None:
    scene = Scene()
    scene.hosts.page = "page"
    await scene.apply(BEGIN)
    await scene.apply(AddOutput("c1", OUT), EndRun("c1", 1))
    scene.hosts.page = ""
    await scene.runs.save(N)
    assert await scene.stored() == (OUT,)


async def test_a_page_that_closes_between_two_cells_leaves_the_first_to_the_file() -> None:
    scene = Scene()
    scene.hosts.page = "page"
    await scene.apply(BEGIN)
    await scene.apply(AddOutput("c1", OUT), EndRun("c1", 1))
    assert scene.runs.owed_paths == ()
    scene.hosts.page = ""
    assert scene.runs.owed_paths == (N,)
    await scene.runs.deliver(N)
    assert (await scene.stored(), scene.runs.owed_paths) == ((OUT,), ())
