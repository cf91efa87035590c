import asyncio

import pytest
from pictures import png
from tool_calls import ToolCalls

from vitto_jupyter.errors import KernelUnavailable, ToolError, WriteFailed
from vitto_jupyter.settings import Settings
from vitto_jupyter.workspace.base import Cell, Execution, KernelSpec, Variable
from vitto_jupyter.workspace.memory import (
    MemoryDocuments,
    MemoryKernels,
    error,
    memory_workspace,
    notebook_of,
    python_evaluator,
    result,
    stream,
)

PATH = "n.ipynb"
PYTHON = KernelSpec("python3", "Python 3", "python")
R = KernelSpec("ir", "R", "R")
JULIA = KernelSpec("julia-1.11", "Julia", "julia")


def _calls(*cells, notebook=None, settings=None, **options):
    made = notebook or notebook_of(*(cells or ("a", "b", "c")))
    workspace = memory_workspace(notebooks={PATH: made}, **options)
    return ToolCalls(workspace, notebook_path=PATH, settings=settings)


def _states(done):
    return [row["state"] for row in done.metadata["cells"]]


# -- run_cells -----------------------------------------------------------------------------------


async def test_nothing_runs_before_apply_and_the_card_shows_the_exact_sources():
    calls = _calls(Cell("c1", "code", "secret()\n\n\n\nmore()", "1"), "b")
    proposal = await calls.propose("run_cells", cell_ids=["c2", "c1"])
    assert proposal.title == "Run 2 cells of n.ipynb?"
    assert proposal.facts.effect == "execute"
    assert [(s.label, s.source) for s in proposal.preview.snippets] == [
        ("2", "b"),
        ("1", "secret()\n\n\n\nmore()"),
    ]
    assert calls.ctx.workspace.kernels.ran == []
    assert await calls.ctx.workspace.kernels.running() == ()


async def test_titles_name_one_cell_some_cells_and_all_cells():
    calls = _calls()
    assert (await calls.propose("run_cells", cell_ids=["c2"])).title == "Run cell 2 of n.ipynb?"
    assert (await calls.propose("run_cells")).title == "Run all 3 code cells of n.ipynb?"


async def test_outputs_come_back_in_the_same_call_and_are_saved():
    calls = _calls("print('hi')", "20 + 1", evaluate=python_evaluator())
    done = await calls.call("run_cells")
    assert done.success
    assert "2 of 2 cells ran without error in n.ipynb, kernel python3" in done.output
    assert "cell 2 (id c2): ok, [2]" in done.output
    assert "--- output of cell 1 (id c1)\nhi" in done.output
    assert "--- output of cell 2 (id c2)\n21" in done.output
    cells = calls.ctx.workspace.documents.saved_notebook(PATH).cells
    assert [cell.execution_count for cell in cells] == [1, 2]
    assert cells[0].outputs == (stream("hi\n"),)
    assert calls.ctx.workspace.documents.running_cells(PATH) == frozenset()


async def test_a_run_stops_at_the_first_error():
    calls = _calls(answers={"b": [error("ValueError", "bad")]})
    done = await calls.call("run_cells")
    assert not done.success
    assert done.error == "cell 2 (id c2) raised ValueError: bad. 1 later cell not run."
    assert _states(done) == ["ok", "error", "not_run"]
    assert [code for _, code, _ in calls.ctx.workspace.kernels.ran] == ["a", "b"]


async def test_old_outputs_are_gone_when_a_run_begins():
    seen = {}

    async def look():
        notebook = await calls.ctx.workspace.documents.read_notebook(PATH)
        seen["outputs"] = notebook.cells[0].outputs
        seen["running"] = calls.ctx.workspace.documents.running_cells(PATH)
        return Execution("ok", None, (), 0.01)

    calls = _calls(Cell("c1", "code", "a", "1", 9, (stream("old"),)), answers={"a": look})
    await calls.call("run_cells")
    assert seen == {"outputs": (), "running": frozenset({"c1"})}


