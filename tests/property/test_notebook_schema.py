"""Our own checks of a notebook agree with nbformat's schema, whatever is wrong with it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat.validator import get_validator

from vitto_jupyter.workspace.notebooks.notebook_schema import first_problem

BUNDLE = {"text/plain": "x", "text/html": ["a\n", "b"], "application/json": {"a": [1]}}
OUTPUTS = [
    {"output_type": "stream", "name": "stdout", "text": ["a\n"]},
    {"output_type": "display_data", "data": BUNDLE, "metadata": {}},
    {"output_type": "execute_result", "data": BUNDLE, "metadata": {}, "execution_count": 1},
    {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["t"]},
]
ATTACHMENTS = {"a.png": {"image/png": "AA=="}}
CELLS = [
    {
        "cell_type": "code",
        "id": "a",
        "metadata": {
            "collapsed": False,
            "scrolled": "auto",
            "name": "n",
            "tags": ["t", "u"],
            "jupyter": {"source_hidden": True},
            "execution": {"iopub.status.busy": "2026-01-01"},
        },
        "source": ["x\n", "y"],
        "outputs": OUTPUTS,
        "execution_count": 1,
    },
    {
        "cell_type": "markdown",
        "id": "b",
        "metadata": {"tags": [], "name": "n", "jupyter": {}},
        "source": "t",
        "attachments": ATTACHMENTS,
    },
    {
        "cell_type": "raw",
        "id": "c",
        "metadata": {"format": "text/x-rst", "name": "n"},
        "source": [],
        "attachments": ATTACHMENTS,
    },
]
NOTEBOOK = {
    "cells": CELLS,
    "metadata": {
        "kernelspec": {"name": "p", "display_name": "P", "language": "x"},
        "language_info": {
            "name": "p",
            "codemirror_mode": {"name": "x"},
            "file_extension": ".py",
            "mimetype": "text/x",
            "pygments_lexer": "p",
        },
        "orig_nbformat": 4,
        "title": "T",
        "authors": [{"name": "A"}],
    },
    "nbformat": 4,
    "nbformat_minor": 5,
}
VALUES: list[Any] = [
    None, True, 0, -1, 1, 1.0, 2.5, "", "x", "a b", "a,b", "two\nlines", "code", "raw", "error",
    "stream", "x" * 65, [], ["x"], ["x", "x"], ["x", 1], [[]], {}, {"x": 1}, {"x": "y"},
    {"x": {}}, {"name": "x"}, {"name": 1, "display_name": "x"},
]  # fmt: skip


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each container with each of its keys."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in pairs:
        yield value, key
        if isinstance(inner, dict | list):
            yield from places(inner)


@st.composite
def notebooks(draw: st.DrawFn) -> dict[str, Any]:
    """A notebook with up to two values changed, taken away or added."""
    notebook = copy.deepcopy(NOTEBOOK) | {"nbformat_minor": draw(st.integers(0, 5))}
    for _ in range(draw(st.integers(0, 2))):
        found = [(holder, key) for holder, key in places(notebook) if key not in FIXED]
        holder, key = draw(st.sampled_from(found))
        if draw(st.integers(0, 3)) == 0:
            del holder[key]
        else:
            holder[key] = draw(st.sampled_from(VALUES))
    return notebook


FIXED = ("cells", "nbformat", "nbformat_minor")


def nbformat_says(notebook: dict[str, Any]) -> bool:
    """With ids put in where they are missing, as every reader does."""
    minor = notebook["nbformat_minor"]
    cells = [
        {"id": "new", **cell} if minor >= 5 and isinstance(cell, dict) else cell
        for cell in notebook["cells"]
    ]
    validator = get_validator(4, minor, relax_add_props=True, name="fastjsonschema")
    return not list(validator.iter_errors({**notebook, "cells": cells}))


def we_say(notebook: dict[str, Any]) -> bool:
    return not first_problem(notebook, notebook["cells"], minor=notebook["nbformat_minor"])


@settings(derandomize=True, max_examples=400, deadline=None)
@given(notebooks())
def test_both_give_the_same_verdict(notebook: dict[str, Any]) -> None:
    assert we_say(notebook) == nbformat_says(notebook)


@pytest.mark.parametrize("minor", [1, 5])
def test_every_single_change_gets_the_same_verdict(minor: int) -> None:
    notebook = copy.deepcopy(NOTEBOOK) | {"nbformat_minor": minor}
    assert we_say(notebook) and nbformat_says(notebook)
    for holder, key in list(places(notebook)):
        if key in FIXED:
            continue
        kept = holder[key]
        for value in VALUES:
            holder[key] = value
            verdicts = we_say(notebook), nbformat_says(notebook)
            assert verdicts[0] == verdicts[1], (key, value, verdicts)
        holder[key] = kept
        if isinstance(holder, dict):
            order = list(holder.items())
            del holder[key]
            assert we_say(notebook) == nbformat_says(notebook), key
            holder.clear()
            holder.update(order)


def test_nbformat_knows_no_newer_format_than_we_do() -> None:
    assert (nbformat.current_nbformat, nbformat.current_nbformat_minor) == (4, 5)
