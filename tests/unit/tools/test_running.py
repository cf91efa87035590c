import asyncio
from dataclasses import replace

import pytest
from pictures import png
from tool_calls import ToolCalls

from vitto_jupyter.errors import KernelUnavailable, ToolError, WriteFailed
from vitto_jupyter.settings import Settings
from vitto_jupyter.tools.running import wait_s_for
from vitto_jupyter.workspace.base import Cell, Execution, KernelSpec, Question
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
from vitto_jupyter.workspace.runs.runs import Runs

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


class _LongCell:
    """An answer that ends when it is told to; `started` once it runs."""

    def __init__(self, end=None):
        self.started = asyncio.Event()
        self.end = asyncio.Event()
        self._execution = end or Execution("ok", None, (stream("late\n"),), 0.01)

    async def __call__(self):
        self.started.set()
        await self.end.wait()
        return self._execution


async def test_a_long_run_is_handed_back_and_goes_on_with_all_its_cells():
    long = _LongCell()
    calls = _calls(answers={"a": long})
    done = await calls.call("run_cells", wait_s=0.1)
    assert done.success and done.metadata["state"] == "running"
    assert _states(done) == ["running", "waiting", "waiting"]
    run_id = done.metadata["run_id"]
    assert f'read_output with run "{run_id}"' in done.output and "2 cells to come" in done.output
    assert calls.ctx.workspace.kernels.acts == []
    long.end.set()
    run = calls.ctx.workspace.runs.find(run_id)
    assert await calls.ctx.workspace.runs.wait(run, 5)
    assert [cell.state for cell in run.report().runs] == ["ok", "ok", "ok"]
    saved = calls.ctx.workspace.documents.saved_notebook(PATH)
    assert saved.cells[0].outputs == (stream("late\n"),)


async def test_looking_at_a_run_that_asks_the_user_does_not_wait_for_the_answer():
    calls = _calls(answers={"a": Question("name? ")})
    answer = asyncio.get_running_loop().create_future()
    calls.ctx = replace(calls.ctx, ask=lambda question: answer)
    begun = asyncio.create_task(calls.call("run_cells", cell_ids=["c1"]))
    while not (runs := calls.ctx.workspace.runs.open_runs()) or not runs[0].asks:  # noqa: ASYNC110
        await asyncio.sleep(0)
    looked = await calls.call("read_output", run=runs[0].run_id, wait_s=0.05)
    assert looked.metadata["state"] == "running"
    assert "waits for an answer of the user" in looked.output
    answer.set_result("Bob")
    assert "name? Bob" in (await begun).output
    ended = await calls.call("read_output", run=runs[0].run_id, wait_s=5)
    assert ended.metadata["state"] == "ok" and "name? Bob" in ended.output


async def test_a_run_that_is_not_known_says_where_its_outputs_are():
    done = await _calls().call("read_output", run="run_1")
    assert "outputs are in the notebook's cells" in done.error


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("died", "the kernel died and all variables are lost"),
        ("restarted", "the kernel was restarted meanwhile"),
        ("aborted", "was not executed"),
        ("interrupted", "was interrupted"),
        ("ended", "ended its own kernel: all variables are lost"),
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


async def test_stopping_starts_no_further_cell_and_leaves_the_one_that_runs():
    long = _LongCell()
    calls = _calls(answers={"a": long})
    task = asyncio.create_task(calls.call("run_cells"))
    await long.started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    runs = calls.ctx.workspace.runs
    (left,) = runs.open_runs()
    assert (left.path, left.label, left.waiting) == (PATH, "1", ())
    long.end.set()
    run = runs.find(left.run_id)
    assert await runs.wait(run, 5)
    assert [cell.state for cell in run.report().runs] == ["ok", "not_run", "not_run"]
    documents = calls.ctx.workspace.documents
    assert documents.saved_notebook(PATH).cells[0].outputs == (stream("late\n"),)
    assert documents.running_cells(PATH) == frozenset()
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
    object.__setattr__(calls.ctx.workspace, "runs", Runs(full, calls.ctx.workspace.kernels))
    done = await calls.call("run_cells")
    assert "precious" in done.output
    assert (
        done.output.count("Outputs could not be written into the notebook: The disk is full.") == 1
    )
    assert "could not be saved" in done.output


