"""What every `Kernels` does: the double and the real ones."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from real_workspace import Changes, real_kernels

from vitto_jupyter.errors import KernelUnavailable
from vitto_jupyter.workspace.base import AddOutput, Execution, Kernels, OutputChange
from vitto_jupyter.workspace.memory import MemoryKernels, python_evaluator
from vitto_jupyter.workspace.notebooks.output_fold import fold_output


@pytest.fixture(params=["memory", "jupyter"])
async def kernels(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Kernels]:
    if request.param == "memory":
        yield MemoryKernels(evaluate=python_evaluator())
        return
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    async with real_kernels(tmp_path) as real:
        yield real.port


async def run(
    kernels: Kernels,
    kernel_id: str,
    code: str,
    *,
    cell_id: str | None = "c1",
    on_change: OutputChange | None = None,
) -> Execution:
    return await kernels.execute(
        kernel_id, code, cell_id=cell_id, timeout_s=60, on_change=on_change or Changes()
    )


async def test_a_notebook_keeps_its_kernel(kernels: Kernels) -> None:
    assert await kernels.find("a.ipynb") is None
    first = await kernels.for_notebook("a.ipynb", kernel_name="python3")
    again = await kernels.for_notebook("a.ipynb", kernel_name="python3")
    found = await kernels.find("a.ipynb")
    assert found is not None
    assert first.kernel_id == again.kernel_id == found.kernel_id
    assert [info.path for info in await kernels.running()] == ["a.ipynb"]


async def test_an_unknown_kernel_name_is_refused(kernels: Kernels) -> None:
    with pytest.raises(KernelUnavailable):
        await kernels.for_notebook("a.ipynb", kernel_name="cobol")


async def test_an_unknown_kernel_is_refused_everywhere(kernels: Kernels) -> None:
    for call in (
        run(kernels, "none", "1"),
        kernels.interrupt("none"),
        kernels.restart("none"),
        kernels.variables("none", []),
    ):
        with pytest.raises(KernelUnavailable):
            await call


async def test_the_changes_add_up_to_the_outputs(kernels: Kernels) -> None:
    info = await kernels.for_notebook("a.ipynb", kernel_name="python3")
    changes = Changes()
    execution = await run(kernels, info.kernel_id, "print('a')\n6 * 7", on_change=changes)
    outputs: tuple = ()
    for edit in changes.edits:
        assert edit.cell_id == "c1"
        outputs = fold_output(outputs, edit)
    assert outputs == execution.outputs
    assert execution.state == "ok"
    assert [output["output_type"] for output in outputs] == ["stream", "execute_result"]


async def test_an_error_is_the_last_output(kernels: Kernels) -> None:
    info = await kernels.for_notebook("a.ipynb", kernel_name="python3")
    execution = await run(kernels, info.kernel_id, "print('a')\n1 / 0")
    assert execution.state == "error"
    assert execution.outputs[-1]["ename"] == "ZeroDivisionError"


async def test_cells_are_counted_and_scratch_code_is_not(kernels: Kernels) -> None:
    info = await kernels.for_notebook("a.ipynb", kernel_name="python3")
    changes = Changes()
    first = await run(kernels, info.kernel_id, "1")
    scratch = await run(kernels, info.kernel_id, "print(2)", cell_id=None, on_change=changes)
    second = await run(kernels, info.kernel_id, "3")
    counts = [run.execution_count for run in (first, scratch, second)]
    assert counts == [1, None, 2]
    assert changes.edits == [
        AddOutput("", {"output_type": "stream", "name": "stdout", "text": "2\n"})
    ]


async def test_a_restart_starts_the_count_again(kernels: Kernels) -> None:
    info = await kernels.for_notebook("a.ipynb", kernel_name="python3")
    await run(kernels, info.kernel_id, "1")
    await kernels.restart(info.kernel_id)
    assert (await run(kernels, info.kernel_id, "2")).execution_count == 1


async def test_two_notebooks_have_two_kernels(kernels: Kernels) -> None:
    one, two = await asyncio.gather(
        kernels.for_notebook("a.ipynb", kernel_name="python3"),
        kernels.for_notebook("b.ipynb", kernel_name="python3"),
    )
    assert one.kernel_id != two.kernel_id
