"""A notebook file as cells. Pure; used by the contents-API documents.

Formats 4.0 to 4.5 are read and edited; format 2 and 3, newer ones and what breaks the schema are
read only. Cells without an id of their own get a synthetic one that is not written to the file.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from ...errors import ToolError
from ..base import Cell, CellType, Notebook
from ..text_codec import normalised
from . import notebook_v3
from .json_spans import Known, Span, members, value_at
from .notebook_outputs import joined_output
from .notebook_schema import first_problem

NEWEST_MINOR = 5
_MERGE_MARKER = re.compile(r"^(<<<<<<<|>>>>>>>) ", re.MULTILINE)
_CELL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


@dataclass(frozen=True, slots=True)
class NotebookFile:
    """A parsed notebook. `cells` are spans of `text`, each with a dict; `array` is all of them.

    `fields` are the other members of the file. `read_only` says why it must not be edited, ""
    when it may; then it is valid, and each cell has what its type must have.
    """

    text: str
    bom: bytes
    minor: int
    fields: dict[str, Any]
    array: Span
    cells: tuple[Span, ...]
    read_only: str = ""

    @property
    def metadata(self) -> dict[str, Any]:
        return _dict(self.fields.get("metadata"))


def parse(content: bytes, *, name: str) -> NotebookFile:
    """The notebook in `content`; `name` is for messages.

    Raises:
        ToolError: code `bad_notebook`, when it is not a JSON object; the message says in plain
            words what is wrong.
    """
    bom = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    try:
        text = content[len(bom) :].decode("utf-8")
    except UnicodeDecodeError as err:
        raise _bad(name, "it is not UTF-8 text") from err
    return parse_text(text, bom=bom, name=name)


def parse_text(text: str, *, bom: bytes, name: str, known: Known | None = None) -> NotebookFile:
    """As `parse`; `known` spares decoding cells that are written as in an earlier text."""
    try:
        fields = members(text, 0, arrays=("cells",), known=known)
        if text[fields.end :].strip():
            raise json.JSONDecodeError("Extra data", text, fields.end)
    except json.JSONDecodeError as err:
        raise _bad(name, _json_problem(text, err)) from err
    except RecursionError as err:
        raise _bad(name, "its JSON is nested too deeply") from err
    others = {key: span.value for key, span in fields.value.items() if key != "cells"}
    array = fields.value.get("cells") or Span(0, 0, None)
    major, minor = _whole(others.get("nbformat")), _whole(others.get("nbformat_minor"))
    if major == 1:
        raise _bad(name, "it has the very old notebook format 1")
    if major in (2, 3):
        cells = tuple(Span(0, 0, value) for value in notebook_v3.upgraded_cells(others))
    else:
        cells = tuple(array.value) if isinstance(array.value, list) else ()
    file = NotebookFile(text, bom, minor or 0, others, array, cells)
    problem = _why_read_only(file, major=major, minor=minor)
    if not problem:
        return file
    return replace(file, cells=tuple(map(_readable, cells)), read_only=problem)


def read(file: NotebookFile, *, path: str, given: Mapping[str, str]) -> Notebook:
    """The notebook as callers see it; `given` as in `cell_ids`."""
    cells = tuple(
        _cell(span.value, cell_id=cell_id, label=str(number))
        for number, (span, cell_id) in enumerate(
            zip(file.cells, cell_ids(file, given), strict=True), 1
        )
    )
    kernelspec = _dict(file.metadata.get("kernelspec"))
    language = (
        _dict(file.metadata.get("language_info")).get("name")
        or kernelspec.get("language")
        or notebook_v3.language_of(file.fields)
    )
    name = str(kernelspec.get("name") or "")
    return Notebook(path, cells, name, str(language or ""), read_only=file.read_only)


def cell_ids(file: NotebookFile, given: Mapping[str, str]) -> tuple[str, ...]:
    """The ids by position, all different: the cell's own, else a synthetic one.

    Synthetic are those of cells without an id (from the source) and of cells that share one
    (`<id>~1`, `<id>~2`, …: an id that several cells have means none of them). They stay the
    same from read to read. `given` maps such ids to those that callers know the cell by, since
    an edit may change them.
    """
    own = [_own_id(span.value) for span in file.cells]
    counts, seen = Counter(own), Counter[str]()
    ids: list[str] = []
    for span, cell_id in zip(file.cells, own, strict=True):
        if not cell_id:
            digest = _digest(span.value)
            while (cell_id := f"v{digest}-{seen[digest]}") in counts:
                seen[digest] += 1
            seen[digest] += 1
        elif counts[cell_id] > 1:
            seen[cell_id] += 1
            cell_id = f"{cell_id}~{seen[cell_id]}"
        ids.append(cell_id)
    return _as_given(ids, given)


def _as_given(ids: Sequence[str], given: Mapping[str, str]) -> tuple[str, ...]:
    """The names that callers know, where that leaves all different."""
    names = [given.get(cell_id, cell_id) for cell_id in ids]
    while len(set(names)) < len(names):
        counts = Counter(names)
        names = [
            cell_id if counts[name] > 1 else name for cell_id, name in zip(ids, names, strict=True)
        ]
    return tuple(names)


def repeated_ids(file: NotebookFile) -> frozenset[str]:
    """Ids that several cells have in the file: none of these cells can be meant by it."""
    own = Counter(_own_id(span.value) for span in file.cells)
    return frozenset(cell_id for cell_id, count in own.items() if cell_id and count > 1)


def source_text(value: Mapping[str, Any]) -> str:
    """A cell's source with "\\n" line ends."""
    return normalised(raw_source(value))