async def test_a_cell_changed_while_the_approval_waits_is_not_run():
    calls = _calls()
    proposal = await calls.propose("run_cells", cell_ids=["c1"])
    calls.ctx.workspace.documents.user_writes_cell(PATH, "c1", "rm()")
    stale = await calls.apply(proposal)
    assert "was changed after its source was shown" in stale.error and "rm()" in stale.error
    assert calls.ctx.workspace.kernels.ran == []


async def test_a_later_cell_changed_during_the_run_is_not_run():
    async def change():
        calls.ctx.workspace.documents.user_writes_cell(PATH, "c2", "b2")
        return Execution("ok", None, (), 0.01)

    calls = _calls(answers={"a": change})
    done = await calls.call("run_cells")
    assert _states(done) == ["ok", "changed", "not_run"]
    assert [code for _, code, _ in calls.ctx.workspace.kernels.ran] == ["a"]


async def test_a_deleted_cell_is_not_run():
    calls = _calls()
    proposal = await calls.propose("run_cells", cell_ids=["c1"])
    calls.ctx.workspace.documents.user_deletes_cell(PATH, "c1")
    assert "has been deleted" in (await calls.apply(proposal)).error


async def test_a_deadline_tells_that_the_cell_is_still_running_and_interrupts_nothing():
    calls = _calls(answers={"a": Execution("running", None, (stream("epoch 1\n"),), 600.0)})
    done = await calls.call("run_cells")
    assert "still running after 600 s; nothing was interrupted" in done.error
    assert "epoch 1" in done.output
    assert _states(done) == ["running", "not_run", "not_run"]
    assert calls.ctx.workspace.kernels.acts == []
    (kernel,) = await calls.ctx.workspace.kernels.running()
    assert kernel.state == "busy"


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("died", "the kernel died and all variables are lost"),
        ("restarted", "the kernel was restarted meanwhile"),
        ("aborted", "was not executed"),
    ],
)
async def test_death_restart_and_abort_are_told_apart(state, said):
    calls = _calls(answers={"a": Execution(state, None, (), 1.0)})
    done = await calls.call("run_cells")
    assert said in done.error
    assert _states(done) == [state, "not_run", "not_run"]
    assert calls.ctx.workspace.documents.running_cells(PATH) == frozenset()


async def test_after_a_dead_kernel_the_next_run_has_a_new_one():
    calls = _calls(answers={"a": Execution("died", None, (), 1.0)})
    await calls.call("run_cells")
    assert (await calls.call("run_cells", cell_ids=["c2"])).success


async def test_failures_without_an_exception_are_pointed_out():
    text = "Collecting nope\nERROR: No matching distribution found for nope\n"
    done = await _calls("!pip install nope", answers={"!pip install nope": text}).call("run_cells")
    flag = "FLAG pip install failed without an exception: ERROR: No matching distribution"
    assert flag in done.output


async def test_live_output_is_told_and_bounded():
    calls = _calls("a", answers={"a": [stream("x" * 1000)] * 100})
    await calls.call("run_cells")
    assert 1000 <= len("".join(calls.said)) < 25_000


async def test_many_loud_cells_stay_within_the_result():
    calls = _calls(*[f"cell{n}" for n in range(60)], evaluate=lambda code: [stream("y" * 50_000)])
    done = await calls.call("run_cells")
    assert len(done.output) < 60_000


async def test_only_code_can_be_run():
    calls = _calls(Cell("m", "markdown", "# x", "1"))
    assert "only code can be run" in (await calls.call("run_cells", cell_ids=["m"])).error
    assert "no code cells" in (await calls.call("run_cells")).error


async def test_run_all_leaves_out_text_and_empty_cells():
    calls = _calls("a", Cell("m", "markdown", "# x", "2"), "  \n", "b")
    done = await calls.call("run_cells")
    assert [row["cell_id"] for row in done.metadata["cells"]] == ["c1", "c4"]


