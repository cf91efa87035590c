"""LiveDocuments: the page that holds a document wins, and what happens when it goes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
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
    MoveCells,
    NewCell,
    Output,
    ReplaceSource,
    SetOutput,
    revision_of,
)
from vitto_jupyter.workspace.documents.live import LiveDocuments
from vitto_jupyter.workspace.documents.pages import PageGone
from vitto_jupyter.workspace.memory import MemoryDocuments

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


REPLACE = ReplaceSource("c1", revision_of("code\ntyped"), "new")
EDITS: dict[str, Any] = {
    "replace": [REPLACE],
    "insert": [InsertCells("c1", (NewCell("code", "x", "c9"),))],
    "delete": [DeleteCell("c1", revision_of("code\ntyped"))],
    "move": [MoveCells(("c1",), "end")],
    "several": [REPLACE, InsertCells("c1", (NewCell("code", "x", "c9"),))],
}


async def until(reached: Callable[[], bool]) -> None:
    """Wait for what a page does, which no event here tells."""
    async with asyncio.timeout(5):
        while not reached():  # noqa: ASYNC110
            await asyncio.sleep(0)


async def until_looked(page: SimulatedPage, path: str) -> None:
    await until(
        lambda: ("look_on_disk", path) in [(c.method, c.params["path"]) for c in page.calls]
    )


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

    def open_page(
        self, host_id: str = "page", *, dirty: bool = True, pace_s: float = 0.0
    ) -> SimulatedPage:
        page = SimulatedPage(host_id, store=self._store, load=self._load, pace_s=pace_s)
        page.texts[T] = "page\n"
        page.notebooks[N] = [cell("c1", "typed")]
        page.dirty = {T, N} if dirty else set()
        self.pages.append(page)
        page.connect(self.hosts)
        return page

    async def _store(self, path: str, held: Any) -> None:
        self.saved = (path, held)
        self.saving.set()

    async def _load(self, path: str) -> Any:
        if path == T:
            return (await self.disk.read_text(T)).text
        return [cell(c.cell_id, c.source) for c in (await self.disk.read_notebook(path)).cells]

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


async def test_a_change_of_a_page_that_answers_nothing_is_not_claimed(scene: Scene) -> None:
    page = scene.open_page(dirty=False, pace_s=1000)
    page.answers = False
    with pytest.raises(DeadlineExceeded, match="could not be found out"):
        await scene.live.write_text(T, "mine", base=revision_of("page\n"))
    with pytest.raises(DeadlineExceeded, match="could not be found out"):
        await scene.run(REPLACE)
    page.hears = False
    with pytest.raises(PageGone):  # it was clean, but may have made the change
        await scene.live.write_text(T, "other", base=revision_of("disk\n"))
    assert scene.disk.disk[T] == b"disk\n"
    page.answers = page.hears = True
    page.register()
    assert (await scene.live.read_text(T)).text == "mine"


@pytest.mark.parametrize("edits", [EDITS[name] for name in EDITS], ids=list(EDITS))
async def test_an_edit_whose_answer_was_lost_is_found_made(scene: Scene, edits: Any) -> None:
    page = scene.open_page()
    await scene.run(InsertCells("end", (NewCell("code", "two", "c2"),)))
    page.losses = {"edit_notebook": ["answer"]}
    await scene.run(*edits)
    assert [call.method for call in page.calls][-2:] == ["edit_notebook", "read_notebook"]


@pytest.mark.parametrize("edits", [EDITS[name] for name in EDITS], ids=list(EDITS))
async def test_an_edit_that_never_arrived_is_said_to_have_changed_nothing(
    scene: Scene, edits: Any
) -> None:
    page = scene.open_page()
    await scene.run(InsertCells("end", (NewCell("code", "two", "c2"),)))
    before = page.notebooks[N]
    page.losses = {"edit_notebook": ["call"]}
    with pytest.raises(WriteFailed, match="nothing was changed") as caught:
        await scene.run(*edits)
    assert (caught.value.code, page.notebooks[N]) == ("not_made", before)
    await scene.run(*edits)


async def test_an_edit_is_not_known_when_the_user_changed_the_cell_since(scene: Scene) -> None:
    page = scene.open_page()
    page.losses = {"edit_notebook": ["call"]}
    page.hears = False
    edit = asyncio.create_task(scene.run(REPLACE))
    await asyncio.sleep(0)
    page.hears = True
    page.wake(page.host_id)
    page.notebooks[N] = [cell("c1", "typed on")]
    with pytest.raises(DeadlineExceeded, match="could not be found out"):
        await edit
    assert page.cell(N, "c1")["source"] == "typed on"


async def test_a_text_whose_answer_was_lost_is_found_written_or_not(scene: Scene) -> None:
    page = scene.open_page()
    page.losses = {"write_text": ["answer", "call"]}
    written = await scene.live.write_text(T, "mine", base=revision_of("page\n"))
    assert (written.text, page.texts[T]) == ("mine", "mine")
    with pytest.raises(WriteFailed, match="nothing was changed"):
        await scene.live.write_text(T, "more", base=written.revision)
    assert page.texts[T] == "mine"


async def test_a_page_closed_in_mid_call_leaves_the_edit_to_the_file(scene: Scene) -> None:
    page = scene.open_page()
    page.notebooks[N] = [cell("c1", "1")]
    page.answers = False
    base = revision_of("code\n1")
    edit = asyncio.create_task(scene.run(ReplaceSource("c1", base, "mine")))
    await until(lambda: page.cell(N, "c1")["source"] == "mine")
    page.close()
    await edit
    assert scene.disk.saved_notebook(N).cells[0].source == "mine"


async def test_a_page_that_saved_the_edit_and_closed_has_made_it(scene: Scene) -> None:
    page = scene.open_page()
    page.notebooks[N] = [cell("c1", "1")]
    page.answers = False
    base = revision_of("code\n1")
    edit = asyncio.create_task(scene.run(ReplaceSource("c1", base, "mine")))
    await until(lambda: page.cell(N, "c1")["source"] == "mine")
    scene.disk.user_writes_cell(N, "c1", "mine")
    page.close()
    await edit
    assert scene.disk.saved_notebook(N).cells[0].source == "mine"


async def test_a_document_closed_in_its_page_since_is_looked_up_in_the_file(scene: Scene) -> None:
    page = scene.open_page()
    page.losses = {"edit_notebook": ["answer"]}
    edit = asyncio.create_task(scene.run(REPLACE))
    await until(lambda: page.cell(N, "c1")["source"] == "new")
    scene.disk.user_writes_cell(N, "c1", "new")  # saved
    del page.notebooks[N]
    await edit


async def test_a_cell_that_will_be_saved_differently_is_no_success(scene: Scene) -> None:
    page = scene.open_page()

    async def half_done(path: str, edits: Any) -> dict[str, Any]:
        return {"cells": {"c1": revision_of("code\nsomething else")}}

    page._edit_notebook = half_done  # type: ignore[method-assign]
    with pytest.raises(WriteFailed, match="reads back differently"):
        await scene.run(REPLACE)


# -- several pages -------------------------------------------------------------------------------


async def test_of_two_tabs_the_active_one_acts_and_the_other_is_told_of(scene: Scene) -> None:
    active = scene.open_page("active")
    active.active = N
    active.register()
    other = scene.open_page("other")
    other.notebooks[N] = [cell("c1", "older"), cell("c2", "mine")]
    other.register()
    notebook = await scene.live.read_notebook(N)
    assert [c.source for c in notebook.cells] == ["typed"]
    assert "two tabs; the other one has unsaved changes" in notebook.also_open
    await scene.run(REPLACE)
    assert active.cell(N, "c1")["source"] == "new"
    assert [c["source"] for c in other.notebooks[N]] == ["older", "mine"]


async def test_a_page_is_asked_itself_what_it_did_and_not_a_newer_one(scene: Scene) -> None:
    page = scene.open_page()
    page.losses = {"edit_notebook": ["answer"]}
    edit = asyncio.create_task(scene.run(REPLACE))
    await until(lambda: bool(page.calls))
    newer = scene.open_page("newer")
    await edit
    assert page.cell(N, "c1")["source"] == "new"
    assert newer.calls == []


async def test_two_tabs_with_the_same_content_are_as_one(scene: Scene) -> None:
    scene.open_page("a")
    scene.open_page("b")
    assert (await scene.live.read_notebook(N)).also_open == ""
    assert (await scene.live.read_text(T)).also_open == ""


# -- the disk ------------------------------------------------------------------------------------


async def test_pages_look_at_files_that_changed_and_only_at_these(scene: Scene) -> None:
    page = scene.open_page(dirty=False)
    other = scene.open_page("other", dirty=False)
    scene.live.follow_disk()
    for looking in (page, other):
        await until_looked(looking, N)
    assert (page.texts[T], other.texts[T]) == ("disk\n", "disk\n")
    page.calls.clear()
    other.calls.clear()
    scene.disk.user_writes(T, "by a command\n")
    scene.live.follow_disk()
    await until(lambda: (page.texts[T], other.texts[T]) == ("by a command\n",) * 2)
    assert {call.params["path"] for call in page.calls} == {T}


async def test_looking_at_the_disk_never_fails(scene: Scene) -> None:
    page = scene.open_page(dirty=False)
    page.hears = False
    scene.live.follow_disk()
    await until(lambda: scene.hosts.holder(T) is None)
    scene.live.follow_disk()


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
