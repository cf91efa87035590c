"""The tools do on a real server what they do in memory."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from real_workspace import until
from tool_calls import ToolCalls

PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"


async def _notebook(calls: ToolCalls, *sources: str) -> list[str]:
    """A new notebook with these cells; returns their ids."""
    made = await calls.call(
        "insert_cells",
        after="end",
        cells=[{"source": source} for source in sources],
        create_if_missing=True,
    )
    assert made.success, made.error
    notebook = await calls.ctx.workspace.documents.read_notebook("n.ipynb")
    return [cell.cell_id for cell in notebook.cells]


async def test_a_notebook_is_made_run_changed_and_run_again(calls: ToolCalls, root: Path) -> None:
    _, second = await _notebook(calls, "x = 20\nprint('hello')", "x + 1")
    ran = await calls.call("run_cells")
    assert ran.success, ran.error
    assert "hello" in ran.output and "\n21" in ran.output
    changed = await calls.call("edit_cell", cell_id=second, source="x + 2", run=True)
    assert changed.success and "\n22" in changed.output
    stored = json.loads((root / "n.ipynb").read_text())
    assert [cell["execution_count"] for cell in stored["cells"]] == [1, 3]
    assert stored["cells"][1]["outputs"][0]["data"]["text/plain"] in ("22", ["22"])


async def test_a_plot_comes_back_as_an_image(calls: ToolCalls) -> None:
    pytest.importorskip("matplotlib")
    await _notebook(calls, PLOT)
    ran = await calls.call("run_cells")
    assert ran.success, ran.error
    (image,) = ran.metadata["images"]
    assert image["media_type"] == "image/png"


async def test_errors_stop_the_run_and_scratch_code_sees_the_same_kernel(calls: ToolCalls) -> None:
    await _notebook(calls, "x = 1", "1 / 0", "x = 2")
    ran = await calls.call("run_cells")
    assert "ZeroDivisionError: division by zero. 1 later cell not run." in ran.error
    scratch = await calls.call("execute_code", code="x")
    assert scratch.success and scratch.output.endswith("\n1")
    variables = await calls.call("inspect_variables", names=["x"])
    assert variables.output.startswith("x: int = 1")


async def test_a_long_cell_is_handed_back_and_an_interrupt_ends_it(calls: ToolCalls) -> None:
    await _notebook(calls, "import time\nprint('on', flush=True)\ntime.sleep(600)", "1")
    ran = await calls.call("run_cells", wait_s=4)
    assert ran.success and "on" in ran.output
    assert [row["state"] for row in ran.metadata["cells"]] == ["running", "waiting"]
    run_id = ran.metadata["run_id"]
    listed = await calls.call("kernel", action="list")
    assert f"{run_id}: cell 1 runs since" in listed.output
    stopped = await calls.call("kernel", action="interrupt")
    assert stopped.output.startswith(
        f"Interrupted: {run_id} ended, cell 1: KeyboardInterrupt. python3, idle"
    )
    (news,) = calls.ctx.workspace.runs.take_news("")
    assert [run.state for run in news.runs] == ["interrupted", "not_run"]
    assert (await calls.call("execute_code", code="1")).success


async def test_a_kernel_that_the_code_ends_is_told_and_a_new_one_is_used(
    calls: ToolCalls,
) -> None:
    ids = await _notebook(calls, "exit()", "print('alive')", "input()")
    ended = await calls.call("run_cells", cell_ids=ids[:1])
    assert "ended its own kernel: all variables are lost" in ended.error
    alive = await calls.call("run_cells", cell_ids=ids[1:2])
    assert alive.success and "alive" in alive.output
    asked = await calls.call("run_cells", cell_ids=ids[2:])
    assert "StdinNotImplementedError" in asked.error


async def test_after_a_stop_the_cell_goes_on_and_all_it_prints_is_stored(
    calls: ToolCalls, root: Path
) -> None:
    gate = root / "gate"
    code = (
        "import os, time\nprint('on', flush=True)\n"
        f"while not os.path.exists({str(gate)!r}): time.sleep(.01)\nprint('to the end')"
    )
    ids = await _notebook(calls, code, "print('never')")
    proposal = await calls.propose("run_cells", cell_ids=ids)
    printed = asyncio.Event()

    async def progress(text: str) -> None:
        if "on" in text:
            printed.set()

    object.__setattr__(calls.ctx, "progress", progress)
    task = asyncio.create_task(calls.apply(proposal))
    await asyncio.wait_for(printed.wait(), 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    runs = calls.ctx.workspace.runs
    (left,) = runs.open_runs()
    assert (left.label, left.waiting) == ("1", ())
    gate.touch()
    run = runs.find(left.run_id)
    assert run is not None and await runs.wait(run, 30)
    cells = json.loads((root / "n.ipynb").read_text())["cells"]
    assert "".join(cells[0]["outputs"][0]["text"]) == "on\nto the end\n"
    assert cells[0]["execution_count"] == 1 and "execution" in cells[0]["metadata"]
    assert cells[1]["outputs"] == []


async def test_what_a_thread_prints_late_is_in_the_file(calls: ToolCalls, root: Path) -> None:
    gate = root / "gate"
    code = (
        "import os, threading, time\nprint('first', flush=True)\ndef late():\n"
        f"    while not os.path.exists({str(gate)!r}): time.sleep(.01)\n"
        "    print('late', flush=True)\n"
        "threading.Thread(target=late).start()"
    )
    await _notebook(calls, code)
    assert (await calls.call("run_cells")).success
    gate.touch()
    await until(lambda: r'"late\n"' in (root / "n.ipynb").read_text())
    (cell,) = json.loads((root / "n.ipynb").read_text())["cells"]
    assert "".join(cell["outputs"][0]["text"]) == "first\nlate\n"


async def test_prints_without_end_are_bounded_everywhere_and_can_all_be_read(
    calls: ToolCalls, root: Path
) -> None:
    lines = 100_000
    (cell_id,) = await _notebook(calls, f"for n in range({lines}): print(f'{{n:09d}}' + 'x' * 90)")
    ran = await calls.call("run_cells")
    assert ran.success and len(ran.output) < 20_000
    assert (root / "n.ipynb").stat().st_size < 400_000
    text = json.loads((root / "n.ipynb").read_text())["cells"][0]["outputs"][0]["text"]
    assert "characters left out; read_output reads all of it: run run_" in "".join(text)
    runs = calls.ctx.workspace.runs
    last = runs.last_run("n.ipynb", cell_id)
    assert last is not None and last.kernel_started_at
    middle = await runs.output_part(last.run_id, cell_id, 0, start=50_000 * 100, count=9)
    assert (middle.text, middle.total_chars) == ("000050000", lines * 100)
    end = await runs.output_part(last.run_id, cell_id, 0, start=lines * 100 - 100, count=9)
    assert end.text == f"{lines - 1:09d}"


async def test_files_are_edited_with_their_own_line_ends(calls: ToolCalls, root: Path) -> None:
    (root / "a.txt").write_bytes(b"a\r\nb\r\n")
    await calls.call("read_file", path="a.txt")
    assert (
        await calls.call("edit_file", path="a.txt", edits=[{"before": "b\n", "after": "c\n"}])
    ).success
    assert (root / "a.txt").read_bytes() == b"a\r\nc\r\n"
    (root / "a.txt").write_bytes(b"mine\r\n")
    stale = await calls.call("write_file", path="a.txt", content="x")
    assert "has changed" in stale.error and "mine" in stale.error
    assert (root / "a.txt").read_bytes() == b"mine\r\n"


async def test_search_leaves_out_what_is_hidden_ignored_or_outside(
    calls: ToolCalls, root: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("needle")
    (root / "out").symlink_to(outside)
    (root / "loop").symlink_to(root)
    (root / ".env").write_text("needle")
    (root / ".gitignore").write_text("build/\n")
    (root / "build").mkdir()
    (root / "build" / "gen.py").write_text("needle")
    (root / "src").mkdir()
    (root / "src" / "a.py").write_text("x = 'needle'\n")
    await _notebook(calls, "# needle")
    for regex in (False, True):
        found = await calls.call("search_code", pattern="needle", regex=regex)
        places = [line.split(": ")[0] for line in found.output.split("\n")[1:]]
        assert [place.split(" ")[0] for place in places] == ["n.ipynb", "src/a.py:1"]
    listed = await calls.call("list_files", pattern="*")
    assert listed.output.split("\n") == ["n.ipynb", "src/"]


async def test_what_cannot_be_read_says_why_and_does_not_block(
    calls: ToolCalls, root: Path
) -> None:
    import os

    os.mkfifo(root / "pipe")
    (root / "link.txt").symlink_to("/etc/passwd")
    (root / "a.bin").write_bytes(b"\0\1\2")
    (root / ".env").write_text("A=secret")
    for path in ("pipe", "link.txt", "a.bin", ".env", "gone.txt"):
        async with asyncio.timeout(5):
            read = await calls.call("read_file", path=path)
        assert not read.success and "secret" not in read.error and "root:" not in read.error
    written = await calls.call(
        "write_file", path="no/such.txt", content="x", create_if_missing=True
    )
    assert "mkdir" in written.error


async def test_a_command_runs_in_the_terminal(calls: ToolCalls, root: Path) -> None:
    (root / "src").mkdir()
    ran = await calls.call("run_command", command="pwd; echo $((40 + 2)); exit_code=3", cwd="src")
    assert ran.success, ran.error
    assert ran.output.endswith(f"{root}/src\n42")
    failed = await calls.call("run_command", command="(exit 3)")
    assert failed.metadata["exit_code"] == 3 and not failed.success


async def test_a_new_notebook_is_checked_and_described(calls: ToolCalls) -> None:
    await _notebook(calls, "%matplotlib inline\nimport os", "nope")
    checked = await calls.call("get_diagnostics", path="n.ipynb")
    assert checked.metadata["count"] == 2
    assert "n.ipynb: 2 cells" in (await calls.call("get_context")).output


async def test_a_broken_notebook_is_shown_as_text_in_pages_and_not_edited(
    calls: ToolCalls, root: Path
) -> None:
    lines = ["{", ' "cells": [', *(f'  "line {number}",' for number in range(3000)), " broken"]
    (root / "n.ipynb").write_text("\n".join(lines) + "\n")
    shown = await calls.call("read_file", path="n.ipynb")
    assert shown.success, shown.error
    assert "cannot be read as a notebook" in shown.output and "not edited as text" in shown.output
    assert "lines 1 to 2000 of 3003; go on with start_line=2001" in shown.output
    rest = await calls.call("read_file", path="n.ipynb", start_line=2001)
    assert rest.output.endswith("\n broken")
    edit = [{"before": " broken", "after": "]}"}]
    refused = await calls.call("edit_file", path="n.ipynb", edits=edit)
    assert "is a notebook and is not written as text" in refused.error
    refused = await calls.call("insert_cells", after="end", cells=[{"source": "x"}])
    assert refused.metadata["code"] == "bad_notebook" and "read_file" in refused.error
    assert (root / "n.ipynb").read_text() == "\n".join(lines) + "\n"
