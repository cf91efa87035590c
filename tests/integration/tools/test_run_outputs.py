"""What cells show, on a real kernel: the same in the result, in the file and in what is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from real_workspace import until
from tool_calls import ToolCalls

pytest.importorskip("tqdm")
pytest.importorskip("ipywidgets")

PROGRESS = """
import time
from tqdm import tqdm
for _ in tqdm(range(200), mininterval=0):
    pass
"""
FRAMES = """
from IPython.display import clear_output
for n in range(30):
    clear_output(wait=True)
    print("frame", n)
print("tail")
"""
DISPLAY = "h = display('old', display_id=True)"
UPDATE = "h.update('new')\nprint('updated')"
WIDGET = "import ipywidgets\nipywidgets.IntSlider(3)"
RESULT = "6 * 7"


def cells_on_disk(root: Path) -> list[dict[str, Any]]:
    return json.loads((root / "n.ipynb").read_text())["cells"]


def text_of(cell: dict[str, Any]) -> str:
    return "".join("".join(output.get("text", "")) for output in cell["outputs"])


async def test_all_kinds_of_outputs_are_in_the_file_and_in_the_result(
    calls: ToolCalls, root: Path
) -> None:
    sources = (PROGRESS, FRAMES, DISPLAY, UPDATE, WIDGET, RESULT)
    made = [{"source": source} for source in sources]
    await calls.call("insert_cells", after="end", cells=made, create_if_missing=True)
    ran = await calls.call("run_cells")
    assert ran.success, ran.error
    progress, frames, display, update, widget, result = cells_on_disk(root)
    assert "200/200" in text_of(progress) and len(text_of(progress)) < 200
    assert "200/200" in ran.output and ran.output.count("/200") == 1
    assert text_of(frames) == "frame 29\ntail\n"
    assert display["outputs"][0]["data"]["text/plain"] in ("'new'", ["'new'"])
    assert text_of(update) == "updated\n"
    assert "application/vnd.jupyter.widget-view+json" in widget["outputs"][0]["data"]
    assert result["outputs"][0]["execution_count"] == result["execution_count"] == 6
    times = result["metadata"]["execution"]
    assert times["shell.execute_reply.started"] <= times["shell.execute_reply"]
    assert all("T" in time and time.endswith("Z") for time in times.values())


async def test_a_run_that_goes_on_is_waited_for_and_its_rest_read(
    calls: ToolCalls, root: Path
) -> None:
    gate = root / "gate"
    code = (
        "import os, time\nprint('x' * 99, flush=True)\n"
        f"while not os.path.exists({str(gate)!r}): time.sleep(.01)\n"
        "for n in range(10_000): print(f'{n:04d}' + 'y' * 95)"
    )
    await calls.call("insert_cells", after="end", cells=[{"source": code}], create_if_missing=True)
    ran = await calls.call("run_cells", wait_s=3)
    run_id = ran.metadata["run_id"]
    assert ran.metadata["state"] == "running" and "x" * 99 in ran.output
    looked = await calls.call("read_output", run=run_id)
    assert looked.metadata["state"] == "running"
    gate.touch()
    ended = await calls.call("read_output", run=run_id, wait_s=60)
    assert ended.metadata["state"] == "ok"
    assert calls.ctx.workspace.runs.take_news("") == ()  # it was told already
    found = await calls.call("read_output", run=run_id, pattern="^5000y")
    assert "5000y" in found.output, found.error
    (cell,) = cells_on_disk(root)
    assert "5000y" not in text_of(cell) and run_id in text_of(cell)


async def test_the_files_of_long_outputs_are_below_the_folder_of_the_data(
    calls: ToolCalls, root: Path
) -> None:
    folder = root.parent / "outputs"
    cell = {"source": "print('z' * 1_000_000)"}
    await calls.call("insert_cells", after="end", cells=[cell], create_if_missing=True)
    assert (await calls.call("run_cells")).success
    await until(lambda: sum(file.stat().st_size for file in folder.glob("*")) == 1_000_001)
