"""The change note: what changed since the model looked, what of it counts as seen, and bounds."""

from __future__ import annotations

import asyncio
from typing import Any

from tool_calls import ToolCalls

from vitto_jupyter.errors import ToolError
from vitto_jupyter.tools.changes import LIMIT_DOCUMENTS, changes_since_seen
from vitto_jupyter.workspace.base import Cell, Entry
from vitto_jupyter.workspace.memory import memory_workspace

N = "n.ipynb"


def calls_of(files: Any = None, notebooks: Any = None) -> ToolCalls:
    return ToolCalls(memory_workspace(files, notebooks), notebook_path=N)


async def note_of(calls: ToolCalls, **options: Any) -> str:
    return await changes_since_seen(calls.ctx.workspace, calls.seen, **options)


async def test_nothing_changed_gives_no_note() -> None:
    calls = calls_of({"a.py": "1\n"}, {N: ["x", "y"]})
    assert await note_of(calls) == ""
    await calls.call("read_file", path="a.py")
    await calls.call("read_notebook")
    assert await note_of(calls) == ""


async def test_what_was_never_seen_is_not_in_it() -> None:
    calls = calls_of({"a.py": "1\n"}, {N: ["x"]})
    calls.ctx.workspace.documents.user_writes("a.py", "2\n")
    calls.ctx.workspace.documents.user_writes_cell(N, "c1", "z")
    assert await note_of(calls) == ""


async def test_edited_added_and_deleted_cells_are_told_with_labels_and_texts() -> None:
    calls = calls_of(notebooks={N: ["a = 1\nb = 2", "gone", "stays"]})
    await calls.call("read_notebook")
    documents = calls.ctx.workspace.documents
    documents.user_writes_cell(N, "c1", "a = 1\nb = 3")
    documents.user_deletes_cell(N, "c2")
    documents.user_inserts_cell(N, 2, Cell("c9", "markdown", "# New", ""))
    assert await note_of(calls) == (
        '"n.ipynb":\n'
        "- cell (id c2, was cell 2) deleted\n"
        "- cell 1 (id c1) edited:\n"
        "--- a/cell 1\n+++ b/cell 1\n@@ -1,2 +1,2 @@\n a = 1\n-b = 2\n+b = 3\n"
        "- cell 3 (id c9) added after cell 2 (markdown):\n"
        "# New"
    )
    assert await note_of(calls) == ""


async def test_what_the_note_showed_may_be_edited_at_once() -> None:
    calls = calls_of({"a.py": "one\ntwo\n"}, {N: ["x"]})
    await calls.call("read_file", path="a.py")
    await calls.call("read_notebook")
    documents = calls.ctx.workspace.documents
    documents.user_writes("a.py", "one\n2\n")
    documents.user_writes_cell(N, "c1", "y")
    documents.user_inserts_cell(N, 1, Cell("c9", "code", "z", ""))
    note = await note_of(calls)
    assert '"a.py" edited' in note and "+2" in note
    for cell_id in ("c1", "c9"):
        assert (await calls.call("edit_cell", cell_id=cell_id, source="mine")).success
    edits = [{"before": "2", "after": "3"}]
    assert (await calls.call("edit_file", path="a.py", edits=edits)).success


async def test_what_was_too_long_to_show_must_be_read_first() -> None:
    calls = calls_of({"a.py": "1\n"}, {N: ["x", "y"]})
    await calls.call("read_file", path="a.py")
    await calls.call("read_notebook")
    documents = calls.ctx.workspace.documents
    documents.user_writes("a.py", "line\n" * 1000)
    documents.user_writes_cell(N, "c1", "long\n" * 1000)
    documents.user_inserts_cell(N, 2, Cell("c9", "code", "new\n" * 1000, ""))
    note = await note_of(calls)
    assert '"a.py" edited; read it again before you use it' in note
    assert "cell 1 (id c1) edited; read it again" in note
    assert "cell 3 (id c9) added after cell 2 (code), 1,001 lines" in note
    assert len(note) < 1000
    refused = await calls.call("edit_cell", cell_id="c1", source="mine")
    assert "has changed since it was read" in refused.error
    assert "not been read" in (await calls.call("edit_cell", cell_id="c9", source="x")).error


