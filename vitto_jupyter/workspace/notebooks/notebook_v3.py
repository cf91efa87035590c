"""The cells of a notebook in format 2 or 3, as format 4 has them. Pure; for reading only."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

_MIME_TYPES = {
    "text": "text/plain",
    "html": "text/html",
    "svg": "image/svg+xml",
    "png": "image/png",
    "jpeg": "image/jpeg",
    "pdf": "application/pdf",
    "latex": "text/latex",
    "json": "application/json",
    "javascript": "application/javascript",
}
_NO_DATA = frozenset({"output_type", "prompt_number", "metadata"})


def upgraded_cells(fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The cells of all worksheets in order; what is no cell is left out.

    Source: the conversion of nbformat (v4/convert.py), without its checks.
    """
    return [_cell(cell) for sheet in _objects(fields.get("worksheets")) for cell in _cells(sheet)]


def language_of(fields: Mapping[str, Any]) -> str:
    """The language of the code, "" when unknown: in this format each cell says it."""
    for sheet in _objects(fields.get("worksheets")):
        for cell in _cells(sheet):
            if isinstance(cell.get("language"), str):
                return cell["language"]
    return ""


def _cells(sheet: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    return _objects(sheet.get("cells"))


def _objects(values: Any) -> Iterator[dict[str, Any]]:
    return (
        value for value in (values if isinstance(values, list) else []) if isinstance(value, dict)
    )


def _cell(cell: dict[str, Any]) -> dict[str, Any]:
    kind, source = cell.get("cell_type"), cell.get("source", "")
    if kind == "code":
        return {
            "cell_type": "code",
            "source": cell.get("input", ""),
            "execution_count": cell.get("prompt_number"),
            "outputs": [_output(output) for output in _objects(cell.get("outputs"))],
        }
    if kind == "heading":
        level = cell.get("level")
        hashes = "#" * (level if isinstance(level, int) and 1 <= level <= 6 else 1)
        return {"cell_type": "markdown", "source": f"{hashes} {' '.join(_text(source).split())}"}
    return {"cell_type": "markdown" if kind == "html" else kind, "source": source}


def _output(output: dict[str, Any]) -> dict[str, Any]:
    kind = output.get("output_type")
    if kind == "pyerr":
        return {**output, "output_type": "error"}
    if kind == "stream":
        name = output.get("stream", "stdout")
        return {"output_type": "stream", "name": name, "text": output.get("text", "")}
    if kind not in ("pyout", "display_data"):
        return output
    data = {
        _MIME_TYPES.get(key, key): value for key, value in output.items() if key not in _NO_DATA
    }
    if "application/json" in data:
        data["application/json"] = _parsed(data["application/json"])
    shown = {"data": data, "metadata": output.get("metadata", {})}
    if kind == "display_data":
        return {"output_type": kind, **shown}
    count = output.get("prompt_number")
    return {"output_type": "execute_result", **shown, "execution_count": count}


def _parsed(value: Any) -> Any:
    try:
        return json.loads(_text(value))
    except ValueError:
        return value


def _text(value: Any) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else str(value)
