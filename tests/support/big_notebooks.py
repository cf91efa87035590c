"""Notebooks of the sizes that hurt, as bytes; the same bytes at each call.

Realistic in what costs: many long text outputs, HTML tables and base64 images.
"""

from __future__ import annotations

import base64
import json
import random
from typing import Any

_HUNDRED_MB = 100_000_000
_TEXT_CHARS = 150_000
_IMAGE_BYTES = 380_000
_TABLE_ROWS = 1_500
_CELLS = 200
_VARIANTS = 5


def ten_thousand_cells() -> bytes:
    """10,000 cells of a few lines, every second one with a small output; about 2.5 MB."""
    return _file([_small_cell(number) for number in range(10_000)])


def hundred_megabytes() -> bytes:
    """100 MB (± 1 %) in 200 cells: texts, tables and images as outputs of the code cells."""
    chance = random.Random(3)
    made = [maker(chance) for _ in range(_VARIANTS) for maker in (_text, _table, _image, _error)]
    # In the file each line of an output has four levels before it.
    sizes = [len(text := json.dumps(each, indent=1)) + 4 * text.count("\n") for each in made]
    cells = [_small_cell(number) for number in range(_CELLS)]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    size, turn = len(_file(cells)), 0
    while size < _HUNDRED_MB:
        code[turn % len(code)]["outputs"].append(made[turn % len(made)])
        size += sizes[turn % len(made)]
        turn += 1
    return _file(cells)


def _file(cells: list[dict[str, Any]]) -> bytes:
    notebook = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python", "version": "3.11.0"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def _small_cell(number: int) -> dict[str, Any]:
    cell_id = f"cell-{number:05d}"
    if number % 5 == 0:
        source = [f"## Step {number}\n", "\n", "What comes next, and why – in a line or two."]
        return {"cell_type": "markdown", "id": cell_id, "metadata": {}, "source": source}
    lines = [f"frame_{number} = load('data/{number}.csv')\n", f"frame_{number}.describe()"]
    outputs = [_stream(f"rows: {number * 7}\n")] if number % 2 else []
    return {
        "cell_type": "code",
        "execution_count": number,
        "id": cell_id,
        "metadata": {},
        "outputs": outputs,
        "source": lines,
    }


def _stream(text: str) -> dict[str, Any]:
    return {"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)}


def _text(chance: random.Random) -> dict[str, Any]:
    lines: list[str] = []
    size = 0
    while size < _TEXT_CHARS:
        lines.append(f"epoch {len(lines):5d}  loss {chance.random():.6f}  lr {1e-4:.1e}\n")
        size += len(lines[-1])
    lines[len(lines) // 2] = "WARNING: gradient overflow, step skipped\n"
    return _stream("".join(lines))


def _table(chance: random.Random) -> dict[str, Any]:
    row = "  <tr><th>{}</th><td>{:.4f}</td><td>{:.4f}</td><td>name {}</td></tr>\n"
    rows = [row.format(n, chance.random(), chance.random(), n % 17) for n in range(_TABLE_ROWS)]
    html = ["<table class='dataframe'>\n", *rows, "</table>"]
    data = {"text/html": html, "text/plain": [f"[{_TABLE_ROWS} rows x 3 columns]"]}
    return {
        "data": data,
        "execution_count": 1,
        "metadata": {},
        "output_type": "execute_result",
    }


def _image(chance: random.Random) -> dict[str, Any]:
    png = base64.b64encode(b"\x89PNG\r\n\x1a\n" + chance.randbytes(_IMAGE_BYTES)).decode()
    data = {"image/png": png, "text/plain": ["<Figure size 640x480 with 1 Axes>"]}
    return {"data": data, "metadata": {}, "output_type": "display_data"}


def _error(chance: random.Random) -> dict[str, Any]:
    frame = "\u001b[0;32m---> {}\u001b[0m    value = step(value)\n"
    traceback = [frame.format(number) for number in range(1, 40)]
    return {
        "ename": "ValueError",
        "evalue": "no convergence",
        "output_type": "error",
        "traceback": traceback,
    }
