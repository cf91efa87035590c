"""LiveDocuments: the page that holds a document wins, and what happens when it goes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from simulated_page import SimulatedPage

from vitto_jupyter.errors import DeadlineExceeded, EditConflict, ToolError, WriteFailed
from vitto_jupyter.protocol.base import HostId
from vitto_jupyter.services.hosts import Hosts, Patience
from vitto_jupyter.testing.doubles import FakeClock
from vitto_jupyter.workspace.base import (
    AddOutput,
    BeginRun,
    DeleteCell,
    EndRun,
    InsertCells,
    NewCell,
    Output,
    ReplaceSource,
    SetOutput,
    revision_of,
)
from vitto_jupyter.workspace.live import LiveDocuments
from vitto_jupyter.workspace.memory import MemoryDocuments
from vitto_jupyter.workspace.pages import PageGone

N, T = "n.ipynb", "a.py"


def stream(text: str) -> Output:
    return {"output_type": "stream", "name": "stdout", "text": text}


def cell(cell_id: str, source: str) -> dict[str, Any]:
    return {
        "cell_id": cell_id,
        "cell_type": "code",
        "source": source,
        "execution_count": None,
        "outputs": [],
    }


class Scene:
    """A disk, and pages that have unsaved edits of a.py and n.ipynb."""

    def __init__(self) -> None:
        self.disk = MemoryDocuments({T: "disk\n", "other.txt": "o"}, {N: ["1"]})
        self.pages: list[SimulatedPage] = []
        self.saving = asyncio.Event()
        patience = Patience(fetch_s=0.06, wake_s=0.02)
        self.hosts = Hosts(self._wake, FakeClock(), patience=patience)
        self.live = LiveDocuments(self.hosts, self.disk, timeout_s=0.5)
        self.hosts.listen(self.live.pages_changed)

    def _wake(self, host_id: HostId) -> None:
        for page in self.pages:
            page.wake(host_id)

    def open_page(self, host_id: str = "page", *, dirty: bool = True) -> SimulatedPage:
        page = SimulatedPage(host_id, store=self._store)
        page.texts[T] = "page\n"
        page.notebooks[N] = [cell("c1", "typed")]
        page.dirty = {T, N} if dirty else set()
        self.pages.append(page)
        page.connect(self.hosts)
        return page

    async def _store(self, path: str, held: Any) -> None:
        self.saved = (path, held)
        self.saving.set()

    async def run(self, *edits: Any) -> None:
        await self.live.edit_notebook(N, edits)

    def on_disk(self) -> tuple[Output, ...]:
        return self.disk.saved_notebook(N).cells[0].outputs


@pytest.fixture
async def scene():
    scene = Scene()
    yield scene
    await scene.live.close()


async def test_a_held_document_is_read_in_its_page(scene: Scene) -> None:
    scene.open_page()
    text = await scene.live.read_text(T)
    assert (text.text, text.held, text.revision) == ("page\n", True, revision_of("page\n"))
    notebook = await scene.live.read_notebook(N)
    assert (notebook.cells[0].source, notebook.held, notebook.dirty) == ("typed", True, True)
    assert (notebook.kernel_name, notebook.language) == ("python3", "python")
    assert (await scene.live.read_text("other.txt")).held is False


async def test_an_edit_of_a_held_document_is_made_there_and_not_saved(scene: Scene) -> None:
    page = scene.open_page(dirty=False)
    await scene.live.write_text(T, "new\r\n", base=revision_of("page\n"))
    base = (await scene.live.read_notebook(N)).cells[0].revision
    await scene.live.edit_notebook(
        N, [ReplaceSource("c1", base, "x"), InsertCells("c1", (NewCell("code", "y", "c2"),))]
    )
    assert page.texts[T] == "new\n"
    assert [c["source"] for c in page.notebooks[N]] == ["x", "y"]
    assert (scene.disk.disk[T], scene.disk.saved_notebook(N).cells[0].source) == (b"disk\n", "1")
    await scene.live.save(N)
    assert scene.saved[0] == N


async def test_the_edits_travel_as_the_brief_says(scene: Scene) -> None:
    """The TypeScript side is written against exactly this JSON."""
    page = scene.open_page()
    base = revision_of("code\ntyped")
    await scene.run(
        ReplaceSource("c1", base, "s"),
        InsertCells("start", (NewCell("markdown", "m", "c0"),)),
        DeleteCell("c0", revision_of("markdown\nm")),
    )
    await scene.run(BeginRun("c1"))
    await scene.run(SetOutput("c1", 0, stream("a")), EndRun("c1", 3, {"k": "t"}))
    sent = [call.params["edits"] for call in page.calls]
    assert sent == [
        [
            {"op": "replace_source", "cell_id": "c1", "base": base, "source": "s"},
            {
                "op": "insert_cells",
                "after": "start",
                "cells": [{"cell_type": "markdown", "source": "m", "cell_id": "c0"}],
            },
            {"op": "delete_cell", "cell_id": "c0", "base": revision_of("markdown\nm")},
        ],
        [{"op": "begin_run", "cell_id": "c1", "base": None, "trusted": False}],
        [
            {"op": "set_output", "cell_id": "c1", "index": 0, "output": stream("a")},
            {"op": "end_run", "cell_id": "c1", "execution_count": 3, "timing": {"k": "t"}},
        ],
    ]


async def test_a_conflict_in_the_page_changes_nothing_anywhere(scene: Scene) -> None:
    page = scene.open_page()
    with pytest.raises(EditConflict):
        await scene.live.write_text(T, "mine", base=revision_of("disk\n"))
    with pytest.raises(EditConflict):
        await scene.live.write_text(T, "mine", base=None)
    with pytest.raises(EditConflict):
        await scene.run(ReplaceSource("c1", revision_of("code\n1"), "mine"))
    assert (page.texts[T], page.notebooks[N][0]["source"]) == ("page\n", "typed")
    assert scene.disk.disk[T] == b"disk\n"


async def test_what_the_page_answers_is_not_believed_blindly(scene: Scene) -> None:
    page = scene.open_page()

    async def lie(**params: Any) -> dict[str, Any]:
        return {"text": "something else"}

    page._write_text = lie  # type: ignore[method-assign]
    with pytest.raises(WriteFailed, match="reads back differently"):
        await scene.live.write_text(T, "mine", base=revision_of("page\n"))
    page.notebooks[N] = [{"cell_id": 5}]
    with pytest.raises(ToolError) as caught:
        await scene.live.read_notebook(N)
    assert caught.value.code == "bad_answer"


# -- pages that go -------------------------------------------------------------------------------


async def test_a_silent_page_without_unsaved_changes_does_not_matter(scene: Scene) -> None:
    scene.open_page(dirty=False).hears = False
    assert (await scene.live.read_text(T)).text == "disk\n"
    await scene.live.write_text(T, "new\n", base=revision_of("disk\n"))
    assert scene.disk.disk[T] == b"new\n"


async def test_unsaved_changes_in_a_silent_page_are_never_overwritten(scene: Scene) -> None:
    page = scene.open_page()
    page.hears = False
    for _ in range(2):
        with pytest.raises(PageGone, match="unsaved changes and did not answer"):
            await scene.live.write_text(T, "mine", base=revision_of("disk\n"))
    assert scene.disk.disk[T] == b"disk\n"
    page.hears = True
    page.register()
    await scene.live.write_text(T, "mine", base=revision_of("page\n"))
    assert page.texts[T] == "mine"


async def test_a_silent_page_that_can_hear_again_is_found(scene: Scene) -> None:
    page = scene.open_page()
    page.hears = False
    with pytest.raises(PageGone):
        await scene.live.read_text(T)
    page.hears = True
    returned = asyncio.Event()
    scene.hosts.listen(returned.set)
    with pytest.raises(PageGone):
        await scene.live.read_text(T)
    async with asyncio.timeout(5):
        await returned.wait()
    assert (await scene.live.read_text(T)).text == "page\n"


async def test_line_ends_that_only_the_page_has_do_not_block_edits(scene: Scene) -> None:
    page = scene.open_page()
    page.texts[T] = "a\r\nb"
    page.notebooks[N][0]["source"] = "c\r\nd"
    found = await scene.live.read_text(T)
    assert found.text == "a\nb"
    await scene.live.write_text(T, "new", base=found.revision)
    cell = (await scene.live.read_notebook(N)).cells[0]
    await scene.run(ReplaceSource("c1", cell.revision, "e"))
    assert (page.texts[T], page.notebooks[N][0]["source"]) == ("new", "e")


async def test_another_page_with_the_document_takes_over(scene: Scene) -> None:
    other = scene.open_page("other")
    scene.open_page("silent").hears = False
    await scene.live.write_text(T, "mine", base=revision_of("page\n"))
    assert other.texts[T] == "mine"


async def test_an_unanswered_write_is_said_to_be_open(scene: Scene) -> None:
    page = scene.open_page()
    page.answers = False
    with pytest.raises(DeadlineExceeded, match="unknown"):
        await scene.live.write_text(T, "mine", base=revision_of("page\n"))
    page.answers = True
    assert (await scene.live.read_text(T)).text == "mine"


async def test_a_document_that_was_closed_a_moment_ago_is_read_from_the_file(scene: Scene) -> None:
    del scene.open_page().texts[T]
    assert (await scene.live.read_text(T)).text == "disk\n"


# -- runs ----------------------------------------------------------------------------------------

WHOLE = (stream("1\n2\n3\n"),)


async def test_a_run_with_no_page_is_stored_at_its_end(scene: Scene) -> None:
    await scene.run(BeginRun("c1"))
    await scene.run(AddOutput("c1", stream("1\n2\n")))
    await scene.run(AddOutput("c1", stream("3\n")), EndRun("c1", 1))
    assert scene.on_disk() == WHOLE


async def test_a_page_that_opens_in_the_middle_gets_the_whole_run(scene: Scene) -> None:
    await scene.run(BeginRun("c1"), AddOutput("c1", stream("1\n")))
    page = scene.open_page()
    await scene.run(AddOutput("c1", stream("2\n")))
    assert (page.cell(N, "c1")["outputs"], page.running) == ([stream("1\n2\n")], {"c1"})
    await scene.run(AddOutput("c1", stream("3\n")), EndRun("c1", 7))
    found = page.cell(N, "c1")
    assert (tuple(found["outputs"]), found["execution_count"]) == (WHOLE, 7)
    assert page.running == set()
    assert scene.on_disk() == ()  # the page saves


async def test_a_page_that_closes_in_the_middle_leaves_the_run_to_the_file(scene: Scene) -> None:
    page = scene.open_page()
    await scene.run(BeginRun("c1"), AddOutput("c1", stream("1\n2\n")))
    page.close()
    await scene.run(AddOutput("c1", stream("3\n")))
    await scene.run(EndRun("c1", 1))
    assert scene.on_disk() == WHOLE


async def test_a_page_that_sleeps_through_the_end_gets_the_outputs_on_waking(scene: Scene) -> None:
    page = scene.open_page()
    await scene.run(BeginRun("c1"), AddOutput("c1", stream("1\n")))
    page.hears = False
    await scene.run(AddOutput("c1", stream("2\n3\n")))  # a run is not broken by a missing page
    with pytest.raises(ToolError, match="outputs are kept"):
        await scene.run(EndRun("c1", 1))
    assert scene.on_disk() == ()
    page.hears = True
    page.register()
    async with asyncio.timeout(5):
        await scene.saving.wait()
    assert tuple(page.cell(N, "c1")["outputs"]) == WHOLE


async def test_outputs_for_a_page_that_never_wakes_go_to_the_file_when_it_closes(
    scene: Scene,
) -> None:
    page = scene.open_page()
    page.hears = False
    await scene.run(BeginRun("c1"), AddOutput("c1", *WHOLE))
    with pytest.raises(ToolError):
        await scene.run(EndRun("c1", 1))
    page.close()
    assert (await scene.live.read_notebook(N)).cells[0].outputs == WHOLE
    assert scene.on_disk() == WHOLE


async def test_a_late_update_of_a_finished_run_is_stored(scene: Scene) -> None:
    await scene.run(BeginRun("c1"), AddOutput("c1", stream("x")), EndRun("c1", 1))
    await scene.run(SetOutput("c1", 0, stream("y")))
    assert (await scene.live.read_notebook(N)).cells[0].outputs == (stream("y"),)
