import base64
import time
from dataclasses import replace
from random import Random

import pytest
from pictures import png
from tool_calls import ToolCalls

from vitto_jupyter.errors import KernelUnavailable
from vitto_jupyter.tools.images import Images
from vitto_jupyter.tools.notebook_view import CALL_CHARS
from vitto_jupyter.tools.output_view import outputs_text
from vitto_jupyter.workspace.base import Cell
from vitto_jupyter.workspace.memory import (
    MemoryKernels,
    error,
    memory_workspace,
    notebook_of,
    result,
    stream,
)


def _display(**data):
    return {
        "output_type": "display_data",
        "data": {name.replace("_", "/", 1): value for name, value in data.items()},
        "metadata": {},
    }


def _calls(*cells, **options):
    workspace = memory_workspace(notebooks={"n.ipynb": notebook_of(*cells, **options)})
    return ToolCalls(workspace, notebook_path="n.ipynb")


def _with(*outputs, source="x"):
    return Cell("c1", "code", source, "1", 1, tuple(outputs))


async def _outputs_of(*outputs):
    return await _calls(_with(*outputs)).call("read_notebook", cells=["c1"])


# -- what is shown -------------------------------------------------------------------------------


async def test_a_small_notebook_is_shown_whole_at_once():
    cells = (_with(stream("hello\n"), source="print('hello')"), Cell("m", "markdown", "# Hi", "2"))
    calls = _calls(*cells)
    shown = await calls.call("read_notebook")
    assert shown.output == (
        "n.ipynb: 2 cells, kernel python3, not running: its outputs are of an earlier one\n"
        "--- cell 1 (id c1) code [1]\nprint('hello')\n--- output\nhello\n"
        "--- cell 2 (id m) markdown\n# Hi"
    )
    assert set(calls.seen) == {"n.ipynb#c1", "n.ipynb#m"}


async def test_outputs_can_be_left_out():
    shown = await _calls(_with(stream("hello\n"))).call("read_notebook", outputs=False)
    assert "hello" not in shown.output and "output left out: 6 characters" in shown.output


async def test_a_large_notebook_is_outlined_first():
    cells = [f"# step {number}\n" + "x = 1\n" * 40 for number in range(100)]
    calls = _calls(*cells)
    shown = await calls.call("read_notebook")
    assert "cell 7 (id c7) code, 42 lines | # step 6" in shown.output
    assert "x = 1" not in shown.output
    assert "cells=[ids]" in shown.output
    assert calls.seen == {}


async def test_ten_thousand_cells_stay_a_small_page_each():
    calls = _calls(*(f"value = {number}" for number in range(10_000)))
    start, labels = 1, []
    for _ in range(3):
        shown = await calls.call("read_notebook", start=start)
        assert len(shown.output) < 10_000
        labels += [line.split(" ")[1] for line in shown.output.split("\n")[1:-2]]
        start = len(labels) + 1
        assert f"start={start}]" in shown.output
    assert labels == [str(number) for number in range(1, 301)]


async def test_the_outline_tells_errors_images_and_sizes():
    cells = [_with(error("ValueError", "bad"), _display(image_png=png())), *["y\n" * 2000] * 5]
    shown = await _calls(*cells).call("read_notebook")
    line = shown.output.split("\n")[1]
    assert "[1], 1 line" in line and "1 image" in line and "ERROR ValueError: bad" in line


async def test_a_one_line_cell_in_the_outline_counts_as_read():
    calls = _calls("x = 1", *["y\n" * 2000] * 5)
    await calls.call("read_notebook")
    assert set(calls.seen) == {"n.ipynb#c1"}


async def test_selected_cells_are_shown_in_full():
    calls = _calls(*["y\n" * 2000] * 5)
    shown = await calls.call("read_notebook", cells=["c3", "c2", "c3"])
    assert shown.output.count("--- cell") == 2
    assert set(calls.seen) == {"n.ipynb#c2", "n.ipynb#c3"}


async def test_cells_that_do_not_fit_are_named_and_not_taken_as_read():
    calls = _calls(*["y" * 15_000 for _ in range(5)])
    shown = await calls.call("read_notebook", cells=["c1", "c2", "c3", "c4", "c5"])
    assert 'ask for cells=["c3", "c4", "c5"]' in shown.output
    assert set(calls.seen) == {"n.ipynb#c1", "n.ipynb#c2"}


async def test_an_unknown_id_is_answered_with_the_outline():
    shown = await _calls("x = 1", "y = 2").call("read_notebook", cells=["4"])
    assert not shown.success
    assert "There is no cell" in shown.error and "cell 2 (id c2)" in shown.error


async def test_a_page_of_a_notebook_that_is_not_there_names_the_nearest():
    shown = await _calls("x").call("read_notebook", path="m.ipynb")
    assert "Did you mean n.ipynb?" in shown.error


