"""What reaches the model of outputs, whatever they are: properties."""

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st
from pictures import png
from tool_calls import ToolCalls

from vitto_jupyter.tools.images import Images
from vitto_jupyter.tools.notebook_view import VIEW_CHARS
from vitto_jupyter.tools.output_view import MOST_OUTPUTS, SMALL_CHARS, Place, outputs_text
from vitto_jupyter.workspace.base import Cell
from vitto_jupyter.workspace.memory import error, memory_workspace, notebook_of, stream

QUICK = settings(derandomize=True, deadline=None, max_examples=60)
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), max_size=12)
PLACE = Place("c1", "read_output cell_id=c1")


def _display(**data):
    return {"output_type": "display_data", "data": data, "metadata": {}}


def _output(kind: str, text: str) -> dict:
    """An output of any kind whose text is `text`."""
    match kind:
        case "stream":
            return stream(text)
        case "list":
            return {"output_type": "stream", "name": "stderr", "text": text.splitlines(True)}
        case "error":
            return {"output_type": "error", "ename": "E", "evalue": "", "traceback": [text]}
        case "latex with image":
            return _display(**{"text/latex": text, "image/png": png()})
        case "html and plain":
            return _display(**{"text/html": "<b>rich</b>" * 2_000, "text/plain": text})
        case _:
            return _display(**{kind: text})


KINDS = st.sampled_from(
    [
        "stream",
        "list",
        "error",
        "latex with image",
        "html and plain",
        "text/plain",
        "text/markdown",
    ]
)
OTHERS = st.sampled_from(
    [
        stream("noise\n" * 20_000),
        stream("x" * 150_000),
        error("ValueError", "bad", "frame\n" * 5_000),
        _display(**{"image/png": png(), "text/plain": "<Figure size 1x1>"}),
        _display(**{"image/png": "not base64"}),
        _display(**{"application/vnd.plotly.v1+json": {"data": [{"x": [1] * 9_000}]}}),
        _display(**{"text/html": "<table>" + "<tr><td>1</td></tr>" * 9_000 + "</table>"}),
        _display(**{"application/vnd.jupyter.widget-view+json": {"model_id": "a"}}),
        {"output_type": "stream", "name": "stdout", "text": "gone", "cut": {"text": 10**9}},
        {"output_type": "unknown"},
        stream(""),
    ]
)


def _marked(number: int, word: str, size: int) -> str:
    """A text of two lines that cannot be there by chance."""
    return f"<{number}>{word}\n" + "y" * size + f"</{number}>"


@st.composite
def _mixes(draw):
    """Outputs, and the texts of those that are small."""
    small = draw(st.lists(st.tuples(KINDS, WORDS, st.integers(0, SMALL_CHARS - 60)), max_size=8))
    texts = [_marked(number, word, size) for number, (_, word, size) in enumerate(small)]
    outputs = [_output(kind, text) for (kind, _, _), text in zip(small, texts, strict=True)]
    outputs += draw(st.lists(OTHERS, max_size=MOST_OUTPUTS - 8))
    return draw(st.permutations(outputs)), texts


@QUICK
@given(_mixes())
def test_a_small_output_is_always_whole(mix):
    outputs, texts = mix
    shown = outputs_text(outputs, Images(), place=PLACE)
    assert [text for text in texts if text not in shown] == []
    assert len(shown) < 30_000


@settings(QUICK, max_examples=25)
@given(_mixes(), st.lists(st.integers(0, 90_000), max_size=30))
def test_a_small_output_reaches_the_model_whatever_else_is_in_the_notebook(mix, sizes):
    outputs, texts = mix
    others = [Cell(f"o{at}", "code", "z" * size, "", 1, ()) for at, size in enumerate(sizes)]
    cells = [*others, Cell("c1", "code", "run()", "", 1, tuple(outputs)), *others[:0]]
    calls = ToolCalls(
        memory_workspace(notebooks={"n.ipynb": notebook_of(*cells)}), notebook_path="n.ipynb"
    )
    shown = asyncio.run(calls.call("read_notebook", cells=["c1"]))
    assert shown.success
    assert [text for text in texts if text not in shown.output] == []


@QUICK
@given(
    st.sampled_from(["ERROR disk", "ValueError: bad", "Traceback (most", "FAILED x", "fatal: no"]),
    st.integers(0, 400),
    st.integers(1, 400),
    st.integers(1, 300),
    st.sampled_from(["stream", "error", "text/plain", "text/markdown"]),
)
def test_an_error_line_in_the_middle_of_a_long_output_is_in_the_view(word, at, after, width, kind):
    line = f"<<{word} in line>>"
    lines = ["n" * width] * (at + 200) + [line] + ["n" * width] * (after + 200)
    shown = outputs_text([_output(kind, "\n".join(lines))], Images(), limit=3_000, place=PLACE)
    assert line in shown


@QUICK
@given(st.integers(0, 60_000), st.integers(0, 60_000))
def test_an_error_within_one_very_long_line_is_in_the_view(before, after):
    text = "x" * before + " KeyError: 'k' " + "x" * after
    shown = outputs_text([stream(text)], Images(), limit=1_000, place=PLACE)
    assert "KeyError: 'k'" in shown and len(shown) < 5_000


