from dataclasses import replace

import pytest
from tool_calls import ToolCalls

from vitto_jupyter.errors import EditConflict, ToolError
from vitto_jupyter.workspace.base import Cell
from vitto_jupyter.workspace.memory import (
    memory_workspace,
    notebook_of,
    python_evaluator,
    result,
    stream,
)

PATH = "n.ipynb"


def _calls(*cells, **options):
    notebook = notebook_of(*(cells or ("x = 1", "y = x + 1")))
    workspace = memory_workspace(notebooks={PATH: notebook}, **options)
    return ToolCalls(workspace, notebook_path=PATH)


def _sources(calls):
    return [cell.source for cell in calls.ctx.workspace.documents.saved_notebook(PATH).cells]


async def _read(calls):
    assert (await calls.call("read_notebook")).success
    return calls.ctx.workspace.documents


# -- edit_cell -----------------------------------------------------------------------------------


async def test_an_edit_is_shown_as_a_diff_of_the_cell_and_then_made():
    calls = _calls()
    await _read(calls)
    proposal = await calls.propose(
        "edit_cell", cell_id="c2", edits=[{"before": "x + 1", "after": "x + 2"}]
    )
    assert proposal.title == "Edit cell 2 of n.ipynb?"
    assert proposal.facts.effect == "write" and proposal.facts.paths == (PATH,)
    (change,) = proposal.preview.changes
    assert (change.label, change.cell_id) == ("2", "c2")
    assert (change.before, change.after) == ("y = x + 1", "y = x + 2")
    assert _sources(calls) == ["x = 1", "y = x + 1"]
    done = await calls.apply(proposal)
    assert done.output == "Edited cell 2 (id c2) of n.ipynb: +1 −1 lines."
    assert done.metadata["cell_id"] == "c2" and done.metadata["label"] == "2"
    assert _sources(calls) == ["x = 1", "y = x + 2"]


async def test_a_whole_new_source_replaces_the_cell():
    calls = _calls()
    await _read(calls)
    assert (await calls.call("edit_cell", cell_id="c1", source="x = 5\r\nz = 6")).success
    assert _sources(calls)[0] == "x = 5\nz = 6"


@pytest.mark.parametrize("input", [{}, {"source": "x", "edits": [{"before": "x", "after": "y"}]}])
async def test_edits_and_source_exclude_each_other(input):
    calls = _calls()
    await _read(calls)
    assert "either edits or source" in (await calls.call("edit_cell", cell_id="c1", **input)).error


async def test_an_unread_cell_is_not_edited_and_is_shown():
    calls = _calls()
    first = await calls.call("edit_cell", cell_id="c1", source="new")
    assert "has not been read yet" in first.error and "x = 1" in first.error
    assert _sources(calls)[0] == "x = 1"
    assert (await calls.call("edit_cell", cell_id="c1", source="new")).success


async def test_a_cell_changed_since_reading_is_not_edited():
    calls = _calls()
    documents = await _read(calls)
    documents.user_writes_cell(PATH, "c1", "x = 99")
    with pytest.raises(EditConflict) as caught:
        await calls.propose("edit_cell", cell_id="c1", source="new")
    assert "x = 99" in caught.value.message


async def test_a_cell_changed_while_the_diff_is_shown_keeps_the_users_text():
    calls = _calls()
    documents = await _read(calls)
    proposal = await calls.propose("edit_cell", cell_id="c1", source="new")
    documents.user_writes_cell(PATH, "c1", "x = 99")
    stale = await calls.apply(proposal)
    assert not stale.success
    assert "changed after the diff was shown" in stale.error and "x = 99" in stale.output
    assert _sources(calls)[0] == "x = 99"


async def test_a_cell_deleted_while_the_diff_is_shown_is_not_brought_back():
    calls = _calls()
    documents = await _read(calls)
    proposal = await calls.propose("edit_cell", cell_id="c1", source="new")
    documents.user_deletes_cell(PATH, "c1")
    stale = await calls.apply(proposal)
    assert "was deleted meanwhile" in stale.error and "id c2" in stale.output
    assert _sources(calls) == ["y = x + 1"]


async def test_an_edit_of_another_cell_does_not_make_this_one_stale():
    calls = _calls()
    documents = await _read(calls)
    proposal = await calls.propose("edit_cell", cell_id="c1", source="new")
    documents.user_inserts_cell(PATH, 0, Cell("u", "code", "user's", ""))
    documents.user_writes_cell(PATH, "c2", "user's too")
    done = await calls.apply(proposal)
    assert "cell 2 (id c1)" in done.output
    assert _sources(calls) == ["user's", "new", "user's too"]


