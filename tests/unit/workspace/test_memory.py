import pytest

from vitto_jupyter.errors import DocumentNotFound, EditConflict, KernelUnavailable, NotText
from vitto_jupyter.workspace.base import (
    AddOutput,
    BeginRun,
    DeleteCell,
    EndRun,
    InsertCells,
    NewCell,
    ReplaceSource,
    SetOutput,
    revision_of,
)
from vitto_jupyter.workspace.memory import memory_workspace, python_evaluator, result, stream

PATH = "n.ipynb"


def _documents(files=None, notebooks=None):
    return memory_workspace(files, {PATH: ["a", "b"]} if notebooks is None else notebooks).documents


async def test_entries_are_sorted_and_hide_hidden_names():
    documents = _documents({"b.txt": "", ".env": "", "a/x.txt": "", "a/.git/y": ""})
    assert [(e.path, e.type) for e in await documents.entries("")] == [
        ("a", "directory"),
        ("b.txt", "file"),
        (PATH, "notebook"),
    ]
    assert [e.path for e in await documents.entries("a")] == ["a/x.txt"]
    with pytest.raises(DocumentNotFound):
        await documents.entries("nope")


async def test_writing_needs_the_revision_that_is_there():
    documents = _documents({"a.txt": "one"})
    read = await documents.read_text("a.txt")
    assert read.revision == revision_of("one")
    written = await documents.write_text("a.txt", "two", base=read.revision)
    assert written.text == "two"
    with pytest.raises(EditConflict):
        await documents.write_text("a.txt", "three", base=read.revision)
    with pytest.raises(EditConflict):
        await documents.write_text("a.txt", "three", base=None)
    assert documents.disk["a.txt"] == b"two"


async def test_a_file_in_a_missing_folder_cannot_be_written():
    with pytest.raises(DocumentNotFound):
        await _documents().write_text("no/a.txt", "x", base=None)


async def test_what_is_no_text_is_said_to_be_none():
    documents = _documents({"a.bin": b"\0", "latin": "é".encode("latin-1"), "d/x": ""})
    for path in ("a.bin", "latin", "d", PATH):
        with pytest.raises(NotText):
            await documents.read_text(path)


async def test_source_edits_are_all_made_or_none():
    documents = _documents()
    first, second = (await documents.read_notebook(PATH)).cells
    with pytest.raises(EditConflict):
        await documents.edit_notebook(
            PATH,
            [
                ReplaceSource("c1", first.revision, "new"),
                DeleteCell("c2", first.revision),
            ],
        )
    assert [c.source for c in (await documents.read_notebook(PATH)).cells] == ["a", "b"]
    await documents.edit_notebook(
        PATH,
        [
            ReplaceSource("c1", first.revision, "new"),
            InsertCells("c1", (NewCell("markdown", "m", "x1"),)),
            DeleteCell("c2", second.revision),
        ],
    )
    cells = (await documents.read_notebook(PATH)).cells
    assert [(c.label, c.cell_id, c.source) for c in cells] == [("1", "c1", "new"), ("2", "x1", "m")]


async def test_run_edits_join_streams_and_ignore_cells_that_are_gone():
    documents = _documents()
    await documents.edit_notebook(
        PATH,
        [
            BeginRun("c1"),
            AddOutput("c1", stream("x")),
            AddOutput("c1", stream("y")),
            AddOutput("c1", stream("e", "stderr")),
            SetOutput("c1", 1, result("2")),
            AddOutput("gone", stream("z")),
            EndRun("c1", 7),
        ],
    )
    cell = documents.saved_notebook(PATH).cells[0]
    assert cell.outputs == (stream("xy"), result("2"))
    assert cell.execution_count == 7


async def test_a_held_notebook_is_saved_only_when_told():
    documents = _documents()
    documents.hold(PATH)
    cell = (await documents.read_notebook(PATH)).cells[0]
    await documents.edit_notebook(PATH, [ReplaceSource("c1", cell.revision, "new")])
    notebook = await documents.read_notebook(PATH)
    assert notebook.held and notebook.dirty
    assert documents.saved_notebook(PATH).cells[0].source == "a"
    await documents.save(PATH)
    assert documents.saved_notebook(PATH).cells[0].source == "new"


async def test_a_kernel_keeps_its_variables_and_counts_its_cells():
    workspace = memory_workspace(notebooks={PATH: []}, evaluate=python_evaluator())
    kernel = await workspace.kernels.for_notebook(PATH, kernel_name="python3")
    changes = []

    async def on_change(edits):
        changes.extend(edits)

    async def run(code, cell_id="c"):
        return await workspace.kernels.execute(
            kernel.kernel_id, code, cell_id=cell_id, timeout_s=1, on_change=on_change
        )

    assert (await run("x = 20")).execution_count == 1
    assert (await run("print(x)\nx + 1")).outputs == (stream("20\n"), result("21"))
    assert (await run("x", None)).execution_count is None
    assert changes[0] == AddOutput("c", stream("20\n")) and changes[-1].cell_id == ""
    assert (await run("nope")).state == "error"


async def test_an_unknown_kernel_is_refused():
    workspace = memory_workspace()
    with pytest.raises(KernelUnavailable):
        await workspace.kernels.for_notebook(PATH, kernel_name="ir")
    with pytest.raises(KernelUnavailable):
        await workspace.kernels.interrupt("nope")
