import pytest
from tool_calls import ToolCalls

from vitto_jupyter.errors import ToolError
from vitto_jupyter.workspace.base import Cell
from vitto_jupyter.workspace.memory import memory_workspace, notebook_of, stream

PATH = "n.ipynb"


def _calls():
    ran = Cell("c2", "code", "import os\nos", "2", 1, (stream("out"),))
    cells = ("a = 1", ran, Cell("c3", "markdown", "# Title", "3"), "")
    return ToolCalls(memory_workspace(notebooks={PATH: notebook_of(*cells)}), notebook_path=PATH)


def _order(calls):
    saved = calls.ctx.workspace.documents.saved_notebook(PATH)
    return "".join(cell.cell_id[1] for cell in saved.cells)


@pytest.mark.parametrize(
    ("cell_ids", "after", "order"),
    [
        (["c3"], "start", "3124"),
        (["c1"], "end", "2341"),
        (["c4", "c1"], "c2", "2413"),
        (["c3", "c1"], "start", "3124"),
        (["c2", "c2"], "c3", "1324"),
    ],
)
async def test_cells_move_in_the_given_order(cell_ids, after, order):
    calls = _calls()
    moved = await calls.call("move_cells", cell_ids=cell_ids, after=after)
    assert moved.success, moved.error
    assert _order(calls) == order


async def test_outputs_go_along():
    calls = _calls()
    await calls.call("move_cells", cell_ids=["c2"], after="end")
    cell = calls.ctx.workspace.documents.saved_notebook(PATH).cells[-1]
    assert cell.outputs == (stream("out"),) and cell.execution_count == 1


async def test_people_see_which_cells_go_where():
    proposal = await _calls().propose("move_cells", cell_ids=["c4", "c1"], after="c3")
    assert proposal.title == "Move 2 cells of n.ipynb?"
    assert proposal.facts.effect == "write" and proposal.facts.paths == (PATH,)
    assert proposal.preview.text == (
        "These cells move:\n"
        "  cell 4, becomes cell 3: (empty code)\n"
        "  cell 1, becomes cell 4: a = 1\n"
        "to right below cell 3: # Title"
    )


async def test_the_result_says_what_the_cells_are_called_now():
    moved = await _calls().call("move_cells", cell_ids=["c1"], after="c3")
    assert moved.output == "Moved in n.ipynb: cell 1 is now cell 3 (id c1)."
    assert moved.metadata["cells"] == [{"cell_id": "c1", "label": "3"}]


async def test_cells_that_are_there_already_are_not_asked_about():
    proposal = await _calls().propose("move_cells", cell_ids=["c1", "c2"], after="start")
    assert proposal.facts.effect == "read"
    assert "nothing was moved" in (await _calls().apply(proposal)).output


@pytest.mark.parametrize(
    ("cell_ids", "after", "said"),
    [
        (["c9"], "c1", "There is no cell"),
        (["c1"], "c9", "There is no cell"),
        (["c1"], "c1", "after names one of the cells"),
    ],
)
async def test_what_cannot_be_is_refused(cell_ids, after, said):
    with pytest.raises(ToolError, match=said):
        await _calls().propose("move_cells", cell_ids=cell_ids, after=after)


@pytest.mark.parametrize("gone", ["c1", "c3"])
async def test_a_cell_that_went_meanwhile_stops_the_move(gone):
    calls = _calls()
    proposal = await calls.propose("move_cells", cell_ids=["c1", "c2"], after="c3")
    calls.ctx.workspace.documents.user_deletes_cell(PATH, gone)
    before = _order(calls)
    refused = await calls.apply(proposal)
    assert not refused.success and "No cell was moved" in refused.error
    assert "cell 1 (id" in refused.output and _order(calls) == before


async def test_a_cell_that_was_edited_meanwhile_moves_as_it_is():
    calls = _calls()
    proposal = await calls.propose("move_cells", cell_ids=["c1"], after="end")
    calls.ctx.workspace.documents.user_writes_cell(PATH, "c1", "a = 2")
    assert (await calls.apply(proposal)).success
    assert calls.ctx.workspace.documents.saved_notebook(PATH).cells[-1].source == "a = 2"