async def test_an_unknown_cell_is_answered_with_the_outline():
    calls = _calls()
    unknown = await calls.call("edit_cell", cell_id="c9", source="x")
    assert unknown.metadata["code"] == "unknown_cell"
    assert "cell 1 (id c1)" in unknown.error and "cell 2 (id c2)" in unknown.error


async def test_ambiguous_ids_are_refused_and_nothing_changes():
    calls = _calls(Cell("dup", "code", "a", "1"), Cell("dup", "code", "b", "2"))
    await _read(calls)
    for name, input in (
        ("edit_cell", {"cell_id": "dup", "source": "x"}),
        ("delete_cells", {"cell_ids": ["dup"]}),
        ("insert_cells", {"after": "dup", "cells": [{"source": "x"}]}),
        ("run_cells", {"cell_ids": ["dup"]}),
        ("run_cells", {}),
    ):
        assert (await calls.call(name, **input)).metadata["code"] == "ambiguous_cell", name
    assert _sources(calls) == ["a", "b"]


async def test_an_ambiguous_span_is_refused():
    calls = _calls("x = 1\nx = 1")
    await _read(calls)
    refused = await calls.call("edit_cell", cell_id="c1", edits=[{"before": "x", "after": "y"}])
    assert "occurs 2 times in cell 1 (id c1)" in refused.error


async def test_the_same_source_asks_nobody():
    calls = _calls()
    await _read(calls)
    proposal = await calls.propose("edit_cell", cell_id="c1", source="x = 1")
    assert proposal.facts.effect == "read"


async def test_the_users_own_version_is_written_and_reported():
    calls = _calls()
    await _read(calls)
    done = await calls.call("edit_cell", cell_id="c1", source="x = 2", edited="x = 3")
    assert "The user changed your text" in done.output and "+x = 3" in done.output
    assert _sources(calls)[0] == "x = 3"


async def test_a_held_notebook_is_edited_in_the_page_and_not_saved():
    calls = _calls()
    documents = await _read(calls)
    documents.hold(PATH)
    assert (await calls.call("edit_cell", cell_id="c1", source="x = 2")).success
    assert _sources(calls)[0] == "x = 1"
    assert (await documents.read_notebook(PATH)).cells[0].source == "x = 2"


async def test_edit_and_run_is_one_approval_for_both():
    calls = _calls(evaluate=python_evaluator())
    await _read(calls)
    proposal = await calls.propose("edit_cell", cell_id="c1", source="40 + 2", run=True)
    assert proposal.title == "Edit and run cell 1 of n.ipynb?"
    assert proposal.facts.effect == "execute" and proposal.facts.code == "40 + 2"
    done = await calls.apply(proposal)
    assert done.success and "Edited cell 1" in done.output and "\n42" in done.output
    saved = calls.ctx.workspace.documents.saved_notebook(PATH).cells[0]
    assert saved.execution_count == 1 and saved.outputs


async def test_edit_and_run_runs_what_the_user_made_of_it():
    calls = _calls(evaluate=python_evaluator())
    await _read(calls)
    done = await calls.call("edit_cell", cell_id="c1", source="1", run=True, edited="'mine'")
    assert "'mine'" in done.output
    assert calls.ctx.workspace.kernels.ran == [(PATH, "'mine'", "c1")]


async def test_a_markdown_cell_cannot_be_run():
    calls = _calls(Cell("m", "markdown", "# x", "1"))
    await _read(calls)
    assert (
        "no code to run"
        in (await calls.call("edit_cell", cell_id="m", source="# y", run=True)).error
    )


# -- insert_cells --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("start", ["a", "b", "x = 1", "y = x + 1"]),
        ("c1", ["x = 1", "a", "b", "y = x + 1"]),
        ("end", ["x = 1", "y = x + 1", "a", "b"]),
    ],
)
async def test_cells_arrive_where_and_in_the_order_asked_for(after, expected):
    calls = _calls()
    done = await calls.call("insert_cells", after=after, cells=[{"source": "a"}, {"source": "b"}])
    assert done.success
    assert _sources(calls) == expected