async def test_moved_cells_are_told() -> None:
    calls = calls_of(notebooks={N: ["a", "b", "c", "d"]})
    await calls.call("read_notebook")
    documents = calls.ctx.workspace.documents
    moved = (await documents.read_notebook(N)).cell("c1")
    documents.user_deletes_cell(N, "c1")
    documents.user_inserts_cell(N, 2, moved)
    assert await note_of(calls) == '"n.ipynb":\n- cell 3 (id c1) moved, now after cell 2'


async def test_what_the_model_did_itself_is_no_change() -> None:
    calls = calls_of({"a.py": "1\n"}, {N: ["x", "y"]})
    await calls.call("read_notebook")
    await calls.call("insert_cells", after="c1", cells=[{"source": "new"}])
    await calls.call("delete_cells", cell_ids=["c2"])
    await calls.call("edit_cell", cell_id="c1", source="mine")
    await calls.call("write_file", path="b.py", content="b\n", create_if_missing=True)
    assert await note_of(calls) == ""
    calls.ctx.workspace.documents.user_inserts_cell(N, 0, Cell("u1", "code", "u", ""))
    await calls.call("insert_cells", after="c1", cells=[{"source": "newer"}])
    assert "cell 1 (id u1) added at the start (code):\nu" in await note_of(calls)


async def test_a_deleted_file_is_told_once() -> None:
    calls = calls_of({"a.py": "1\n"})
    await calls.call("read_file", path="a.py")
    del calls.ctx.workspace.documents.disk["a.py"]
    assert await note_of(calls) == '"a.py" is not there any more.'
    assert await note_of(calls) == ""
    assert "a.py" not in calls.seen


async def test_secrets_are_named_and_never_shown() -> None:
    calls = calls_of({".env": "TOKEN=old\n"})
    await calls.call("read_file", path=".env")
    calls.ctx.workspace.documents.user_writes(".env", "TOKEN=new\n")
    note = await note_of(calls)
    assert note == '".env" was changed; it holds secrets.'
    assert calls.seen.text(".env") is None


async def test_documents_that_fail_or_take_too_long_are_left_out() -> None:
    calls = calls_of({"a.py": "1\n", "b.py": "1\n", "c.py": "1\n"})
    documents = calls.ctx.workspace.documents
    for name in ("a.py", "b.py", "c.py"):
        await calls.call("read_file", path=name)
        documents.user_writes(name, "2\n")
    read = documents.read_text

    async def read_text(path: str) -> Any:
        if path == "a.py":
            raise ToolError("no")
        if path == "b.py":
            await asyncio.Event().wait()
        return await read(path)

    documents.read_text = read_text
    note = await note_of(calls, deadline_s=0.05)
    assert '"c.py" edited' in note and '"a.py"' not in note and '"b.py"' not in note
    documents.read_text = read
    assert '"b.py" edited' in await note_of(calls)


async def test_only_the_documents_seen_last_are_looked_at() -> None:
    names = [f"f{number:02}.py" for number in range(LIMIT_DOCUMENTS + 5)]
    calls = calls_of(dict.fromkeys(names, "1\n"))
    for name in names:
        await calls.call("read_file", path=name)
        calls.ctx.workspace.documents.user_writes(name, "2\n")
    note = await note_of(calls)
    assert "f24.py" in note and "f04.py" not in note


async def test_a_file_that_is_as_it_was_is_not_read_again() -> None:
    calls = calls_of({"a.py": "1\n"})
    await calls.call("read_file", path="a.py")
    documents = calls.ctx.workspace.documents
    modified, reads, read = "monday", [], documents.read_text

    async def entry(path: str) -> Entry:
        return Entry(path, "file", 2, modified)

    async def read_text(path: str) -> Any:
        reads.append(path)
        return await read(path)

    documents.entry, documents.read_text = entry, read_text
    for _ in range(3):
        assert await note_of(calls) == ""
    assert reads == ["a.py"]
    modified = "tuesday"
    documents.user_writes("a.py", "2\n")
    assert '"a.py" edited' in await note_of(calls)