@pytest.mark.parametrize(("wanted_s", "waits_s"), [(None, 50), (10, 10), (5000, 600)])
async def test_the_models_wait_is_bounded_by_the_settings(wanted_s, waits_s):
    calls = _calls("a", settings=Settings(cell_wait_s=50))
    assert wait_s_for(calls.ctx, wanted_s) == waits_s


async def test_input_is_put_to_the_user_and_its_answer_shown_in_the_cell():
    calls = _calls(answers={"a": Question("name? ")})

    async def ask(question):
        return "Bob"

    calls.ctx = replace(calls.ctx, ask=ask)
    done = await calls.call("run_cells", cell_ids=["c1"])
    assert "name? Bob" in done.output
    assert (await _calls(answers={"a": Question("?")}).call("run_cells")).success is False


# -- which kernel --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("named", "specs", "expected"),
    [
        ("ir", (PYTHON, R), "ir"),
        ("", (R,), "ir"),
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


async def test_the_user_chooses_the_kernel_that_the_notebook_does_not_say():
    asked = []

    async def ask(question):
        asked.append(question)
        return "ir"

    calls = _calls(notebook=notebook_of("a", kernel_name="", language=""), specs=(PYTHON, R))
    calls.ctx = replace(calls.ctx, ask=ask)
    assert (await calls.call("run_cells")).success
    (kernel,) = await calls.ctx.workspace.kernels.running()
    assert kernel.name == "ir"
    assert [q.choices for q in asked] == [(("python3", "Python 3 (python)"), ("ir", "R (R)"))]


async def test_a_notebook_of_another_language_is_not_run_by_the_only_kernel():
    calls = _calls(notebook=notebook_of("a", kernel_name="gone", language="R"), specs=(PYTHON,))
    with pytest.raises(KernelUnavailable, match="gone"):
        await calls.propose("run_cells")


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


class _Interruptible(MemoryKernels):
    """Ends its one long cell when it is interrupted; a deaf one does not."""

    deaf = False

    async def interrupt(self, kernel_id):
        if not self.deaf:
            self.answers["a"].end.set()
            await MemoryKernels.interrupt(self, kernel_id)


def _long_running(**options):
    calls = _calls()
    interrupted = Execution("interrupted", None, (error("KeyboardInterrupt", ""),), 1.0)
    kernels = _Interruptible({"a": _LongCell(interrupted)})
    for name, value in options.items():
        setattr(kernels, name, value)
    object.__setattr__(calls.ctx.workspace, "kernels", kernels)
    runs = Runs(calls.ctx.workspace.documents, kernels)
    object.__setattr__(calls.ctx.workspace, "runs", runs)
    return calls


async def test_an_interrupt_says_what_ended_and_what_still_runs():
    calls = _long_running()
    run_id = (await calls.call("run_cells", wait_s=0.1)).metadata["run_id"]
    listed = await calls.call("kernel", action="list")
    assert f"{run_id}: cell 1 runs since" in listed.output and "then cells 2, 3" in listed.output
    done = await calls.call("kernel", action="interrupt")
    assert done.success
    assert done.output == (
        f"Interrupted: {run_id} ended, cell 1: KeyboardInterrupt. python3, idle, n.ipynb"
    )
    assert calls.ctx.workspace.kernels.acts == [("interrupt", "kernel-1")]


async def test_an_interrupt_that_does_not_help_is_not_called_done(monkeypatch):
    monkeypatch.setattr("vitto_jupyter.tools.kernels._SETTLE_S", 0.0)
    calls = _long_running(deaf=True)
    await calls.call("run_cells", wait_s=0.1)
    stopped = await calls.call("kernel", action="interrupt")
    assert not stopped.success and "cell 1 still runs after 0 s" in stopped.error


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
