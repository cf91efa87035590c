"""One contract for all Documents: in memory, through the contents API, and held by a page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from jupyter_server.services.contents.largefilemanager import (
    AsyncLargeFileManager,
    LargeFileManager,
)
from simulated_page import SimulatedPage

from vitto_jupyter.errors import DocumentNotFound, EditConflict, NotText, PathRefused
from vitto_jupyter.services.hosts import Hosts
from vitto_jupyter.testing.doubles import FakeClock
from vitto_jupyter.workspace.base import (
    AddOutput,
    BeginRun,
    ClearOutputs,
    DeleteCell,
    Documents,
    EndRun,
    InsertCells,
    MoveCells,
    NewCell,
    Notebook,
    NotebookEdit,
    Output,
    ReplaceSource,
    SetOutput,
    revision_of,
)
from vitto_jupyter.workspace.documents.jupyter_documents import JupyterDocuments
from vitto_jupyter.workspace.documents.live import LiveDocuments
from vitto_jupyter.workspace.memory import MemoryDocuments

N, T = "work/n.ipynb", "work/a.py"
CELLS = (NewCell("code", "a = 1\nb", "a"), NewCell("markdown", "# é", "m"), NewCell("raw", "", "r"))


class Opening:
    """Documents whose `open` lets a page hold what is there; without pages it does nothing."""

    def __init__(self, documents: Documents, *, held: bool = False) -> None:
        self.documents = documents
        self.held = held

    async def open(self, *paths: str) -> None:
        pass


class InMemoryPage(Opening):
    async def open(self, *paths: str) -> None:
        assert isinstance(self.documents, MemoryDocuments)
        for path in paths:
            self.documents.hold(path)


class InPage(Opening):
    """Documents in a simulated page over a real contents manager."""

    def __init__(self, root: Path) -> None:
        self._files = JupyterDocuments(AsyncLargeFileManager(root_dir=str(root)))
        self._page = SimulatedPage(store=self._store)
        self._hosts = Hosts(self._page.wake, FakeClock())
        super().__init__(LiveDocuments(self._hosts, self._files), held=True)

    async def open(self, *paths: str) -> None:
        for path in paths:
            if path.endswith(".ipynb"):
                found = await self._files.read_notebook(path)
                self._page.notebooks[path] = [
                    {
                        "cell_id": cell.cell_id,
                        "cell_type": cell.cell_type,
                        "source": cell.source,
                        "execution_count": cell.execution_count,
                        "outputs": list(cell.outputs),
                    }
                    for cell in found.cells
                ]
            else:
                self._page.texts[path] = (await self._files.read_text(path)).text
        self._page.connect(self._hosts)

    async def _store(self, path: str, held: Any) -> None:
        """A page saves files as the contents API does; only texts are looked at here."""
        if isinstance(held, str):
            base = (await self._files.read_text(path)).revision
            await self._files.write_text(path, held, base=base)


def memory() -> MemoryDocuments:
    documents = MemoryDocuments()
    documents.folders.add("work")
    return documents


WAYS: dict[str, Callable[[Path], Opening]] = {
    "memory": lambda root: Opening(memory()),
    "memory-held": lambda root: InMemoryPage(memory(), held=True),
    "contents-sync": lambda root: Opening(JupyterDocuments(LargeFileManager(root_dir=str(root)))),
    "contents-async": lambda root: Opening(
        JupyterDocuments(AsyncLargeFileManager(root_dir=str(root)))
    ),
    "live-unheld": lambda root: Opening(
        LiveDocuments(
            Hosts(lambda host_id: None, FakeClock()),
            JupyterDocuments(AsyncLargeFileManager(root_dir=str(root))),
        )
    ),
    "live-held": InPage,
}


@pytest.fixture(params=WAYS)
async def opening(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Opening]:
    """A text file and a notebook of three cells, open in a page where there are pages."""
    (tmp_path / "work").mkdir()
    opening = WAYS[request.param](tmp_path)
    documents = opening.documents
    await documents.write_text(T, "one\ntwo\n", base=None)
    await documents.create_notebook(N, kernel_name="python3", language="python")
    await documents.edit_notebook(N, [InsertCells("start", CELLS)])
    await opening.open(T, N)
    yield opening


@pytest.fixture
def documents(opening: Opening) -> Documents:
    return opening.documents


def sources(notebook: Notebook) -> list[str]:
    return [cell.source for cell in notebook.cells]


def stream(text: str, name: str = "stdout") -> Output:
    return {"output_type": "stream", "name": name, "text": text}


# -- text ----------------------------------------------------------------------------------------


async def test_a_text_reads_as_it_was_written(opening: Opening) -> None:
    found = await opening.documents.read_text(T)
    assert (found.path, found.text, found.newline, found.held) == (
        T,
        "one\ntwo\n",
        "\n",
        opening.held,
    )
    assert found.revision == revision_of("one\ntwo\n")


async def test_a_write_on_the_right_base_returns_what_is_there_now(documents: Documents) -> None:
    before = await documents.read_text(T)
    after = await documents.write_text(T, "é\n", base=before.revision)
    assert (after.text, after.revision) == ("é\n", revision_of("é\n"))
    assert await documents.read_text(T) == after


async def test_a_write_on_another_base_writes_nothing(documents: Documents) -> None:
    for base in (revision_of("other"), None):
        with pytest.raises(EditConflict):
            await documents.write_text(T, "mine", base=base)
    assert (await documents.read_text(T)).text == "one\ntwo\n"


async def test_saving_a_text_keeps_it(documents: Documents) -> None:
    base = (await documents.read_text(T)).revision
    await documents.write_text(T, "new\n", base=base)
    await documents.save(T)
    assert (await documents.read_text(T)).text == "new\n"


# -- names ---------------------------------------------------------------------------------------


async def test_names_are_listed_with_their_types(documents: Documents) -> None:
    assert [(e.path, e.type) for e in await documents.entries("work")] == [
        (T, "file"),
        (N, "notebook"),
    ]
    assert [(e.path, e.type) for e in await documents.entries("")] == [("work", "directory")]
    assert (await documents.entry(N)).type == "notebook"


async def test_what_is_not_there_is_not_found(documents: Documents) -> None:
    for act in (
        documents.read_text("no.py"),
        documents.read_notebook("no.ipynb"),
        documents.entry("no.py"),
        documents.entries("no"),
        documents.write_text("no.py", "x", base=revision_of("y")),
        documents.write_text("no/a.py", "x", base=None),
        documents.edit_notebook("no.ipynb", [InsertCells("end", CELLS)]),
    ):
        with pytest.raises(DocumentNotFound):
            await act


async def test_the_wrong_kind_is_named(documents: Documents) -> None:
    for act in (
        documents.read_text(N),
        documents.read_text("work"),
        documents.read_notebook(T),
    ):
        with pytest.raises(NotText):
            await act


async def test_a_path_without_links_leads_to_itself_also_when_nothing_is_there(
    documents: Documents,
) -> None:
    assert await documents.resolved(T) == T
    assert await documents.resolved("./no/such.txt") == "no/such.txt"


@pytest.mark.parametrize("path", ["../x.py", "/etc/passwd", "a\0.py", "work/../../x"])
async def test_a_path_out_of_the_root_is_refused(documents: Documents, path: str) -> None:
    for act in (
        documents.read_text(path),
        documents.resolved(path),
        documents.write_text(path, "x", base=None),
        documents.read_notebook(path),
        documents.edit_notebook(path, []),
        documents.create_notebook(path, kernel_name="", language=""),
        documents.entries(path),
        documents.entry(path),
    ):
        with pytest.raises(PathRefused):
            await act


# -- source edits --------------------------------------------------------------------------------


async def test_a_notebook_reads_as_it_was_made(opening: Opening) -> None:
    found = await opening.documents.read_notebook(N)
    assert [(c.cell_id, c.cell_type, c.source, c.label) for c in found.cells] == [
        ("a", "code", "a = 1\nb", "1"),
        ("m", "markdown", "# é", "2"),
        ("r", "raw", "", "3"),
    ]
    assert (found.path, found.kernel_name, found.language) == (N, "python3", "python")
    assert found.held is opening.held


async def test_source_edits_apply_in_order(documents: Documents) -> None:
    before = await documents.read_notebook(N)
    await documents.edit_notebook(
        N,
        [
            ReplaceSource("a", before.cells[0].revision, "x"),
            InsertCells("a", (NewCell("code", "y", "y"), NewCell("code", "z", "z"))),
            InsertCells("start", (NewCell("code", "first", "f"),)),
            ReplaceSource("z", revision_of("code\nz"), "Z"),
            DeleteCell("m", before.cells[1].revision),
            InsertCells("end", (NewCell("markdown", "last", "l"),)),
        ],
    )
    after = await documents.read_notebook(N)
    assert sources(after) == ["first", "x", "y", "Z", "", "last"]
    assert [cell.label for cell in after.cells] == ["1", "2", "3", "4", "5", "6"]


@pytest.mark.parametrize(
    "stale",
    [
        ReplaceSource("a", revision_of("code\nother"), "mine"),
        ReplaceSource("gone", revision_of("code\n"), "mine"),
        DeleteCell("a", revision_of("markdown\na = 1\nb")),
        InsertCells("gone", (NewCell("code", "", "n"),)),
        InsertCells("end", (NewCell("code", "", "a"),)),
        MoveCells(("a", "gone"), "end"),
        MoveCells(("a",), "gone"),
    ],
    ids=lambda edit: type(edit).__name__,
)
async def test_one_stale_edit_stops_them_all(documents: Documents, stale: NotebookEdit) -> None:
    before = await documents.read_notebook(N)
    good = ReplaceSource("m", before.cells[1].revision, "changed")
    with pytest.raises(EditConflict):
        await documents.edit_notebook(N, [good, stale])
    assert sources(await documents.read_notebook(N)) == sources(before)


async def test_cells_move_in_the_given_order(documents: Documents) -> None:
    for edit, order in (
        (MoveCells(("r", "a"), "start"), ["r", "a", "m"]),
        (MoveCells(("r",), "m"), ["a", "m", "r"]),
        (MoveCells(("m", "a"), "end"), ["r", "m", "a"]),
    ):
        await documents.edit_notebook(N, [edit])
        after = await documents.read_notebook(N)
        assert [cell.cell_id for cell in after.cells] == order
    assert sources(after) == ["", "# é", "a = 1\nb"]


async def test_creating_over_something_is_refused(documents: Documents) -> None:
    with pytest.raises(EditConflict):
        await documents.create_notebook(N, kernel_name="k", language="l")
    assert len((await documents.read_notebook(N)).cells) == 3


# -- runs ----------------------------------------------------------------------------------------


async def test_a_run_ends_with_its_outputs_and_count(documents: Documents) -> None:
    result: Output = {
        "output_type": "execute_result",
        "data": {"text/plain": "1\n2"},
        "metadata": {},
        "execution_count": 4,
    }
    await documents.edit_notebook(N, [BeginRun("a")])
    await documents.edit_notebook(N, [AddOutput("a", stream("old"))])
    await documents.edit_notebook(N, [ClearOutputs("a"), AddOutput("a", stream("1\n"))])
    await documents.edit_notebook(N, [AddOutput("a", stream("2\n")), AddOutput("a", result)])
    await documents.edit_notebook(N, [AddOutput("a", stream("e\n", "stderr"))])
    await documents.edit_notebook(N, [SetOutput("a", 2, stream("E\n", "stderr"))])
    await documents.edit_notebook(N, [EndRun("a", 4, {"iopub.status.idle": "2026-01-01"})])
    await documents.save(N)
    cell = (await documents.read_notebook(N)).cells[0]
    assert cell.outputs == (stream("1\n2\n"), result, stream("E\n", "stderr"))
    assert (cell.execution_count, cell.source) == (4, "a = 1\nb")


async def test_a_second_run_replaces_the_first(documents: Documents) -> None:
    for count, text in ((1, "first"), (2, "second")):
        await documents.edit_notebook(
            N, [BeginRun("a"), AddOutput("a", stream(text)), EndRun("a", count)]
        )
    cell = (await documents.read_notebook(N)).cells[0]
    assert (cell.outputs, cell.execution_count) == ((stream("second"),), 2)


async def test_a_run_of_a_cell_that_the_user_deleted_is_ignored(documents: Documents) -> None:
    before = await documents.read_notebook(N)
    await documents.edit_notebook(N, [BeginRun("a")])
    await documents.edit_notebook(N, [DeleteCell("a", before.cells[0].revision)])
    await documents.edit_notebook(N, [AddOutput("a", stream("x")), EndRun("a", 1)])
    after = await documents.read_notebook(N)
    assert [cell.cell_id for cell in after.cells] == ["m", "r"]
    assert after.cells[0].outputs == ()


async def test_an_edit_during_a_run_keeps_both(documents: Documents) -> None:
    before = await documents.read_notebook(N)
    await documents.edit_notebook(N, [BeginRun("a"), AddOutput("a", stream("1"))])
    await documents.edit_notebook(N, [ReplaceSource("a", before.cells[0].revision, "edited")])
    await documents.edit_notebook(N, [AddOutput("a", stream("2")), EndRun("a", 1)])
    cell = (await documents.read_notebook(N)).cells[0]
    assert (cell.source, cell.outputs) == ("edited", (stream("12"),))


async def test_a_run_of_another_source_than_was_approved_does_not_begin(
    documents: Documents,
) -> None:
    base = (await documents.read_notebook(N)).cells[0].revision
    await documents.edit_notebook(
        N, [BeginRun("a", base), AddOutput("a", stream("1")), EndRun("a", 1)]
    )
    for stale in (BeginRun("a", revision_of("code\nother")), BeginRun("gone", base)):
        with pytest.raises(EditConflict):
            await documents.edit_notebook(N, [stale])
    cell = (await documents.read_notebook(N)).cells[0]
    assert (cell.outputs, cell.execution_count) == ((stream("1"),), 1)


# -- long outputs --------------------------------------------------------------------------------

LONG = "".join(f"line {number} é\n" for number in range(20_000))
PNG = "A" * 150_000


async def run_with_long_outputs(documents: Documents) -> None:
    """Cell a: a long text, a figure with a long text beside, and a long traceback."""
    data = {"image/png": PNG, "text/plain": "<Figure>", "application/json": {"a": [LONG]}}
    figure: Output = {"output_type": "display_data", "data": data, "metadata": {}}
    failure: Output = {
        "output_type": "error",
        "ename": "E",
        "evalue": "no",
        "traceback": ["first", *LONG.splitlines(), "E: no"],
    }
    outputs = [AddOutput("a", output) for output in (stream(LONG), figure, failure)]
    await documents.edit_notebook(N, [BeginRun("a"), *outputs, EndRun("a", 1)])
    await documents.save(N)


async def whole(documents: Documents, index: int, field: str) -> str:
    """The field of an output of cell a, read in parts."""
    text, total = "", 1
    while len(text) < total:
        part = await documents.output_part(
            N, "a", index, field=field, start=len(text), count=70_000
        )
        assert part.start == len(text) and part.text
        text, total = text + part.text, part.total_chars
    return text


async def test_long_outputs_are_cut_and_the_rest_is_read_in_parts(documents: Documents) -> None:
    await run_with_long_outputs(documents)
    text, figure, failure = (await documents.read_notebook(N)).cells[0].outputs
    assert text["cut"] == {"text": len(LONG)} and len(str(text["text"])) < 60_000
    assert str(text["text"]).startswith(LONG[:20_000]) and "characters left out" in str(text)
    json_chars = len(await whole(documents, 1, "application/json"))
    assert figure["cut"] == {"image/png": len(PNG), "application/json": json_chars}
    assert figure["data"] == {"image/png": "", "text/plain": "<Figure>", "application/json": ""}
    assert failure["cut"] == {"traceback": len("first\n" + LONG + "E: no")}
    assert await whole(documents, 0, "text") == LONG
    assert await whole(documents, 1, "image/png") == PNG
    assert await whole(documents, 2, "traceback") == "first\n" + LONG + "E: no"


async def test_what_was_cut_for_a_reader_is_whole_after_an_edit(documents: Documents) -> None:
    await run_with_long_outputs(documents)
    base = (await documents.read_notebook(N)).cells[0].revision
    await documents.edit_notebook(N, [ReplaceSource("a", base, "edited"), MoveCells(("a",), "m")])
    await documents.save(N)
    assert await whole(documents, 0, "text") == LONG
    assert (await documents.read_notebook(N)).cells[1].outputs[0]["cut"] == {"text": len(LONG)}


@pytest.mark.parametrize(
    ("cell_id", "index", "field"),
    [("gone", 0, "text"), ("a", 3, "text"), ("a", -1, "text"), ("a", 0, "image/png")],
)
async def test_an_output_that_is_not_there_is_not_found(
    documents: Documents, cell_id: str, index: int, field: str
) -> None:
    await run_with_long_outputs(documents)
    with pytest.raises(DocumentNotFound):
        await documents.output_part(N, cell_id, index, field=field, start=0, count=10)