async def test_new_cells_are_named_and_can_be_edited_at_once():
    calls = _calls()
    done = await calls.call("insert_cells", after="c1", cells=[{"source": "a"}])
    cell_id = done.metadata["cell_id"]
    assert done.output == f"Inserted into n.ipynb: cell 2 (id {cell_id})."
    assert (await calls.call("edit_cell", cell_id=cell_id, source="b")).success


async def test_the_card_says_where_and_of_what_kind():
    calls = _calls()
    proposal = await calls.propose(
        "insert_cells",
        after="c1",
        cells=[{"source": "# A", "cell_type": "markdown"}, {"source": "a"}],
    )
    assert proposal.title == "Insert 2 cells in n.ipynb?"
    assert "New after cell 1." in proposal.preview.note
    assert "markdown, code" in proposal.preview.note
    assert [change.label for change in proposal.preview.changes] == ["2", "3"]
    assert all(change.before == "" for change in proposal.preview.changes)


async def test_there_is_no_silent_place():
    with pytest.raises(ToolError, match="after is missing"):
        _calls().toolset.parse("insert_cells", {"cells": [{"source": "x"}]})


async def test_an_unknown_place_is_answered_with_the_outline():
    unknown = await _calls().call("insert_cells", after="7", cells=[{"source": "x"}])
    assert unknown.metadata["code"] == "unknown_cell" and "id c1" in unknown.error


async def test_a_place_that_is_deleted_meanwhile_means_no_insertion():
    calls = _calls()
    proposal = await calls.propose("insert_cells", after="c1", cells=[{"source": "a"}])
    calls.ctx.workspace.documents.user_deletes_cell(PATH, "c1")
    stale = await calls.apply(proposal)
    assert not stale.success and "id c2" in stale.output
    assert _sources(calls) == ["y = x + 1"]


async def test_insert_and_run_gives_the_outputs():
    calls = _calls(answers={"a": "from a\n", "b": [result("7")]})
    done = await calls.call(
        "insert_cells",
        after="end",
        run=True,
        cells=[{"source": "a"}, {"source": "# m", "cell_type": "markdown"}, {"source": "b"}],
    )
    assert done.success
    assert "from a" in done.output and "\n7" in done.output
    assert [row["state"] for row in done.metadata["cells"]] == ["ok", "ok"]


async def test_a_notebook_is_created_only_when_asked():
    calls = ToolCalls(memory_workspace())
    refused = await calls.call(
        "insert_cells", path="new.ipynb", after="end", cells=[{"source": "1"}]
    )
    assert "create_if_missing" in refused.error
    proposal = await calls.propose(
        "insert_cells",
        path="new.ipynb",
        after="end",
        cells=[{"source": "1"}],
        create_if_missing=True,
    )
    assert proposal.title == "Create new.ipynb with a cell?"
    assert (await calls.apply(proposal)).success
    notebook = await calls.ctx.workspace.documents.read_notebook("new.ipynb")
    assert [cell.source for cell in notebook.cells] == ["1"]
    assert (notebook.kernel_name, notebook.language) == ("python3", "python")


async def test_a_notebook_that_appears_meanwhile_is_not_touched():
    calls = ToolCalls(memory_workspace())
    proposal = await calls.propose(
        "insert_cells",
        path="new.ipynb",
        after="end",
        cells=[{"source": "1"}],
        create_if_missing=True,
    )
    documents = calls.ctx.workspace.documents
    await documents.create_notebook("new.ipynb", kernel_name="python3", language="python")
    stale = await calls.apply(proposal)
    assert not stale.success
    assert (await documents.read_notebook("new.ipynb")).cells == ()


# -- delete_cells --------------------------------------------------------------------------------


async def test_cells_are_deleted_after_showing_their_source():
    calls = _calls(Cell("c1", "code", "x", "1", 1, (stream("o"),)), "b", "c")
    await _read(calls)
    proposal = await calls.propose("delete_cells", cell_ids=["c1", "c3"])
    assert proposal.title == "Delete 2 cells of n.ipynb?"
    assert [(c.before, c.after) for c in proposal.preview.changes] == [("x", ""), ("c", "")]
    assert "outputs" in proposal.preview.note
    done = await calls.apply(proposal)
    assert done.output.endswith("1 cell left.")
    assert _sources(calls) == ["b"]


async def test_an_unread_cell_is_not_deleted():
    calls = _calls()
    assert "has not been read" in (await calls.call("delete_cells", cell_ids=["c1"])).error