async def test_stopping_leaves_the_kernel_at_work_and_no_cell_marked_as_running():
    started = asyncio.Event()

    async def wait():
        started.set()
        await asyncio.Event().wait()

    calls = _calls(answers={"a": wait})
    task = asyncio.create_task(calls.call("run_cells"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert calls.ctx.workspace.documents.running_cells(PATH) == frozenset()
    assert calls.ctx.workspace.kernels.acts == []


class _FullDisk(MemoryDocuments):
    async def edit_notebook(self, path, edits):
        raise WriteFailed("The disk is full.")

    async def save(self, path):
        raise WriteFailed("The disk is full.")


async def test_a_run_whose_outputs_cannot_be_written_still_gives_them():
    calls = _calls(answers={"a": "precious\n"})
    full = _FullDisk(notebooks={PATH: ["a"]})
    object.__setattr__(calls.ctx.workspace, "documents", full)
    done = await calls.call("run_cells")
    assert "precious" in done.output
    assert (
        done.output.count("Outputs could not be written into the notebook: The disk is full.") == 1
    )
    assert "could not be saved" in done.output


async def test_the_models_time_is_bounded_by_the_settings():
    calls = _calls("a", settings=Settings(cell_timeout_s=50))
    for timeout_s in (None, 10, 5000):
        await calls.call("run_cells", timeout_s=timeout_s)
    kernels = calls.ctx.workspace.kernels
    assert [round(seconds) for seconds in kernels.timeouts_s] == [50, 10, 50]


# -- which kernel --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("named", "specs", "expected"),
    [
        ("ir", (PYTHON, R), "ir"),
        ("", (R,), "ir"),
        ("", (R, PYTHON), "python3"),
    ],
)
async def test_the_kernel_is_the_notebooks_own_or_the_obvious_one(named, specs, expected):
    calls = _calls(notebook=notebook_of("a", kernel_name=named, language=""), specs=specs)
    await calls.call("run_cells")
    (kernel,) = await calls.ctx.workspace.kernels.running()
    assert kernel.name == expected


@pytest.mark.parametrize(("named", "specs"), [("", (R, JULIA)), ("gone", (PYTHON, R))])
async def test_without_an_obvious_kernel_the_choice_is_listed(named, specs):
    calls = _calls(notebook=notebook_of("a", kernel_name=named, language=""), specs=specs)
    with pytest.raises(KernelUnavailable) as caught:
        await calls.propose("run_cells")
    assert all(spec.name in caught.value.message for spec in specs)


async def test_a_started_kernel_is_used_whatever_the_notebook_names():
    calls = _calls(notebook=notebook_of("a", kernel_name="gone", language=""), specs=(PYTHON, R))
    assert (await calls.call("kernel", action="start", kernel_name="ir")).success
    assert (await calls.call("run_cells")).success


# -- execute_code --------------------------------------------------------------------------------


async def test_scratch_code_uses_the_notebooks_kernel_and_leaves_the_notebook_alone():
    calls = _calls("x = 41", evaluate=python_evaluator())
    await calls.call("run_cells")
    before = calls.ctx.workspace.documents.saved_notebook(PATH)
    proposal = await calls.propose("execute_code", code="x + 1")
    assert proposal.title == "Run code in the kernel of n.ipynb?"
    assert proposal.preview.snippets[0].source == "x + 1"
    done = await calls.apply(proposal)
    assert done.success and "42" in done.output
    assert calls.ctx.workspace.documents.saved_notebook(PATH) == before
    assert calls.ctx.workspace.kernels.ran[-1] == (PATH, "x + 1", None)


async def test_scratch_code_that_fails_says_so():
    done = await _calls(evaluate=python_evaluator()).call("execute_code", code="1 / 0")
    assert "ZeroDivisionError: division by zero" in done.error
    assert done.metadata["state"] == "error"


async def test_scratch_code_needs_a_notebook_and_says_what_to_do():
    done = await ToolCalls(memory_workspace()).call("execute_code", code="1")
    assert "insert_cells with create_if_missing" in done.error


# -- inspect_variables ---------------------------------------------------------------------------


async def test_variables_are_described():
    variables = (Variable("df", "DataFrame", "3 rows × 2 columns: a, b"), Variable("x", "int", "1"))
    calls = _calls(variables=variables)
    await calls.call("run_cells")
    done = await calls.call("inspect_variables", names=["df", "nope"])
    assert done.output == "df: DataFrame = 3 rows × 2 columns: a, b\nNot defined: nope"
    assert (await calls.propose("inspect_variables")).facts.effect == "read"


async def test_inspecting_starts_no_kernel():
    calls = _calls()
    assert "has no running kernel" in (await calls.call("inspect_variables")).error
    assert await calls.ctx.workspace.kernels.running() == ()


async def test_only_python_can_be_inspected():
    calls = _calls(notebook=notebook_of("a", kernel_name="ir", language="R"), specs=(PYTHON, R))
    await calls.call("run_cells")
    assert "execute_code" in (await calls.call("inspect_variables")).error


# -- kernel --------------------------------------------------------------------------------------


async def test_listing_kernels_is_a_read():
    calls = _calls(specs=(PYTHON, R))
    assert (await calls.propose("kernel", action="list")).facts.effect == "read"
    await calls.call("run_cells")
    done = await calls.call("kernel", action="list")
    assert "python3, idle, n.ipynb" in done.output and "ir: R (R)" in done.output


async def test_a_restart_is_asked_for_with_what_it_costs():
    calls = _calls()
    await calls.call("run_cells")
    proposal = await calls.propose("kernel", action="restart")
    assert proposal.title == "Restart the kernel of n.ipynb?"
    assert "all its variables are lost" in proposal.preview.text
    assert proposal.facts.effect == "execute"
    assert calls.ctx.workspace.kernels.acts == []
    assert "all variables are lost" in (await calls.apply(proposal)).output
    assert calls.ctx.workspace.kernels.acts == [("restart", "kernel-1")]


async def test_an_interrupt_reaches_the_kernel():
    calls = _calls(answers={"a": Execution("running", None, (), 1.0)})
    await calls.call("run_cells")
    assert (await calls.call("kernel", action="interrupt")).success
    assert calls.ctx.workspace.kernels.acts == [("interrupt", "kernel-1")]


class _Deaf(MemoryKernels):
    async def interrupt(self, kernel_id):
        pass


async def test_an_interrupt_that_does_not_help_is_not_called_done(monkeypatch):
    monkeypatch.setattr("vitto_jupyter.tools.kernels._SETTLE_S", 0.0)
    calls = _calls()
    deaf = _Deaf({"a": Execution("running", None, (), 1.0)})
    object.__setattr__(calls.ctx.workspace, "kernels", deaf)
    await calls.call("run_cells")
    stopped = await calls.call("kernel", action="interrupt")
    assert not stopped.success and "still busy" in stopped.error


async def test_a_kernel_that_was_replaced_meanwhile_is_left_alone():
    calls = _calls(answers={"a": Execution("died", None, (), 1.0)})
    await calls.call("run_cells", cell_ids=["c2"])
    proposal = await calls.propose("kernel", action="restart")
    await calls.call("run_cells", cell_ids=["c1"])
    assert "another kernel" in (await calls.apply(proposal)).error
    assert calls.ctx.workspace.kernels.acts == []


async def test_without_a_kernel_there_is_nothing_to_restart():
    assert "no running kernel" in (await _calls().call("kernel", action="restart")).error


async def test_starting_twice_says_it_runs_and_unknown_kernels_are_listed():
    calls = _calls()
    unknown = await calls.call("kernel", action="start", kernel_name="nope")
    assert "Installed: python3" in unknown.error
    assert (await calls.call("kernel", action="start")).output.startswith("Started: python3")
    again = await calls.propose("kernel", action="start")
    assert again.facts.effect == "read"
    assert "runs already" in (await calls.apply(again)).output


async def test_results_with_images_carry_them():
    plot = result("")
    plot["data"] = {"image/png": png()}
    done = await _calls("a", answers={"a": [plot]}).call("run_cells")
    assert len(done.metadata["images"]) == 1


async def test_running_an_unknown_cell_lists_what_is_there():
    with pytest.raises(ToolError, match="id c3"):
        await _calls().propose("run_cells", cell_ids=["c7"])
