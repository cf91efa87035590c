"""The notebook as the model sees it, with real kernels and files."""

from __future__ import annotations

import json
from pathlib import Path

from tool_calls import ToolCalls

STYLED = """
import pandas as pd
frame = pd.DataFrame({"town": ["A", "B"], "price": [1.5, 2.5]})
frame.style.highlight_max(subset=["price"])
"""
LARGE_PLOT = """
import matplotlib.pyplot as plt
plt.figure(figsize=(20, 10), dpi=150)
plt.plot([1, 2])
plt.show()
1 / 0
"""
LOG = """
for at in range(1, 100_001):
    print("row", at)
    if at == 50_000:
        print("ERROR the disk is full")
"""


async def _notebook(calls: ToolCalls, *sources: str) -> list[str]:
    cells = [{"source": source} for source in sources]
    made = await calls.call("insert_cells", after="end", cells=cells, create_if_missing=True)
    assert made.success, made.error
    notebook = await calls.ctx.workspace.documents.read_notebook("n.ipynb")
    return [cell.cell_id for cell in notebook.cells]


async def test_the_whole_of_a_long_output_can_be_read(calls: ToolCalls) -> None:
    (cell_id,) = await _notebook(calls, LOG)
    ran = await calls.call("run_cells")
    assert ran.success and len(ran.output) < 12_000
    assert "row 1\n" in ran.output and "row 100000" in ran.output
    for more in ({"cell_id": cell_id}, {"run": ran.output.split("read_output run=")[1].split()[0]}):
        page = await calls.call("read_output", output=1, start_line=60_000, lines=2, **more)
        assert page.output.split("\n")[1:3] == ["row 59999", "row 60000"], page
        found = await calls.call("read_output", output=1, pattern="^ERROR", **more)
        assert "50001: ERROR the disk is full" in found.output


async def test_a_large_plot_of_a_failed_cell_is_scaled_and_shown(calls: ToolCalls) -> None:
    await _notebook(calls, LARGE_PLOT)
    ran = await calls.call("run_cells")
    assert not ran.success and "ZeroDivisionError" in (ran.error or "")
    assert " shown as 1568×" in ran.output
    assert len(ran.metadata["images"]) == 1


async def test_a_styled_frame_and_a_slider_are_read_as_text(calls: ToolCalls) -> None:
    await _notebook(calls, STYLED, "import ipywidgets\nipywidgets.IntSlider(value=3)")
    ran = await calls.call("run_cells")
    assert "| town | price\n0 | A | 1.500000\n1 | B | 2.500000" in ran.output
    assert "[widget left out: IntSlider(value=3)]" in ran.output


async def test_a_command_that_fails_without_an_exception_is_flagged(calls: ToolCalls) -> None:
    await _notebook(calls, "!no_such_command_at_all")
    flag = "FLAG command not found without an exception: "
    assert flag in (await calls.call("run_cells")).output
    assert flag in (await calls.call("read_notebook")).output


async def test_outputs_of_a_restarted_kernel_are_flagged_until_they_run_again(
    calls: ToolCalls,
) -> None:
    first, _ = await _notebook(calls, "print(1)", "print(2)")
    await calls.call("run_cells")
    shown = (await calls.call("read_notebook")).output
    assert "kernel python3, idle" in shown and "FLAG" not in shown
    await calls.call("kernel", action="restart")
    shown = (await calls.call("read_notebook")).output
    assert "FLAG all outputs are of a kernel that is gone" in shown
    await calls.call("run_cells", cell_ids=[first])
    shown = (await calls.call("read_notebook")).output
    assert shown.count("FLAG outputs of a kernel that is gone") == 1


async def test_moved_cells_are_the_same_cells_in_the_file(calls: ToolCalls, root: Path) -> None:
    ids = await _notebook(calls, "print(1)", "print(2)", "print(3)")
    await calls.call("run_cells")
    before = json.loads((root / "n.ipynb").read_text())["cells"]
    moved = await calls.call("move_cells", cell_ids=[ids[2], ids[0]], after="start")
    assert moved.success, moved.error
    after = json.loads((root / "n.ipynb").read_text())["cells"]
    assert after == [before[2], before[0], before[1]]