async def test_without_a_notebook_it_says_what_to_do():
    calls = ToolCalls(memory_workspace())
    shown = await calls.call("read_notebook")
    assert shown.metadata["code"] == "no_notebook" and "path" in shown.error


async def test_a_text_file_is_no_notebook():
    assert "read_file" in (await _calls("x").call("read_notebook", path="a.py")).error


async def test_unsaved_edits_in_a_page_are_what_is_read():
    calls = _calls("x = 1")
    calls.ctx.workspace.documents.hold("n.ipynb")
    calls.ctx.workspace.documents.user_writes_cell("n.ipynb", "c1", "x = 2")
    shown = await calls.call("read_notebook")
    assert "x = 2" in shown.output and "unsaved edits included" in shown.output


# -- outputs -------------------------------------------------------------------------------------


async def test_ansi_codes_and_progress_bars_are_cleaned():
    shown = await _outputs_of(stream("\x1b[31mred\x1b[0m\n 10%\r 50%\r100%\ndone\n"))
    assert "--- output\nred\n100%\ndone" in shown.output


async def test_a_long_output_keeps_head_tail_and_its_error_lines():
    lines = [
        "first",
        *["noise " * 10] * 500,
        "ERROR: no such table",
        *["noise " * 10] * 500,
        "last",
    ]
    shown = await _outputs_of(stream("\n".join(lines)))
    assert len(shown.output) < CALL_CHARS
    assert "first" in shown.output and shown.output.rstrip().endswith("last")
    assert "ERROR: no such table" in shown.output
    assert "characters left out" in shown.output


async def test_a_small_output_beside_a_huge_one_is_never_cut():
    shown = await _outputs_of(stream("x" * 100_000), result("the answer is 42"))
    assert "the answer is 42" in shown.output
    assert len(shown.output) < CALL_CHARS


async def test_an_error_is_shown_with_its_clean_traceback():
    shown = await _outputs_of(error("ValueError", "bad", "\x1b[0;31mTraceback\x1b[0m"))
    assert "--- output\nTraceback\nValueError: bad" in shown.output


async def test_images_go_along_as_images():
    shown = await _outputs_of(_display(image_png=png(), text_plain="<Figure size 640x480>"))
    (image,) = shown.metadata["images"]
    assert image == {"media_type": "image/png", "data": png()}
    assert "[image 1: image/png" in shown.output
    assert "<Figure" not in shown.output and png() not in shown.output


async def test_no_more_than_four_images_go_along():
    shown = await _outputs_of(*(_display(image_png=png()) for _ in range(6)))
    assert len(shown.metadata["images"]) == 4
    assert shown.output.count("at most 4 per call") == 2


@pytest.mark.parametrize(
    "data",
    [
        "A" * 30_000_000,
        "<script>alert(1)</script>",
        base64.b64encode(b"GIF89a no png").decode(),
        png(width=20_000, height=20_000),
        png(width=5_000),
    ],
)
async def test_an_image_that_an_api_would_refuse_is_only_named(data):
    shown = await _outputs_of(_display(image_png=data))
    assert "images" not in shown.metadata
    assert "[image left out" in shown.output
    assert len(shown.output) < 500


async def test_an_html_table_becomes_text():
    html = (
        "<style>td {}</style><table><tr><th>a</th><th>b</th></tr>"
        "<tr><td>1</td><td>2</td></tr></table><script>x()</script>"
    )
    shown = await _outputs_of(_display(text_html=html))
    assert "a | b\n1 | 2" in shown.output
    assert "x()" not in shown.output and "[script left out]" in shown.output


async def test_a_styled_table_is_read_from_its_html():
    html = "<img src='data:image/png;base64," + "A" * 5000 + "'><table><tr><td>7</td></tr></table>"
    shown = await _outputs_of(
        _display(text_html=html, text_plain="<pandas.io.formats.style.Styler at 0x7f00>")
    )
    assert "--- output\n[image]\n7" in shown.output