@QUICK
@given(st.integers(1, 2_000), st.integers(1, 3_000))
def test_the_last_progress_is_in_the_view(before, after):
    lines = [f"{at} done" for at in range(before)] + ["epoch 7: loss 0.1"] + ["tick"] * after
    shown = outputs_text([stream("\n".join(lines))], Images(), limit=1_000, place=PLACE)
    assert "epoch 7: loss 0.1" in shown


SOURCES = st.builds(
    str.__mul__, st.sampled_from(["x", "a = 1\n", "é\n", "\n"]), st.integers(0, 40_000)
)
CELLS = st.builds(
    lambda source, kind, outputs, count: (source, kind, outputs, count),
    SOURCES,
    st.sampled_from(["code", "markdown", "raw"]),
    st.lists(OTHERS, max_size=60),
    st.one_of(st.none(), st.integers(1, 99)),
)


@settings(QUICK, max_examples=25)
@given(st.lists(CELLS, max_size=12), st.integers(1, 14), st.booleans())
def test_every_view_of_a_notebook_stays_within_its_bound(drawn, start, whole):
    cells = [
        Cell(f"c{at}", kind, source, "", count, tuple(outputs) if kind == "code" else ())
        for at, (source, kind, outputs, count) in enumerate(drawn)
    ]
    calls = ToolCalls(
        memory_workspace(notebooks={"n.ipynb": notebook_of(*cells)}), notebook_path="n.ipynb"
    )
    ids = [cell.cell_id for cell in cells]
    options = {"cells": ids} if whole and ids else {"start": start}
    shown = asyncio.run(calls.call("read_notebook", **options))
    assert shown.success, shown.error
    assert len(shown.output) <= VIEW_CHARS
    assert "\0" not in shown.output


def test_what_is_cut_says_how_to_read_it():
    shown = outputs_text([stream("a\n"), stream("line\n" * 5_000)], Images(), place=PLACE)
    assert "characters left out: read_output cell_id=c1 output=2 start_line=" in shown


def test_sizes_are_the_full_ones_when_the_source_cut():
    cut = {**stream("head\n[… 4999000 characters left out …]\ntail"), "cut": {"text": 5_000_000}}
    shown = outputs_text([cut], Images(), place=PLACE)
    assert "[5,000,000 characters in all: read_output cell_id=c1 output=1]" in shown


def test_of_thousands_of_outputs_the_rest_is_named_and_the_error_is_there():
    outputs = [stream(f"line {at}\n" * 30) for at in range(5_000)]
    outputs[2_500] = error("ValueError", "in the middle")
    shown = outputs_text(outputs, Images(), place=PLACE)
    assert "line 0\n" in shown and "line 4999" in shown and "in the middle" in shown
    assert "outputs 12–2,500" in shown and "read_output cell_id=c1 lists them" in shown
    assert len(shown) < 30_000


def test_charts_are_named_with_what_they_say_of_themselves():
    plotly = {
        "data": [{"type": "bar"}, {"type": "scatter"}],
        "layout": {"title": {"text": "Sales"}},
    }
    vega = {"mark": {"type": "bar"}, "data": {"values": [1] * 1000}}
    shown = outputs_text(
        [
            _display(**{"application/vnd.plotly.v1+json": plotly, "text/html": "<div></div>"}),
            _display(**{"application/vnd.vegalite.v5+json": vega, "text/plain": "<VegaLite 5>"}),
            _display(**{"application/geo+json": {"features": []}}),
            _display(**{"image/svg+xml": "<svg></svg>", "text/plain": "<Figure>"}),
            _display(**{"application/pdf": "", "text/plain": "x"})
            | {"cut": {"application/pdf": 9}},
        ],
        Images(),
    ).split("\n")
    assert shown[0].startswith("[plotly figure left out: “Sales”, 2 traces (bar, scatter), appl")
    assert shown[1].startswith("[Vega-Lite chart left out: mark bar, application/vnd.vegalite")
    assert shown[2].startswith("[GeoJSON map left out: application/geo+json, 16 characters")
    assert shown[3] == "[SVG image left out: image/svg+xml, 11 characters]"
    assert shown[4] == "[PDF left out: application/pdf, 9 characters]"


def test_json_is_shown_as_json_and_named_when_it_was_cut():
    plain = "<IPython.core.display.JSON object>"
    small = _display(**{"application/json": {"a": [1, 2]}, "text/plain": plain})
    emptied = _display(**{"application/json": "", "text/plain": plain})
    shown = outputs_text(
        [small, emptied | {"cut": {"application/json": 10**6}}], Images(), place=PLACE
    )
    assert shown.split("\n")[0] == '{"a": [1, 2]}'
    assert "[1,000,000 characters in all: read_output cell_id=c1 output=2]" in shown


def test_a_formula_is_its_latex_and_not_its_picture():
    images = Images()
    shown = outputs_text([_display(**{"text/latex": "$x^2$", "image/png": png()})], images)
    assert shown == "$x^2$"
