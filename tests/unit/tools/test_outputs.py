"""read_output: the rest of what was too long to show."""

import time

import pytest
from pictures import png
from tool_calls import ToolCalls

from vitto_jupyter.workspace.base import Cell
from vitto_jupyter.workspace.memory import error, memory_workspace, notebook_of, result, stream

PATH = "n.ipynb"
LOG = "\n".join(f"row {at}" for at in range(1, 3_001))


def _display(**data):
    return {"output_type": "display_data", "data": data, "metadata": {}}


def _calls(*outputs, path=PATH, **options):
    cell = Cell("c1", "code", "run()", "1", 1, tuple(outputs))
    workspace = memory_workspace(notebooks={path: notebook_of(cell, "x = 1")}, **options)
    return ToolCalls(workspace, notebook_path=PATH)


async def _lines(calls, **options):
    shown = await calls.call("read_output", cell_id="c1", **options)
    assert shown.success, shown.error
    return shown.output.split("\n")


# -- pages ---------------------------------------------------------------------------------------


async def test_the_marker_of_a_cut_output_leads_to_the_next_line():
    calls = _calls(stream("short\n"), stream(LOG))
    shown = (await calls.call("read_notebook", cells=["c1"])).output
    hint = shown.split("characters left out: read_output ")[1].split(" …]")[0]
    asked = dict(part.split("=") for part in hint.split(" "))
    last = shown.split("\n[…")[0].split("\n")[-1]
    line = int(asked.pop("start_line"))
    page = await calls.call(
        "read_output", **{**asked, "output": int(asked["output"])}, start_line=line
    )
    assert page.output.split("\n")[1] == f"row {int(last.split(' ')[1]) + 1}"


async def test_pages_follow_each_other_without_a_gap():
    calls = _calls(stream(LOG))
    start, rows = 1, []
    while True:
        head, *page, tail = await _lines(calls, output=1, start_line=start, lines=700)
        rows += page
        if tail == "[end]":
            break
        start = int(tail.removeprefix("[more: start_line=").removesuffix("]"))
    assert "\n".join(rows) == LOG
    assert head.startswith("output 1 of cell 1 (id c1): lines 2,801–3,000, ")


async def test_a_page_beyond_the_end_says_how_long_it_is():
    assert "it has 3,000 lines" in (await _lines(_calls(stream(LOG)), start_line=9_000))[0]


async def test_a_page_is_bounded_and_a_very_long_line_counts_as_several():
    calls = _calls(stream("a" * 90_000 + "\nend"))
    _, *page, tail = await _lines(calls, lines=2_000)
    assert sum(map(len, page)) <= 20_000 and tail == f"[more: start_line={len(page) + 1}]"
    assert (await _lines(calls, start_line=46))[1:] == ["end", "[end]"]


async def test_an_output_that_the_source_cut_is_read_in_full():
    text = "\n".join(f"row {at}" for at in range(1, 200_001))
    calls = _calls(stream(text))
    assert "200,000" not in (await calls.call("read_notebook", cells=["c1"])).output[:300]
    lines = await _lines(calls, output=1, start_line=123_456, lines=2)
    assert lines[1:3] == ["row 123456", "row 123457"]
    assert f"{len(text):,} characters in all" in lines[0]


async def test_a_cut_traceback_and_a_cut_table_are_read_in_full():
    trace = "\n".join(f"frame {at}" for at in range(1, 20_001))
    table = "<table>" + "".join(f"<tr><td>{at}</td></tr>" for at in range(1, 20_001)) + "</table>"
    calls = _calls(error("ValueError", "bad", trace), _display(**{"text/html": table}))
    assert (await _lines(calls, output=1, start_line=10_000, lines=1))[1] == "frame 10000"
    assert (await _lines(calls, output=2, start_line=10_000, lines=1))[1] == "10000"


async def test_a_dead_terminal_code_is_not_in_a_page():
    assert (await _lines(_calls(stream("\x1b[31mred\x1b[0m\n 10%\r100%"))))[1:3] == ["red", "100%"]


async def test_several_outputs_are_listed_in_pages():
    calls = _calls(*[stream(f"line {at}\n", name="stderr") for at in range(150)], result("7"))
    lines = await _lines(calls)
    assert lines[0] == "cell 1 (id c1) has 151 outputs; output=… reads one:"
    assert lines[1] == "1: stderr, 7 chars | line 0" and lines[-1] == "[more: start_line=101]"
    assert (await _lines(calls, start_line=151))[1] == "151: execute_result, 1 chars | 7"