async def test_hostile_html_takes_no_time():
    for piece in ("<!", "</", "<![CDATA[", "<!--", "<a ", "<script>", "&", "<svg/"):
        began = time.monotonic()
        await _outputs_of(_display(text_html=piece * (400_000 // len(piece))))
        assert time.monotonic() - began < 5, piece


async def test_small_outputs_are_always_there_in_full():
    """A mix-up of units once hid every output of a peer: so all sizes are tried."""
    random = Random(7)
    for _ in range(200):
        sizes = [random.choice([1, 50, 300, 5_000, 200_000]) for _ in range(random.randint(1, 20))]
        outputs = [stream(f"<{at}>" + "x" * size + f"</{at}>") for at, size in enumerate(sizes)]
        text = outputs_text(outputs, Images())
        assert len(text) < 20_000
        for at, size in enumerate(sizes):
            if size <= 300:
                assert f"<{at}>" + "x" * size + f"</{at}>" in text


async def test_plain_text_is_preferred_to_html():
    shown = await _outputs_of(_display(text_html="<b>hi</b>", text_plain="   a  b\n0  1  2"))
    assert "--- output\n   a  b\n0  1  2" in shown.output


async def test_scripts_widgets_and_unknown_types_are_named_and_left_out():
    shown = await _outputs_of(
        _display(application_javascript="evil()"),
        {
            "output_type": "display_data",
            "data": {
                "application/vnd.jupyter.widget-view+json": {"model_id": "abc"},
                "text/plain": "IntSlider(value=3)",
            },
            "metadata": {},
        },
        _display(**{"application_vnd.plotly.v1+json": "{}"}),
    )
    assert "evil" not in shown.output and "[script left out" in shown.output
    assert "[widget left out: IntSlider(value=3)]" in shown.output
    assert "[plotly figure left out: application/vnd.plotly.v1+json, 2 char" in shown.output


async def test_a_text_given_as_a_list_of_lines_is_joined():
    shown = await _outputs_of({"output_type": "stream", "name": "stdout", "text": ["a\n", "b"]})
    assert "--- output\na\nb" in shown.output


# -- flags and state -----------------------------------------------------------------------------


async def test_flags_stand_before_the_outputs_they_are_about():
    edited = Cell("c1", "code", "x = 2", "1", 9, (stream("1\n"),), edited_since_run=True)
    failed = _with(stream("ERROR: No matching distribution found for x\n"), source="!pip")
    shown = await _calls(edited, Cell("c2", "code", "y", "2", 3), failed).call("read_notebook")
    assert "x = 2\n--- output\nFLAG edited since its run\nFLAG ran out of order" in shown.output
    assert "FLAG pip install failed without an exception: ERROR: No matching" in shown.output


async def test_flags_are_in_the_outline_too():
    edited = Cell("c1", "code", "x = 2", "1", 9, (stream("1\n"),), edited_since_run=True)
    shown = await _calls(edited, *["y\n" * 2000] * 5).call("read_notebook")
    line = shown.output.split("\n")[1]
    assert line.endswith("output 2 chars, FLAG edited since its run | x = 2")


async def test_after_our_run_an_edit_is_flagged_until_it_runs_again():
    workspace = memory_workspace(
        notebooks={"n.ipynb": ["x = 1"]}, evaluate=lambda code: [stream("ran\n")]
    )
    calls = ToolCalls(workspace, notebook_path="n.ipynb")
    await calls.call("run_cells")
    assert "FLAG" not in (await calls.call("read_notebook")).output
    await calls.call("edit_cell", cell_id="c1", source="x = 2")
    assert "FLAG edited since its run" in (await calls.call("read_notebook")).output
    await calls.call("run_cells")
    assert "FLAG" not in (await calls.call("read_notebook")).output


async def test_the_heading_tells_the_state_of_the_kernel_and_why_it_is_read_only():
    notebook = replace(notebook_of("x"), read_only="It has the old format 3.")
    calls = ToolCalls(memory_workspace(notebooks={"n.ipynb": notebook}), notebook_path="n.ipynb")
    await calls.ctx.workspace.kernels.for_notebook("n.ipynb", kernel_name="python3")
    assert (await calls.call("read_notebook")).output.startswith(
        "n.ipynb: 1 cell, kernel python3, idle\nRead-only: It has the old format 3.\n"
    )


async def test_a_kernel_that_does_not_answer_keeps_nobody_from_reading():
    class Kernels(MemoryKernels):
        async def find(self, path):
            raise KernelUnavailable("gone")

    workspace = replace(
        memory_workspace(notebooks={"n.ipynb": ["x = 1"]}), kernels=Kernels({}, None, (), ())
    )
    calls = ToolCalls(workspace, notebook_path="n.ipynb")
    shown = await calls.call("read_notebook")
    assert shown.output.startswith("n.ipynb: 1 cell, kernel python3\n")


async def test_a_very_long_source_is_read_on_by_lines():
    lines = [f"line_{number} = {number}" for number in range(1, 4_001)]
    calls = _calls("\n".join(lines))
    shown = (await calls.call("read_notebook", cells=["c1"])).output
    hint = shown.split("left out: read_notebook ")[1].split(" …]")[0]
    assert hint.startswith('cells=["c1"] start=')
    start = int(hint.split("start=")[1])
    assert f"\n{lines[start - 2]}\n[…" in shown and lines[start - 1] not in shown
    page = (await calls.call("read_notebook", cells=["c1"], start=start)).output
    assert page.split("\n")[2] == lines[start - 1]
