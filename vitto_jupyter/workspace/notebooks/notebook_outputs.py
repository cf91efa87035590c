"""Outputs as callers know them (texts are strings) <-> as nbformat stores them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..base import Output

_SPLIT_TYPES = frozenset({"application/javascript", "image/svg+xml"})
_FIELDS: dict[str, dict[str, Any]] = {
    "stream": {"name": "stdout", "text": ""},
    "display_data": {"data": {}, "metadata": {}},
    "execute_result": {"data": {}, "metadata": {}, "execution_count": None},
    "error": {"ename": "", "evalue": "", "traceback": []},
}


def joined_output(output: Mapping[str, Any]) -> Output:
    """A stored output with each text in one string."""
    found = dict(output)
    if isinstance(found.get("text"), list):
        found["text"] = "".join(map(str, found["text"]))
    data = found.get("data")
    if isinstance(data, dict):
        found["data"] = {kind: _joined(kind, value) for kind, value in data.items()}
    return found


def stored_output(output: Mapping[str, Any]) -> dict[str, Any]:
    """An output as nbformat stores it: exactly the fields of its type, texts as lists of lines."""
    kind = str(output.get("output_type"))
    fields = _FIELDS.get(kind)
    if fields is None:
        return dict(output)
    stored = {"output_type": kind} | {
        name: output.get(name, default) for name, default in fields.items()
    }
    if kind == "stream":
        stored["text"] = str(stored["text"]).splitlines(keepends=True)
    elif isinstance(stored.get("data"), dict):
        stored["data"] = {name: _split(name, value) for name, value in stored["data"].items()}
    return dict(sorted(stored.items()))


def _joined(kind: str, value: Any) -> Any:
    is_json = kind == "application/json" or kind.endswith("+json")
    if is_json or not isinstance(value, list) or not all(isinstance(line, str) for line in value):
        return value
    return "".join(value)


def _split(kind: str, value: Any) -> Any:
    if isinstance(value, str) and (kind.startswith("text/") or kind in _SPLIT_TYPES):
        return value.splitlines(keepends=True)
    return value
