"""A notebook file (nbformat 4) as cells. Pure; used by the contents-API documents.

Cells without a usable id get a synthetic one that is not written to the file.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from ..errors import ToolError
from .base import Cell, CellType, Notebook
from .json_spans import Span, members
from .notebook_outputs import joined_output
from .text_codec import normalised

NEWEST_MINOR = 5
_MERGE_MARKER = re.compile(r"^(<<<<<<<|>>>>>>>) ", re.MULTILINE)
_CELL_ID = re.compile(r"^[A-Za-z0-9_-]{1,64}$")


@dataclass(frozen=True, slots=True)
class NotebookFile:
    """A parsed notebook. `cells` are spans of `text`, each with a dict; `array` is all of them.

    `fields` are the other members of the file.
    """

    text: str
    bom: bytes
    minor: int
    fields: dict[str, Any]
    array: Span
    cells: tuple[Span, ...]

    @property
    def metadata(self) -> dict[str, Any]:
        return _dict(self.fields.get("metadata"))

    @property
    def value(self) -> dict[str, Any]:
        """The whole notebook as JSON values."""
        return {**self.fields, "cells": [cell.value for cell in self.cells]}


def parse(content: bytes, *, name: str) -> NotebookFile:
    """The notebook in `content`; `name` is for messages.

    Raises:
        ToolError: code `bad_notebook`; the message says in plain words what is wrong.
    """
    bom = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    try:
        text = content[len(bom) :].decode("utf-8")
        fields = _top_level(text)
    except UnicodeDecodeError as err:
        raise _bad(name, "it is not UTF-8 text") from err
    except json.JSONDecodeError as err:
        raise _bad(name, _json_problem(text, err)) from err
    except RecursionError as err:
        raise _bad(name, "its JSON is nested too deeply") from err
    others = {key: span.value for key, span in fields.items() if key != "cells"}
    minor = _checked_minor(others, name)
    array = fields.get("cells")
    if array is None or not isinstance(array.value, list):
        raise _bad(name, "it has no list of cells")
    cells = tuple(array.value)
    if not all(_is_cell(cell.value) for cell in cells):
        raise _bad(name, "an entry of its list of cells is no cell")
    return NotebookFile(text, bom, minor, others, array, cells)


def read(file: NotebookFile, *, path: str, given: Mapping[str, str]) -> Notebook:
    """The notebook as callers see it; `given` as in `cell_ids`."""
    ids = cell_ids(file, given)
    cells = [
        _cell(span.value, cell_id=cell_id, label=str(number))
        for number, (span, cell_id) in enumerate(zip(file.cells, ids, strict=True), 1)
    ]
    kernelspec = _dict(file.metadata.get("kernelspec"))
    language = _dict(file.metadata.get("language_info")).get("name") or kernelspec.get("language")
    return Notebook(path, tuple(cells), str(kernelspec.get("name") or ""), str(language or ""))


def cell_ids(file: NotebookFile, given: Mapping[str, str]) -> tuple[str, ...]:
    """The ids by position: the cell's own, else a synthetic one. Repeated ids stay repeated.

    A synthetic id comes from the source, so it stays the same from read to read. `given` maps
    synthetic ids to those that callers know the cell by, since an edit changes the source.
    """
    own = {_own_id(span.value) for span in file.cells}
    seen: Counter[str] = Counter()
    ids: list[str] = []
    for span in file.cells:
        cell_id = _own_id(span.value)
        if not cell_id:
            digest = _digest(span.value)
            synthetic = f"v{digest}-{seen[digest]}"
            seen[digest] += 1
            known = given.get(synthetic, synthetic)
            cell_id = synthetic if known in own else known
        ids.append(cell_id)
    return tuple(ids)


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


def _top_level(text: str) -> dict[str, Span]:
    whole = members(text, 0, arrays=("cells",))
    if text[whole.end :].strip():
        raise json.JSONDecodeError("Extra data", text, whole.end)
    return whole.value


def _checked_minor(fields: Mapping[str, Any], name: str) -> int:
    major, minor = fields.get("nbformat"), fields.get("nbformat_minor")
    if not isinstance(major, int) or not isinstance(minor, int):
        raise _bad(name, "it does not say which notebook format it has")
    if major < 4:
        raise _bad(
            name,
            f"it has the old notebook format {major}",
            hint="Ask the user to open and save it in JupyterLab, which converts it.",
        )
    if major > 4 or minor > NEWEST_MINOR:
        raise _bad(name, f"its notebook format {major}.{minor} is newer than this version knows")
    return minor


def _json_problem(text: str, err: json.JSONDecodeError) -> str:
    if not text.strip():
        return "it is empty"
    if _MERGE_MARKER.search(text):
        return "it holds merge conflict markers"
    return f"it is not valid JSON (line {err.lineno}: {err.msg})"


def _bad(name: str, problem: str, *, hint: str = "") -> ToolError:
    return ToolError(
        f"{name} cannot be read as a notebook: {problem}. It was not changed.",
        code="bad_notebook",
        hint=hint or "Ask the user to repair it, for example from a checkpoint or from git.",
    )


def _is_cell(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("cell_type"), str)
        and isinstance(value.get("source", ""), str | list)
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
    )


def _own_id(value: Mapping[str, Any]) -> str:
    cell_id = value.get("id")
    return cell_id if isinstance(cell_id, str) and is_cell_id(cell_id) else ""


def _digest(value: Mapping[str, Any]) -> str:
    content = f"{cell_type_of(value)}\n{source_text(value)}"
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
