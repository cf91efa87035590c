"""Cutting long outputs; most cases are in tests/golden/output_cut.json, shared with the page."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from output_cut_cases import CASES, golden_text, stream

from vitto_jupyter.workspace.base import Cell, Notebook
from vitto_jupyter.workspace.notebooks.output_cut import (
    LIMITS,
    OutputCutter,
    cut_notebook,
    cut_text,
    output_part,
)

GOLDEN = Path(__file__).parents[3] / "golden/output_cut.json"


def cut_of(text: str) -> str:
    return OutputCutter().cut(stream(text))["text"]


def test_the_cases_that_the_page_is_held_to_are_those_of_today() -> None:
    assert GOLDEN.read_text(encoding="utf-8") == golden_text()
    assert len(json.loads(golden_text())["cases"]) == len(CASES)


def test_an_output_at_the_limit_is_whole_and_one_beyond_it_is_cut() -> None:
    assert cut_of("a" * 100_000) == "a" * 100_000
    assert cut_of("a" * 100_001).startswith("a" * 20_000 + "\n[… 60001 characters left out …]\n")


def test_errors_are_found_anywhere_in_a_text_of_many_windows() -> None:
    lines = [f"line {number} é" for number in range(400_000)]
    wanted = [90_000, 200_000, 201_000, 390_000]
    for at in wanted:
        lines[at] = f"{lines[at]} Error"
    quoted = cut_of("\n".join(lines)).split("…]\n")[1]
    assert quoted.splitlines()[:-1] == [lines[at] for at in wanted]


def test_of_very_many_errors_the_first_and_the_last_are_quoted() -> None:
    lines = [f"error {number}" for number in range(400_000)]
    text = "\n".join(["x" * 20_000, *lines, "y" * 20_000])
    quoted = cut_of(text).split("…]\n")[1].splitlines()[:-1]
    assert quoted == lines[:25] + lines[-25:]


def test_all_outputs_of_a_notebook_together_are_bounded() -> None:
    cells = [Cell(str(n), "code", "", str(n), outputs=(stream("a" * 90_000),)) for n in range(500)]
    found = cut_notebook(Notebook("n.ipynb", tuple(cells), "", ""))
    sizes = [len(cell.outputs[0]["text"]) for cell in found.cells]
    assert sizes[0] == 90_000 and sizes[-1] < 4_000
    assert sum(sizes) < 4_100_000 + 500 * 4_000
    assert found.cells[-1].outputs[0]["cut"] == {"text": 90_000}


@given(st.lists(st.sampled_from(("a\n", "é", "an Error", "\n", "🙂", "x" * 3_000)), max_size=300))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_a_cut_text_is_shorter_and_quotes_only_what_is_there(pieces: list[str]) -> None:
    text = "".join(pieces)
    for rule in (LIMITS.early, LIMITS.late):
        if len(text) <= rule.over_chars:
            continue
        cut = cut_text(text, rule, error_line_chars=400)
        assert len(cut) < len(text)
        assert cut.startswith(text[: rule.keep_chars])
        assert cut.endswith(text[-rule.keep_chars :])
        for line in cut[rule.keep_chars : -rule.keep_chars].splitlines()[2:-1]:
            assert line.rstrip("…") in text


@given(st.text(max_size=60), st.integers(1, 7))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_parts_read_one_after_the_other_are_the_whole(text: str, count: int) -> None:
    read, total = "", 1
    while len(read) < total:
        part = output_part(stream(text), "text", start=len(read), count=count)
        assert part is not None and part.start == len(read)
        read, total = read + part.text, part.total_chars
    assert read == text
