"""Notebook files as cells, and edits that write only what they name."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from vitto_jupyter.errors import EditConflict, ToolError
from vitto_jupyter.workspace.base import (
    AddOutput,
    BeginRun,
    DeleteCell,
    EndRun,
    InsertCells,
    MoveCells,
    NewCell,
    Notebook,
    NotebookEdit,
    Output,
    ReplaceSource,
    SetOutput,
    revision_of,
)
from vitto_jupyter.workspace.notebooks import notebook_json
from vitto_jupyter.workspace.notebooks.notebook_edit import apply_edits
from vitto_jupyter.workspace.notebooks.output_fold import OpenRuns, split_edits


def code(source: Any, cell_id: str | None = None, **fields: Any) -> dict[str, Any]:
    cell = {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": source,
        **fields,
    }
    return cell if cell_id is None else {**cell, "id": cell_id}


def notebook(*cells: dict[str, Any], minor: int = 5, **fields: Any) -> dict[str, Any]:
    return {
        "cells": list(cells),
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": minor,
        **fields,
    }


def dumped(value: Any, **style: Any) -> bytes:
    return (json.dumps(value, **({"indent": 1, "ensure_ascii": False} | style)) + "\n").encode()


def read(content: bytes, given: dict[str, str] | None = None) -> Notebook:
    return notebook_json.read(
        notebook_json.parse(content, name='"n.ipynb"'), path="n.ipynb", given=given or {}
    )


def edit(content: bytes, *edits: NotebookEdit) -> bytes:
    sources, runs = split_edits(edits)
    file = notebook_json.parse(content, name='"n.ipynb"')
    return apply_edits(file, sources, OpenRuns().apply(runs), given={}).content


def stored(text: str) -> Output:
    return {"name": "stdout", "output_type": "stream", "text": [text]}


def base(source: str, kind: str = "code") -> Any:
    return revision_of(f"{kind}\n{source}")


STYLES = [
    {},
    {"indent": 2},
    {"indent": "\t"},
    {"indent": 4, "ensure_ascii": True},
    {"indent": None},
    {"indent": None, "separators": (",", ":")},
    {"sort_keys": True},
]


@pytest.mark.parametrize("style", STYLES, ids=str)
def test_an_edit_writes_what_a_full_dump_in_the_same_style_would(style: dict[str, Any]) -> None:
    cells = [code(["é = 1\n", "b"], "a"), code(["x"], "b"), code([], "c")]
    before = dumped(notebook(*cells), **style)
    cells[1] = code(["new\n", "λ"], "b")
    expected = dumped(notebook(*cells), **style)
    assert edit(before, ReplaceSource("b", base("x"), "new\nλ")) == expected


@pytest.mark.parametrize("style", STYLES, ids=str)
def test_deleting_and_inserting_keeps_the_style(style: dict[str, Any]) -> None:
    cells = [code(["é"], "a"), code(["x"], "b"), code(["y"], "c")]
    new = {"cell_type": "markdown", "id": "n", "metadata": {}, "source": ["# λ\n", "t"]}
    after = edit(
        dumped(notebook(*cells), **style),
        InsertCells("start", (NewCell("markdown", "# λ\nt", "n"),)),
        DeleteCell("b", base("x")),
    )
    assert after == dumped(notebook(new, cells[0], cells[2]), **style)


def test_untouched_text_keeps_its_bytes_however_it_is_written() -> None:
    before = (
        b'{ "cells" : [ {"source":"a","cell_type":"code","metadata":{"n":1.50,"s":"\\u00e9"},'
        b'"outputs":[],"execution_count":null,"id":"a"},\r\n\r\n'
        b' {"id":"b","cell_type":"markdown","metadata":{"x":NaN},"source":["b"]}],\r\n'
        b'"nbformat_minor":5,"nbformat":4,"metadata":{"z":1E3}}'
    )
    after = edit(before, ReplaceSource("b", base("b", "markdown"), "c"))
    assert after == before.replace(b'["b"]', b'["c"]')


def test_a_huge_output_of_the_edited_cell_is_not_written_anew() -> None:
    output = {"output_type": "display_data", "data": {"image/png": "A" * 100}, "metadata": {}}
    before = dumped(notebook(code(["x"], "a", outputs=[output]))).replace(b"AAAA", b"\\u0041AAA", 1)
    after = edit(before, ReplaceSource("a", base("x"), "y"))
    assert after == before.replace(b'"x"', b'"y"')


def test_a_source_kept_as_a_string_stays_a_string() -> None:
    before = dumped(notebook(code("a\nb", "a"), code(["c"], "b")))
    after = json.loads(
        edit(
            before, ReplaceSource("a", base("a\nb"), "x\ny"), ReplaceSource("b", base("c"), "d\ne")
        )
    )
    assert [cell["source"] for cell in after["cells"]] == ["x\ny", ["d\n", "e"]]


def test_line_ends_inside_a_source_are_kept() -> None:
    before = dumped(notebook(code(["a\r\n", "b"], "a")))
    assert read(before).cells[0].source == "a\nb"
    after = json.loads(edit(before, ReplaceSource("a", base("a\nb"), "a\nc\nd")))
    assert "".join(after["cells"][0]["source"]) == "a\r\nc\r\nd"


def test_a_lone_surrogate_can_be_read_and_written() -> None:
    before = dumped(notebook(code(["a"], "a")))
    after = edit(before, ReplaceSource("a", base("a"), "'\ud83d' λ"))
    assert read(after).cells[0].source == "'\ud83d' λ"


def test_edits_apply_in_order_or_not_at_all() -> None:
    before = dumped(notebook(code(["a"], "a")))
    after = edit(
        before,
        InsertCells("a", (NewCell("code", "b", "b"), NewCell("code", "c", "c"))),
        InsertCells("b", (NewCell("markdown", "m", "m"),)),
        ReplaceSource("c", base("c"), "C"),
        DeleteCell("a", base("a")),
    )
    assert [cell.source for cell in read(after).cells] == ["b", "m", "C"]
    with pytest.raises(EditConflict):
        edit(before, ReplaceSource("a", base("a"), "x"), ReplaceSource("a", base("a"), "y"))


@pytest.mark.parametrize(
    "stale",
    [
        ReplaceSource("a", base("other"), "x"),
        ReplaceSource("gone", base("a"), "x"),
        DeleteCell("a", base("a", "markdown")),
        InsertCells("gone", (NewCell("code", "b", "b"),)),
        InsertCells("end", (NewCell("code", "b", "a"),)),
        InsertCells("end", (NewCell("code", "b", "b"), NewCell("code", "b", "b"))),
    ],
    ids=str,
)
def test_an_edit_of_something_else_than_is_there_is_a_conflict(stale: NotebookEdit) -> None:
    with pytest.raises(EditConflict):
        edit(dumped(notebook(code(["a"], "a"))), stale)


def test_a_conflict_carries_the_present_source() -> None:
    with pytest.raises(EditConflict, match="theirs"):
        edit(dumped(notebook(code(["theirs"], "a"))), ReplaceSource("a", base("mine"), "x"))


def test_an_id_of_several_cells_means_none_of_them() -> None:
    before = dumped(notebook(code(["a"], "dup"), code(["b"], "dup"), code(["c"], "c")))
    for edits in (
        [ReplaceSource("dup", base("a"), "x")],
        [DeleteCell("dup", base("a"))],
        [MoveCells(("dup",), "end")],
        [InsertCells("dup", (NewCell("code", "n", "n"),))],
    ):
        with pytest.raises(EditConflict) as caught:
            edit(before, *edits)
        assert caught.value.code == "ambiguous_cell"
    run = (BeginRun("dup"), AddOutput("dup", {"output_type": "stream"}), EndRun("dup", 1))
    assert edit(before, *run) == before


def test_cells_that_share_an_id_are_told_apart_and_can_be_edited() -> None:
    before = dumped(notebook(code(["a"], "dup"), code(["b"], "dup"), code(["c"], "c")))
    assert [cell.cell_id for cell in read(before).cells] == ["dup~1", "dup~2", "c"]
    after = edit(before, ReplaceSource("dup~2", base("b"), "B"))
    assert after == before.replace(b'"b"', b'"B"')


def test_a_cell_that_no_longer_shares_its_id_is_still_known_by_the_other() -> None:
    before = dumped(notebook(code(["a"], "dup"), code(["b"], "dup")))
    file = notebook_json.parse(before, name="n")
    edited = apply_edits(file, [DeleteCell("dup~1", base("a"))], OpenRuns().apply([]), given={})
    assert [cell.cell_id for cell in read(edited.content, edited.given).cells] == ["dup~2"]
    assert json.loads(edited.content)["cells"] == [code(["b"], "dup")]


# -- moves ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", STYLES, ids=str)
@pytest.mark.parametrize(
    ("ids", "after", "order"),
    [
        (["c", "a"], "start", "cabd"),
        (["a"], "end", "bcda"),
        (["d", "b"], "a", "adbc"),
        (["a"], "start", "abcd"),
    ],
)
def test_moved_cells_come_in_the_order_given_and_keep_their_bytes(
    style: dict[str, Any], ids: list[str], after: str, order: str
) -> None:
    cells = {name: code([f"{name}\n", "é"], name, outputs=[stored(name)]) for name in "abcd"}
    moved = edit(dumped(notebook(*cells.values()), **style), MoveCells(tuple(ids), after))
    assert moved == dumped(notebook(*(cells[name] for name in order)), **style)


def test_moving_identical_cells_without_ids_does_not_mix_them_up() -> None:
    first, second = code(["same"], outputs=[stored("1")]), code(["same"], outputs=[stored("2")])
    before = dumped(notebook(first, second, minor=4))
    a, b = (cell.cell_id for cell in read(before).cells)
    file = notebook_json.parse(before, name="n")
    edited = apply_edits(file, [MoveCells((a,), "end")], OpenRuns().apply([]), given={})
    cells = read(edited.content, edited.given).cells
    assert [(cell.cell_id, cell.outputs[0]["text"]) for cell in cells] == [(b, "2"), (a, "1")]


@pytest.mark.parametrize(
    "wrong",
    [MoveCells(("a", "gone"), "end"), MoveCells(("a",), "gone"), MoveCells(("a",), "a")],
    ids=str,
)
def test_a_move_of_or_behind_a_cell_that_is_gone_is_refused(wrong: MoveCells) -> None:
    with pytest.raises(ToolError, match="nothing was written"):
        edit(dumped(notebook(code(["a"], "a"), code(["b"], "b"))), wrong)


# -- cells without ids ---------------------------------------------------------------------------


def test_cells_without_ids_get_stable_ids_that_are_not_written() -> None:
    before = dumped(notebook(code(["same"]), code(["same"]), code(["x"]), minor=4))
    ids = [cell.cell_id for cell in read(before).cells]
    assert len(set(ids)) == 3
    assert [cell.cell_id for cell in read(before).cells] == ids
    after = edit(before, ReplaceSource(ids[1], base("same"), "changed"))
    assert [cell.source for cell in read(after).cells] == ["same", "changed", "x"]
    assert b'"id"' not in after


def test_a_cell_without_id_keeps_the_id_that_callers_know() -> None:
    before = dumped(notebook(code(["a"]), minor=4))
    cell_id = read(before).cells[0].cell_id
    file = notebook_json.parse(before, name="n")
    edits = [
        ReplaceSource(cell_id, base("a"), "b"),
        InsertCells("end", (NewCell("code", "new", "fresh"),)),
    ]
    edited = apply_edits(file, edits, OpenRuns().apply([]), given={})
    again = read(edited.content, edited.given)
    assert [cell.cell_id for cell in again.cells] == [cell_id, "fresh"]
    assert b'"id"' not in edited.content


# -- runs ----------------------------------------------------------------------------------------


def stream(text: str, name: str = "stdout") -> Output:
    return {"output_type": "stream", "name": name, "text": text}


def test_a_run_is_written_with_outputs_count_and_timing() -> None:
    old = {"output_type": "stream", "name": "stdout", "text": ["old\n"]}
    before = dumped(notebook(code(["a"], "a", outputs=[old], execution_count=1), code(["b"], "b")))
    image: Output = {
        "output_type": "display_data",
        "data": {"image/png": "AA==", "text/plain": "one\ntwo", "application/json": {"a": [1]}},
        "metadata": {},
        "transient": {"display_id": "x"},
    }
    after = edit(
        before,
        BeginRun("a"),
        AddOutput("a", stream("1\n")),
        AddOutput("a", stream("2\n")),
        AddOutput("a", stream("e", "stderr")),
        AddOutput("a", image),
        SetOutput("a", 1, stream("E", "stderr")),
        EndRun("a", 7, {"shell.execute_reply": "2026-01-01T00:00:00Z"}),
    )
    data = {"image/png": "AA==", "text/plain": ["one\n", "two"], "application/json": {"a": [1]}}
    outputs = [
        {"name": "stdout", "output_type": "stream", "text": ["1\n", "2\n"]},
        {"name": "stderr", "output_type": "stream", "text": ["E"]},
        {"data": data, "metadata": {}, "output_type": "display_data"},
    ]
    timing = {"execution": {"shell.execute_reply": "2026-01-01T00:00:00Z"}}
    ran = code(["a"], "a", outputs=outputs, execution_count=7, metadata=timing)
    assert after == dumped(notebook(ran, code(["b"], "b")))
    assert read(after).cells[0].outputs[0] == stream("1\n2\n")


def test_a_run_of_a_cell_that_is_gone_or_no_code_changes_nothing() -> None:
    text = {"cell_type": "markdown", "id": "m", "metadata": {}, "source": ["t"]}
    before = dumped(notebook(text))
    for cell_id in ("gone", "m"):
        assert (
            edit(before, BeginRun(cell_id), AddOutput(cell_id, stream("x")), EndRun(cell_id, 1))
            == before
        )


def test_a_late_change_acts_on_the_stored_outputs() -> None:
    first = {"output_type": "stream", "name": "stdout", "text": ["a"]}
    cell = code(["a"], "a", outputs=[first], execution_count=3)
    after = read(
        edit(dumped(notebook(cell)), SetOutput("a", 0, stream("b")), SetOutput("a", 9, {}))
    )
    assert (after.cells[0].outputs, after.cells[0].execution_count) == ((stream("b"),), 3)


def test_the_trusted_flag_is_taken_out_of_what_is_written() -> None:
    trusted = {"trusted": True, "tags": ["t"]}
    before = dumped(notebook(code(["a"], "a", metadata=trusted)))
    for edits in (
        [ReplaceSource("a", base("a"), "b")],
        [BeginRun("a"), AddOutput("a", stream("x")), EndRun("a", 1)],
    ):
        cell = json.loads(edit(before, *edits))["cells"][0]
        assert cell["metadata"] == {"tags": ["t"]}


# -- damaged files -------------------------------------------------------------------------------

GOOD = dumped(notebook(code(["a"], "a")))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (GOOD[: len(GOOD) * 6 // 10], "not valid JSON"),
        (GOOD + b"{}", "not valid JSON"),
        (GOOD.replace(b'"a"', b'"a",'), "not valid JSON"),
        (GOOD.replace(b' "cells"', b'<<<<<<< HEAD\n "cells"'), "merge conflict"),
        (dumped(notebook(nbformat=1)), "very old notebook format 1"),
        (dumped([1]), "no object"),
        (b"7", "no object"),
        (b"\xff\xfe{}", "not UTF-8"),
        (b"[" * 200_000, "nested|not valid JSON"),
    ],
)
def test_a_damaged_notebook_is_explained_in_plain_words(content: bytes, words: str) -> None:
    with pytest.raises(ToolError, match=words) as caught:
        read(content)
    assert caught.value.code == "bad_notebook"
    assert "not changed" in caught.value.message
    assert "read_file" in caught.value.hint


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (notebook(code(["a"], "a"), nbformat=5), "format 5.5 is newer"),
        (notebook(code(["a"], "a"), minor=6), "format 4.6 is newer"),
        ({"nbformat": 4, "nbformat_minor": 5}, "metadata is missing|no list of cells"),
        ({"cells": [code(["a"], "a")], "metadata": {}}, "does not say which notebook format"),
        ({**notebook(), "cells": [1]}, "an entry is not an object in cell 1"),
        (notebook(code(["a"], "a", metadata=[])), "metadata is not an object in cell 1"),
        (notebook(code(["a"], "a"), {"cell_type": "code", "source": "b"}), "missing in cell 2"),
        (notebook(code(7, "a")), "source is not text or a list of lines in cell 1"),
        (notebook(code("a", "not an id")), "id is not a cell id"),
        (notebook(code("a", "a", outputs=[{"output_type": "stream"}])), "output 1 in cell 1"),
        (notebook(metadata={"kernelspec": {"name": "x"}}), "display_name is missing"),
    ],
)
def test_an_invalid_notebook_is_read_but_not_edited(value: Any, words: str) -> None:
    content = dumped(value)
    found = read(content)
    assert re.search(words, found.read_only), found.read_only
    with pytest.raises(ToolError, match=words) as caught:
        edit(content, InsertCells("end", (NewCell("code", "x", "x"),)))
    assert caught.value.code == "read_only"


@pytest.mark.parametrize(
    "value",
    [
        notebook(code(["a"], "a"), more={"of": "some tool"}, signature="x"),
        notebook(code(["a"], "a", attachments={}, more=1)),
        notebook(code(["a"])),
        notebook(metadata={"unknown": 1, "kernelspec": {"name": "x", "display_name": "X"}}),
    ],
)
def test_what_jupyterlab_opens_without_a_word_can_be_edited(value: Any) -> None:
    content = dumped(value)
    assert read(content).read_only == ""
    after = edit(content, InsertCells("end", (NewCell("code", "x", "x"),)))
    assert [cell.source for cell in read(after).cells][-1] == "x"


def test_a_notebook_of_format_3_is_read_as_one_of_format_4() -> None:
    outputs = [
        {"output_type": "stream", "stream": "stderr", "text": ["e\n"]},
        {"output_type": "pyout", "prompt_number": 2, "text": ["1"], "html": "<b>1</b>"},
        {"output_type": "display_data", "png": "AA==", "json": '{"a": 1}', "metadata": {}},
        {"output_type": "pyerr", "ename": "E", "evalue": "v", "traceback": ["t"]},
    ]
    ran = {"cell_type": "code", "input": ["a\n", "b"], "language": "julia", "prompt_number": 2}
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Two\n", "lines"]},
        {**ran, "outputs": outputs, "collapsed": False},
        {"cell_type": "html", "source": "<p>"},
    ]
    sheets = [{"cells": cells}, {"cells": [{"cell_type": "raw", "source": "r"}]}]
    found = read(dumped({"metadata": {}, "nbformat": 3, "nbformat_minor": 0, "worksheets": sheets}))
    assert "old notebook format 3" in found.read_only and found.language == "julia"
    assert [(cell.cell_type, cell.source) for cell in found.cells] == [
        ("markdown", "## Two lines"),
        ("code", "a\nb"),
        ("markdown", "<p>"),
        ("raw", "r"),
    ]
    assert found.cells[1].execution_count == 2
    stream, result, display, error = found.cells[1].outputs
    assert stream == {"output_type": "stream", "name": "stderr", "text": "e\n"}
    assert result["data"] == {"text/plain": "1", "text/html": "<b>1</b>"}
    assert (result["output_type"], result["execution_count"]) == ("execute_result", 2)
    assert display["data"] == {"image/png": "AA==", "application/json": {"a": 1}}
    assert error == {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["t"]}
