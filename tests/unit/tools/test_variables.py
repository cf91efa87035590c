"""inspect_variables over kernels in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tool_calls import ToolCalls

from vitto_jupyter.errors import ToolError
from vitto_jupyter.workspace.base import KernelSpec, Variable
from vitto_jupyter.workspace.memory import MemoryKernels, memory_workspace, notebook_of
from vitto_jupyter.workspace.runs.run_reports import OpenRun

PATH = "n.ipynb"
R = KernelSpec("ir", "R", "R")
FRAME = Variable("df", "DataFrame", "3 rows × 2 columns: a, b")


async def _calls(*variables: Variable, kernel: str = "python3", **options) -> ToolCalls:
    notebook = notebook_of("a", kernel_name=kernel)
    workspace = memory_workspace(notebooks={PATH: notebook}, variables=variables, **options)
    await workspace.kernels.for_notebook(PATH, kernel_name=kernel)
    return ToolCalls(workspace, notebook_path=PATH)


async def test_each_name_is_answered_for_itself() -> None:
    calls = await _calls(FRAME, Variable("e", "Evil", ""))
    done = await calls.call("inspect_variables", names=["df", "nope", "df['a']", "e"])
    assert done.success and done.metadata["count"] == 2
    assert done.output.split("\n") == [
        "df: DataFrame = 3 rows × 2 columns: a, b",
        "e: Evil",
        "Not defined: nope",
        "Not defined, no names (use execute_code): \"df['a']\"",
    ]
    assert (await calls.propose("inspect_variables")).facts.effect == "read"


async def test_without_names_all_are_listed_within_bounds() -> None:
    many = [Variable(f"v{number:03}", "str", "x" * 1_900) for number in range(200)]
    done = await (await _calls(*many)).call("inspect_variables")
    assert done.metadata["count"] == 200 and len(done.output) < 20_000
    assert "left out: ask by names" in done.output
    assert (await (await _calls()).call("inspect_variables")).output == "No variables are defined."


async def test_inspecting_starts_no_kernel() -> None:
    calls = ToolCalls(memory_workspace(notebooks={PATH: ["a"]}), notebook_path=PATH)
    assert "has no running kernel" in (await calls.call("inspect_variables")).error
    assert await calls.ctx.workspace.kernels.running() == ()


async def test_other_languages_are_asked_by_name_only() -> None:
    calls = await _calls(Variable("x", "", "\x1b[1mx\x1b[0m is 3"), kernel="ir", specs=(R,))
    listed = await calls.call("inspect_variables")
    assert "not available for R kernels" in listed.error and "execute_code" in listed.error
    done = await calls.call("inspect_variables", names=["x", "y"])
    assert done.output == "x: x is 3\ny: nothing told"
    silent = await calls.call("inspect_variables", names=["y"])
    assert "tells nothing about y" in silent.error and "execute_code" in silent.error


class _Busy(MemoryKernels):
    async def variables(self, kernel_id: str, names: Sequence[str]) -> tuple[Variable, ...]:
        raise ToolError("The kernel is busy.", code="kernel_busy")


class _OneRun:
    """Runs with one that goes on."""

    def open_runs(self) -> tuple[OpenRun, ...]:
        run = OpenRun("run_1", "s", "t", PATH, "c1", "1", "2026-01-02T03:04:05Z", ())
        return (run, replace(run, path="other.ipynb"))


async def test_a_busy_kernel_is_told_with_what_runs_in_it() -> None:
    workspace = memory_workspace(notebooks={PATH: ["a"]})
    workspace = replace(workspace, kernels=_Busy())
    await workspace.kernels.for_notebook(PATH, kernel_name="python3")
    alone = ToolCalls(workspace, notebook_path=PATH)
    assert (await alone.call("inspect_variables")).error == "The kernel is busy."
    ours = ToolCalls(replace(workspace, runs=_OneRun()), notebook_path=PATH)  # type: ignore[arg-type]
    told = (await ours.call("inspect_variables", names=["x"])).error
    assert told == "The kernel is busy. It runs cell 1 (run run_1) since 2026-01-02T03:04:05Z."
