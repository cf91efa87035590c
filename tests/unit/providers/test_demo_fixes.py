from __future__ import annotations

import pytest

from vitto_jupyter.providers.demo_fixes import find_fix, frame_names, unique_span

SETUP = "import pandas as pd\nsales = pd.DataFrame({'month': [1, 2], 'units': [3, 4]})"


@pytest.mark.parametrize(
    ("error", "source", "before", "after"),
    [
        ("NameError: name 'slaes' is not defined", "slaes.head()", "slaes", "sales"),
        ("NameError: name 'pritn' is not defined", "pritn(1)", "pritn", "print"),
        ("KeyError: 'unitz'", "sales['unitz'].sum()", "unitz", "units"),
        ("ModuleNotFoundError: No module named 'numpi'", "import numpi", "numpi", "numpy"),
        (
            "AttributeError: 'DataFrame' object has no attribute 'unit'. Did you mean: 'units'?",
            "sales.unit",
            "unit",
            "units",
        ),
    ],
)
def test_a_misspelling_is_replaced_by_what_the_notebook_uses(
    error: str, source: str, before: str, after: str
) -> None:
    fix = find_fix(error, source, [SETUP, source])
    assert fix is not None
    assert (fix.before, fix.after) == (before, after)


@pytest.mark.parametrize(
    ("error", "source"),
    [
        ("ZeroDivisionError: division by zero", "1 / 0"),
        ("NameError: name 'qqqqqq' is not defined", "qqqqqq"),
        ("KeyError: 'unitz'", "f()"),  # raised elsewhere: not in this cell
    ],
)
def test_without_a_rule_there_is_no_fix(error: str, source: str) -> None:
    assert find_fix(error, source, [SETUP, source]) is None


def test_a_span_that_is_not_unique_becomes_its_line() -> None:
    assert unique_span("a = b\nb.head()", "b.head") == ("b.head", True)
    assert unique_span("x = aa\ny = aa + 1", "aa") == ("x = aa", True)
    assert unique_span("aa\naa", "aa") == ("aa", False)


def test_frames_are_found_by_how_they_are_made() -> None:
    assert frame_names([SETUP, "raw = pd.read_csv('a.csv')\nx = 1"]) == ("sales", "raw")


def test_magics_do_not_hide_the_names_of_a_cell() -> None:
    fix = find_fix("NameError: name 'cuont' is not defined", "cuont", ["%time\ncount = 1"])
    assert fix is not None and fix.after == "count"
