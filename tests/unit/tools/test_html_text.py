import time

import pandas as pd
import pytest

from vitto_jupyter.tools.html_text import html_text

FRAME = pd.DataFrame({"name": ["a|b", "<c>"], "value": [1.5, None]})
KEYS = pd.MultiIndex.from_product([["x", "y"], [1, 2]], names=["key", "number"])
DEEP = pd.DataFrame({"a": [0, 1, 2, 3], "b": [4, 5, 6, 7]}, index=KEYS)


def test_a_frame_is_a_line_per_row_with_its_columns():
    assert html_text(FRAME._repr_html_()).split("\n")[:3] == [
        "| name | value",
        "0 | a|b | 1.5",
        "1 | <c> | NaN",
    ]


def test_a_styled_frame_is_its_values_without_css_and_ids():
    styled = FRAME.replace("<c>", "c").style.highlight_max(subset=["value"]).set_caption("Two rows")
    assert html_text(styled.to_html()) == (
        "Two rows\n| name | value\n0 | a|b | 1.500000\n1 | c | nan"
    )


def test_rows_of_a_multi_index_keep_their_columns():
    assert html_text(DEEP.to_html()).split("\n") == [
        "| | a | b",
        "key | number",
        "x | 1 | 0 | 4",
        "| 2 | 1 | 5",
        "y | 1 | 2 | 6",
        "| 2 | 3 | 7",
    ]


def test_columns_of_a_multi_index_stand_over_theirs():
    lines = html_text(DEEP.unstack().to_html()).split("\n")
    assert lines[0] == "| a | | b"
    assert lines[1] == "number | 1 | 2 | 1 | 2"
    assert lines[-1] == "y | 2 | 3 | 6 | 7"


def test_scripts_styles_and_drawings_are_left_out():
    html = "<style>p {}</style><p>One<script>x()</script></p><svg><text>no</text></svg><p>two"
    assert html_text(html) == "One\ntwo\n[script left out]"


def test_what_is_no_text_is_named():
    assert html_text('<iframe src="a"></iframe><img src="data:x"> <canvas></canvas>') == (
        "[frame] [image] [canvas]"
    )


def test_a_table_inside_a_table_loses_no_text():
    html = "<table><tr><td>a<table><tr><td>b</td></tr></table>c</td><td>d</td></tr></table>"
    words = html_text(html).replace("|", " ").split()
    assert words == ["a", "b", "c", "d"]


def test_a_very_long_html_is_read_up_to_a_limit_and_says_so():
    text = html_text("<p>word</p>" * 100_000)
    assert text.endswith("700,000 characters of HTML left out …]")
    assert len(html_text("<p>word</p>" * 100, read_chars=55).split("\n")) == 6


@pytest.mark.parametrize(
    "piece",
    [
        "<td colspan=9999 rowspan=9999>",
        "<tr>",
        "<table>",
        "<td>x",
        "<th rowspan=",
        "</td>",
        "<tr><td rowspan=9999 colspan=400>",
    ],
)
def test_hostile_tables_take_no_time(piece):
    began = time.monotonic()
    text = html_text(piece * (400_000 // len(piece)))
    assert time.monotonic() - began < 20
    assert len(text) < 4_000_000