def raw_source(value: Mapping[str, Any]) -> str:
    source = value.get("source", "")
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def cell_type_of(value: Mapping[str, Any]) -> CellType:
    """Types that nbformat 4 does not know are treated as raw."""
    kind = value.get("cell_type")
    return kind if kind in get_args(CellType) else "raw"


def empty_notebook(*, kernel_name: str, language: str) -> bytes:
    """The file of a new notebook without cells."""
    metadata: dict[str, Any] = {}
    if kernel_name:
        kernelspec = {"display_name": kernel_name, "name": kernel_name}
        metadata["kernelspec"] = {**kernelspec, **({"language": language} if language else {})}
    if language:
        metadata["language_info"] = {"name": language}
    notebook = {"cells": [], "metadata": metadata, "nbformat": 4, "nbformat_minor": NEWEST_MINOR}
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def is_cell_id(text: str) -> bool:
    return _CELL_ID.match(text) is not None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _why_read_only(file: NotebookFile, *, major: int | None, minor: int | None) -> str:
    if major in (2, 3):
        return f"it has the old notebook format {major}; saving it in JupyterLab converts it"
    if major is None or minor is None or (major, minor) < (4, 0):
        return "it does not say which notebook format it has"
    if (major, minor) > (4, NEWEST_MINOR):
        return f"its notebook format {major}.{minor} is newer than what is known here"
    if not isinstance(file.array.value, list):
        return "it has no list of cells"
    problem = first_problem(file.fields, [span.value for span in file.cells], minor=minor)
    return f"it breaks the rules of the notebook format: {problem}" if problem else ""


def _readable(span: Span) -> Span:
    """What is no cell is shown as its JSON."""
    if isinstance(span.value, dict):
        return span
    return replace(span, value={"cell_type": "raw", "source": json.dumps(span.value)})


def _json_problem(text: str, err: json.JSONDecodeError) -> str:
    if not text.strip():
        return "it is empty"
    if _is_json(text):
        return "it is JSON, but no object"
    if _MERGE_MARKER.search(text):
        return "it holds merge conflict markers"
    return f"it is not valid JSON (line {err.lineno}: {err.msg})"


def _is_json(text: str) -> bool:
    try:
        return not text[value_at(text, 0).end :].strip()
    except (json.JSONDecodeError, RecursionError):
        return False


def _bad(name: str, problem: str) -> ToolError:
    return ToolError(
        f"{name} cannot be read as a notebook: {problem}. It was not changed.",
        code="bad_notebook",
        hint="read_file shows its raw text. Ask the user to repair it, for example from a "
        "checkpoint or from git.",
    )


def _cell(value: dict[str, Any], *, cell_id: str, label: str) -> Cell:
    outputs = value.get("outputs")
    count = value.get("execution_count")
    return Cell(
        cell_id,
        cell_type_of(value),
        source_text(value),
        label,
        count if isinstance(count, int) else None,
        tuple(
            joined_output(output)
            for output in (outputs if isinstance(outputs, list) else [])
            if isinstance(output, dict)
        ),
        ran_at=_ran_at(value),
    )


def _ran_at(value: Mapping[str, Any]) -> str:
    """When the cell began to run, as JupyterLab and this package note it; "" without that."""
    timing = _dict(_dict(value.get("metadata")).get("execution"))
    return str(timing.get("iopub.execute_input") or timing.get("iopub.status.busy") or "")


def _own_id(value: Mapping[str, Any]) -> str:
    cell_id = value.get("id")
    return cell_id if isinstance(cell_id, str) and is_cell_id(cell_id) else ""


def _digest(value: Mapping[str, Any]) -> str:
    content = f"{cell_type_of(value)}\n{source_text(value)}"
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
