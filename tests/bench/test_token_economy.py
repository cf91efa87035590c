"""Characters of our view of notebooks over their raw JSON.

The view is the whole path that a model needs: the outline, then all cells with their outputs in
pages. Images count as what they cost (about 1,600 tokens at most), not as base64.
"""

from __future__ import annotations

import base64
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tool_calls import ToolCalls

from vitto_jupyter.errors import ToolError
from vitto_jupyter.workspace.base import Notebook
from vitto_jupyter.workspace.memory import memory_workspace
from vitto_jupyter.workspace.notebooks.notebook_json import parse, read

pytestmark = pytest.mark.bench
CORPUS = Path(__file__).parents[1] / "corpus"
AIM = 7.0
# An image costs width x height / 750 tokens; a plot of 640 x 480 is 410 tokens of 2.7 characters.
IMAGE_CHARS = 1_100
_RANDOM = Random(3)


# -- notebooks with outputs ----------------------------------------------------------------------


def _plot() -> dict[str, Any]:
    """A plot of matplotlib, about 30 kB."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.8), dpi=100)
    axes = figure.subplots()
    generator = np.random.default_rng(5)
    for name in ("north", "south", "west"):
        axes.plot(generator.normal(size=300).cumsum(), label=name)
    axes.legend()
    written = io.BytesIO()
    figure.savefig(written, format="png")
    data = base64.b64encode(written.getvalue()).decode() + "\n"
    return _display({"image/png": data, "text/plain": ["<Figure size 640x480 with 1 Axes>"]})


def _display(data: dict[str, Any], kind: str = "display_data") -> dict[str, Any]:
    more = {"execution_count": 1} if kind == "execute_result" else {}
    return {"output_type": kind, "data": data, "metadata": {}, **more}


def _frame(rows: int = 10) -> pd.DataFrame:
    generator = np.random.default_rng(rows)
    columns = {f"feature_{at}": generator.normal(size=rows) for at in range(8)}
    return pd.DataFrame({"name": [f"item {at}" for at in range(rows)], **columns})


def _table(rows: int = 10) -> dict[str, Any]:
    frame = _frame(rows)
    html = frame._repr_html_().splitlines(keepends=True)
    return _display(
        {"text/html": html, "text/plain": repr(frame).splitlines(keepends=True)}, "execute_result"
    )


def _styled() -> dict[str, Any]:
    styled = _frame(25).style.background_gradient(subset=["feature_1", "feature_2"])
    plain = ["<pandas.io.formats.style.Styler at 0x7f3c8c0d0a90>"]
    html = styled.to_html().splitlines(keepends=True)
    return _display({"text/html": html, "text/plain": plain}, "execute_result")


def _stream(text: str, name: str = "stdout") -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": text.splitlines(keepends=True)}


def _log(lines: int) -> dict[str, Any]:
    text = "".join(
        f"2026-01-01 00:00:{at % 60:02d},{at % 1000:03d} INFO trainer: step {at} "
        f"loss={1 / (at + 1):.5f}\n"
        for at in range(lines)
    )
    return _stream(text)


def _progress(steps: int) -> dict[str, Any]:
    text = "".join(
        f"\r{at * 100 // steps:3d}%|{'█' * (at * 10 // steps):10s}| {at}/{steps} "
        "[00:01<00:02, 55.1it/s]"
        for at in range(steps + 1)
    )
    return _stream(text + "\n", "stderr")


def _traceback(frames: int) -> dict[str, Any]:
    lines = [
        "\x1b[31m" + "-" * 75 + "\x1b[39m",
        "\x1b[31mKeyError\x1b[39m  Traceback (most recent)",
    ]
    for at in range(frames):
        lines.append(
            f"\x1b[36mFile \x1b[39m\x1b[32m~/lib/pandas/core/frame_{at}.py:{at * 31}\x1b[39m, in "
            f"\x1b[36mget\x1b[39m\x1b[34m(self, key)\x1b[39m\n\x1b[32m    {at}\x1b[39m indexer = "
            "\x1b[38;5;28mself\x1b[39m.columns.get_loc(key)\n" * 4
        )
    lines.append("\x1b[31mKeyError\x1b[39m: 'prize'")
    return {"output_type": "error", "ename": "KeyError", "evalue": "'prize'", "traceback": lines}


def _plotly() -> dict[str, Any]:
    points = [_RANDOM.random() for _ in range(3_000)]
    figure = {
        "data": [{"type": "scatter", "x": points, "y": points}],
        "layout": {"title": "Points"},
    }
    return _display({"application/vnd.plotly.v1+json": figure, "text/html": ["<div id='x'></div>"]})


def _widget() -> dict[str, Any]:
    view = {"model_id": "a" * 32, "version_major": 2, "version_minor": 0}
    return _display(
        {
            "application/vnd.jupyter.widget-view+json": view,
            "text/plain": ["IntSlider(value=3, description='n')"],
        }
    )


SOURCE = (
    "# Step {at}\n"
    "frame = load('data/part_{at}.csv')\n"
    "frame['ratio'] = frame['price'] / frame['size']\n"
    "summary = frame.groupby('town').agg({{'ratio': ['mean', 'std']}})\n"
    "summary.plot(kind='bar')"
)


def _raw(cells: Sequence[Sequence[dict[str, Any]]]) -> str:
    made: list[dict[str, Any]] = []
    for at, outputs in enumerate(cells, 1):
        note = [f"## Part {at}\n", "\n", "What is done here, and why it is done this way.\n"]
        made.append({"cell_type": "markdown", "id": f"m{at}", "metadata": {}, "source": note})
        made.append(
            {
                "cell_type": "code",
                "execution_count": at,
                "id": f"c{at}",
                "metadata": {},
                "outputs": list(outputs),
                "source": SOURCE.format(at=at).splitlines(keepends=True),
            }
        )
    metadata = {"kernelspec": {"display_name": "Python 3", "name": "python3", "language": "python"}}
    notebook = {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _generated() -> dict[str, str]:
    return {
        "plots": _raw([[_plot()] for _ in range(8)]),
        "tables": _raw([[_table(rows)] for rows in (5, 10, 20, 60) * 3]),
        "styled tables": _raw([[_styled()] for _ in range(6)]),
        "logs": _raw([[_log(lines)] for lines in (10, 200, 2_000, 5_000)]),
        "progress bars": _raw([[_progress(steps), _stream("done\n")] for steps in (100, 500) * 3]),
        "tracebacks": _raw([[_traceback(frames)] for frames in (5, 20, 40)]),
        "charts and widgets": _raw([[_plotly()], [_widget()], [_plotly()], [_stream("ok\n")]]),
        "an analysis": _raw(
            [
                [_stream("(1000, 9)\n")],
                [_table(5)],
                [_plot()],
                [_progress(200), _log(300)],
                [_styled()],
                [],
                [_plot(), _stream("r2 = 0.83\n")],
                [_traceback(12)],
            ]
        ),
    }


# -- what a model reads --------------------------------------------------------------------------


async def view_chars(notebook: Notebook) -> int:
    """The characters of the outline and of all cells with outputs, page by page."""
    calls = ToolCalls(memory_workspace(notebooks={"n.ipynb": notebook}), notebook_path="n.ipynb")
    outline = await calls.call("read_notebook", count=200)
    total, left = len(outline.output), [cell.cell_id for cell in notebook.cells]
    if set(calls.seen) == {f"n.ipynb#{cell_id}" for cell_id in left}:
        return total + IMAGE_CHARS * len(outline.metadata.get("images", ()))
    calls.seen.clear()
    start = 201
    while start <= len(left):
        total += len((await calls.call("read_notebook", start=start, count=200)).output)
        start += 200
    while left:
        page = await calls.call("read_notebook", cells=left[:40])
        assert page.success, page.error
        total += len(page.output) + IMAGE_CHARS * len(page.metadata.get("images", ()))
        left = [cell_id for cell_id in left if f"n.ipynb#{cell_id}" not in calls.seen]
    return total


def _corpus() -> dict[str, str]:
    found = {}
    for file in sorted(CORPUS.glob("**/*.ipynb")):
        raw = file.read_bytes()
        found[str(file.relative_to(CORPUS))] = raw.decode("utf-8", "replace")
    return found


def _read(name: str, raw: str) -> Notebook | None:
    """None for what is no notebook at all."""
    try:
        return read(parse(raw.encode(), name=name), path="n.ipynb", given={})
    except ToolError:
        return None


async def test_our_view_is_much_smaller_than_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    rows, raw_all, view_all = [], 0, 0
    for name, raw in (_generated() | _corpus()).items():
        notebook = _read(name, raw)
        if notebook is None:
            continue
        view = await view_chars(notebook)
        rows.append((name, len(raw), view))
        if any(cell.outputs for cell in notebook.cells):
            raw_all, view_all = raw_all + len(raw), view_all + view
    lines = [f"{name:32.32} {raw:>10,} {view:>9,} {raw / view:6.1f}×" for name, raw, view in rows]
    total = f"{'all with outputs':32} {raw_all:>10,} {view_all:>9,} {raw_all / view_all:6.1f}×"
    with capsys.disabled():
        head = f"{'notebook':32} {'raw JSON':>10} {'our view':>9}"
        sys.stdout.write("\n".join(["", head, *lines, total, ""]))
    assert raw_all / view_all >= AIM