async def test_if_one_cell_changed_none_is_deleted():
    calls = _calls()
    documents = await _read(calls)
    proposal = await calls.propose("delete_cells", cell_ids=["c1", "c2"])
    documents.user_writes_cell(PATH, "c2", "mine")
    stale = await calls.apply(proposal)
    assert "No cell was deleted" in stale.error
    assert _sources(calls) == ["x = 1", "mine"]


# -- what the model is told of others ------------------------------------------------------------


async def test_a_stale_edit_shows_what_changed_since_the_cell_was_read():
    calls = _calls("a = 1\nb = 2\nc = 3")
    documents = await _read(calls)
    documents.user_writes_cell(PATH, "c1", "a = 1\nb = 20\nc = 3")
    stale = await calls.call("edit_cell", cell_id="c1", source="a = 0")
    diff = "--- a/cell 1\n+++ b/cell 1\n@@ -1,3 +1,3 @@\n a = 1\n-b = 2\n+b = 20\n c = 3\n"
    assert "has changed since it was read; nothing was written" in stale.error
    assert f"What changed since you saw it:\n{diff}Its source is now:\na = 1\nb = 20" in stale.error
    assert (await calls.call("edit_cell", cell_id="c1", source="a = 0")).success


async def test_a_stale_edit_of_a_very_long_cell_says_to_read_it():
    calls = _calls("x = 1\n" * 10_000)
    documents = await _read(calls)
    calls.seen.note(f"{PATH}#c1", "r", "y")
    documents.user_writes_cell(PATH, "c1", "z = 1\n" * 10_000)
    for _ in range(2):
        stale = await calls.call("edit_cell", cell_id="c1", source="a = 0")
        assert "use read_notebook" in stale.error and len(stale.error) < 500


@pytest.mark.parametrize(
    ("tool", "input"),
    [
        ("edit_cell", {"cell_id": "c1", "source": "new"}),
        ("delete_cells", {"cell_ids": ["c1"]}),
        ("insert_cells", {"after": "end", "cells": [{"source": "new"}]}),
    ],
)
async def test_a_read_only_notebook_is_not_edited_and_the_reason_is_said(tool, input):
    notebook = replace(notebook_of("x = 1"), read_only="it has the old notebook format 3.")
    calls = ToolCalls(memory_workspace(notebooks={PATH: notebook}), notebook_path=PATH)
    await _read(calls)
    refused = await calls.call(tool, **input)
    assert refused.metadata["code"] == "read_only"
    assert "cannot be edited: it has the old notebook format 3. Nothing was" in refused.error
    assert "new notebook" in refused.error
    assert _sources(calls) == ["x = 1"]


async def test_results_say_that_another_tab_has_another_version():
    notebook = replace(notebook_of("x = 1"), also_open="It is open in two tabs.")
    calls = ToolCalls(memory_workspace(notebooks={PATH: notebook}), notebook_path=PATH)
    await _read(calls)
    edited = await calls.call("edit_cell", cell_id="c1", source="x = 2")
    assert edited.output.endswith("lines.\nIt is open in two tabs.")
    inserted = await calls.call("insert_cells", after="end", cells=[{"source": "y"}])
    assert inserted.output.endswith(".\nIt is open in two tabs.")
    deleted = await calls.call("delete_cells", cell_ids=["c1"])
    assert deleted.output.endswith("1 cell left.\nIt is open in two tabs.")


@pytest.mark.parametrize(
    ("tool", "input"),
    [
        ("edit_cell", {"cell_id": "c1", "source": "new"}),
        ("delete_cells", {"cell_ids": ["c1"]}),
        ("insert_cells", {"after": "end", "cells": [{"source": "new"}]}),
    ],
)
async def test_an_edit_that_cannot_be_read_back_is_told_as_made(tool, input):
    calls = _calls("x = 1")
    documents = await _read(calls)
    proposal = await calls.propose(tool, **input)

    async def read_notebook(path):
        raise ToolError("Nothing was done.", code="page_gone")

    documents.read_notebook, read = read_notebook, documents.read_notebook
    original = documents.edit_notebook

    async def edit_notebook(path, edits):
        documents.read_notebook = read
        await original(path, edits)
        documents.read_notebook = read_notebook

    documents.edit_notebook = edit_notebook
    result = await calls.apply(proposal)
    assert not result.success
    assert "was edited, but could not be read back after that (page_gone)" in result.error
