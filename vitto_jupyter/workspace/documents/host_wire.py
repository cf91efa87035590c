"""JSON of the calls that a page answers: parameters from our values, checked answers back.

Pure; used by `live`. The TypeScript side is `labextension/src/hosts/lab`.
"""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from ...errors import ToolError
from ...protocol.base import JsonObject
from ..base import Cell, CellType, Notebook, NotebookEdit
from ..notebooks.notebook_outputs import joined_output

_WORD_START = re.compile(r"(?<!^)(?=[A-Z])")


class _Answer(BaseModel):
    """What a page answers; fields of a newer page are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class TextAnswer(_Answer):
    text: str
    dirty: bool = True


class _CellAnswer(_Answer):
    cell_id: str
    cell_type: CellType
    source: str
    execution_count: int | None = None
    outputs: tuple[JsonObject, ...] = ()
    edited_since_run: bool | None = None
    kernel_gone: bool | None = None


class NotebookAnswer(_Answer):
    cells: tuple[_CellAnswer, ...]
    kernel_name: str = ""
    language: str = ""
    dirty: bool
    read_only: str = ""


class EditAnswer(_Answer):
    """The revisions of the touched cells as they will be saved; None: an older page."""

    cells: dict[str, str | None] | None = None


class OutputPartAnswer(_Answer):
    text: str
    start: int
    total_chars: int


A = TypeVar("A", bound=_Answer)


def parsed(model: type[A], value: JsonObject) -> A:
    """The answer of a page.

    Raises:
        ToolError: code `bad_answer`: the page answered something else.
    """
    try:
        return model.model_validate(value)
    except ValidationError as err:
        raise ToolError(
            "The page that holds the document gave an answer that cannot be understood.",
            code="bad_answer",
            hint="Ask the user to reload the page.",
        ) from err


def edit_json(edit: NotebookEdit) -> JsonObject:
    """An edit with its class as `op`, for example `replace_source`."""
    op = _WORD_START.sub("_", type(edit).__name__).lower()
    fields: dict[str, Any] = asdict(edit)
    return {"op": op, **{k: list(v) if isinstance(v, tuple) else v for k, v in fields.items()}}


def notebook_of(answer: NotebookAnswer, *, path: str, also_open: str = "") -> Notebook:
    cells = tuple(
        Cell(
            cell.cell_id,
            cell.cell_type,
            cell.source,  # as it is there: the page compares its own text with the revision
            str(number),
            cell.execution_count,
            tuple(joined_output(output) for output in cell.outputs),
            cell.edited_since_run,
            cell.kernel_gone,
        )
        for number, cell in enumerate(answer.cells, 1)
    )
    return Notebook(
        path,
        cells,
        answer.kernel_name,
        answer.language,
        held=True,
        dirty=answer.dirty,
        read_only=answer.read_only,
        also_open=also_open,
    )