async def test_an_image_is_shown():
    calls = _calls(*[_display(**{"image/png": png(width)}) for width in range(1, 9)])
    shown = await calls.call("read_output", cell_id="c1", output=7)
    assert shown.output.startswith("[image 1: image/png")
    assert shown.metadata["images"] == [{"media_type": "image/png", "data": png(7)}]


async def test_an_image_that_was_cut_is_fetched():
    big = png(3_000, 3_000) + " " * 120_000
    shown = await _calls(_display(**{"image/png": big})).call("read_notebook", cells=["c1"])
    assert "3000×3000 shown as 1568×1568" in shown.output
    assert len(shown.metadata["images"]) == 1


# -- search --------------------------------------------------------------------------------------


async def test_lines_are_found_by_pattern_with_their_numbers():
    lines = await _lines(_calls(stream(LOG)), pattern=r"row \d*99$")
    assert lines[0] == "output 1 of cell 1 (id c1): 30 matching lines"
    assert lines[1] == "99: row 99" and lines[-1] == "[end]"


async def test_a_search_goes_on_where_it_stopped():
    calls = _calls(stream(LOG))
    first = await _lines(calls, pattern="99", lines=2)
    assert first[1:] == ["99: row 99", "199: row 199", "[more: start_line=299]"]
    assert (await _lines(calls, pattern="99", lines=1, start_line=299))[1] == "299: row 299"


async def test_all_outputs_of_a_cell_are_searched():
    calls = _calls(stream("a\nb\n"), _display(**{"image/png": png()}), result("b"))
    text = "\n".join(await _lines(calls, pattern="b"))
    assert "output 1 of cell 1 (id c1): 1 matching lines\n2: b" in text
    assert "output 3 of cell 1 (id c1): 1 matching lines\n1: b" in text


async def test_what_is_no_regular_expression_is_looked_for_as_it_is():
    assert (await _lines(_calls(stream("f(x\ny")), pattern="f(x"))[1] == "1: f(x"


async def test_a_pathological_pattern_ends_and_says_so(monkeypatch):
    monkeypatch.setattr("vitto_jupyter.tools.long_text.SEARCH_S", 0.5)
    began = time.monotonic()
    lines = await _lines(_calls(stream("a" * 40 + "!\nb")), pattern="(a+)+$")
    assert time.monotonic() - began < 30
    assert lines[-1] == "[the search took too long; it got to line 1]"


# -- what is not there ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("input", "said"),
    [
        ({}, "cell_id or run"),
        ({"cell_id": "c9"}, "There is no cell"),
        ({"cell_id": "c2"}, "has no output now"),
        ({"cell_id": "c1", "output": 3}, "has 1 output now"),
        ({"run": "run_no"}, "There is no run run_no"),
        ({"cell_id": "c1", "pattern": "x" * 2_000}, "longer than"),
    ],
)
async def test_it_says_what_is_there(input, said):
    shown = await _calls(stream("x")).call("read_output", **input)
    assert not shown.success and said in shown.error


async def test_the_hint_names_another_notebook_by_its_path():
    shown = await _calls(stream(LOG), path="other one.ipynb").call(
        "read_notebook", path="other one.ipynb", cells=["c1"]
    )
    assert 'read_output path="other one.ipynb" cell_id=c1 output=1' in shown.output


# -- runs ----------------------------------------------------------------------------------------


async def test_an_output_of_a_run_is_read_by_its_handle():
    calls = _calls(answers={"run()": [stream(LOG)], "x = 1": "one"})
    ran = await calls.call("run_cells")
    hint = ran.output.split("characters left out: read_output ")[1].split(" start_line")[0]
    asked = dict(part.split("=") for part in hint.split(" "))
    shown = await calls.call("read_output", **{**asked, "output": 1}, start_line=2_000, lines=1)
    assert shown.output.split("\n")[1] == "row 2000"
    state = await calls.call("read_output", run=asked["run"])
    assert "2 of 2 cells ran without error" in state.output
    several = await calls.call("read_output", run=asked["run"], pattern="row")
    assert "Name one of its cells" in several.error


async def test_an_output_of_scratch_code_is_read_by_its_handle():
    calls = _calls(answers={"scratch()": [stream(LOG)]})
    ran = await calls.call("execute_code", code="scratch()")
    run_id = ran.output.split("read_output run=")[1].split(" ")[0]
    shown = await calls.call("read_output", run=run_id, output=1, pattern="row 1234")
    assert shown.output.split("\n")[1] == "1234: row 1234"
