"""Kernels of other languages are like Python's, tried with bash_kernel."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from real_workspace import until
from tool_calls import ToolCalls

pytest.importorskip("bash_kernel")


@pytest.fixture
def notebook(calls: ToolCalls, root: Path) -> Any:
    """Makes a notebook of the bash kernel with these cells."""

    def make(*sources: str) -> None:
        cells = [
            {
                "cell_type": "code",
                "id": f"b{number}",
                "metadata": {},
                "source": source,
                "execution_count": None,
                "outputs": [],
            }
            for number, source in enumerate(sources, start=1)
        ]
        spec = {"name": "bash", "display_name": "Bash", "language": "bash"}
        metadata = {"kernelspec": spec, "language_info": {"name": "bash"}}
        content = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
        (root / "n.ipynb").write_text(json.dumps(content))

    return make


async def test_cells_run_in_the_kernel_that_the_notebook_names(
    calls: ToolCalls, notebook: Any, root: Path
) -> None:
    notebook("x=41", "echo out; echo err >&2; echo $((x + 1))", "(exit 3)", "echo never")
    ran = await calls.call("run_cells")
    assert [row["state"] for row in ran.metadata["cells"]] == ["ok", "ok", "error", "not_run"]
    assert "kernel bash" in ran.output and "42" in ran.output and "err" in ran.output
    assert ran.error is not None and "cell 3 (id b3) raised" in ran.error
    cells = json.loads((root / "n.ipynb").read_text())["cells"]
    printed = "".join("".join(output["text"]) for output in cells[1]["outputs"])
    assert printed.split() == ["out", "err", "42"]
    assert [cell["execution_count"] for cell in cells[:2]] == [1, 2]
    assert cells[2]["outputs"][-1]["evalue"] == "3"
    scratch = await calls.call("execute_code", code="echo scratch $x")
    assert "scratch 41" in scratch.output
    refused = await calls.call("inspect_variables")
    assert not refused.success and "bash" in str(refused.error)


async def test_an_interrupt_and_a_restart_end_a_run(calls: ToolCalls, notebook: Any) -> None:
    notebook("echo begun; sleep 600", "y=1")
    for action, state in (("interrupt", "interrupted"), ("restart", "restarted")):
        begun = asyncio.create_task(calls.call("run_cells", wait_s=60))
        await until(lambda: any("begun" in said for said in calls.said))
        acted = await calls.call("kernel", action=action)
        assert acted.success, acted.error
        ran = await begun
        assert [row["state"] for row in ran.metadata["cells"]] == [state, "not_run"]
        assert (await calls.call("run_cells", cell_ids=["b2"])).success
        calls.said.clear()
