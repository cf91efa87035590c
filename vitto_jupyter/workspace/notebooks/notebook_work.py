"""What is asked of the bytes of a notebook file. Pure; done in a thread, or for big files in
another process (see `big_files`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...errors import DocumentNotFound, EditConflict, ToolError
from ..base import Notebook, OutputPart, Revision, SourceEdit
from ..paths import shown
from . import notebook_json
from .notebook_edit import EditedNotebook, apply_edits
from .notebook_json import NotebookFile
from .notebook_outputs import joined_output
from .output_cut import cut_notebook, output_part
from .output_fold import Folded

Given = dict[str, str]  # ids of cells, see `notebook_json.cell_ids`


@dataclass(frozen=True, slots=True)
class Part:
    """Which part of which output; as `Documents.output_part`."""

    cell_id: str
    index: int
    field: str
    start: int
    count: int


@dataclass(frozen=True, slots=True)
class Change:
    """All that is done to a notebook at once. `bases` are those of the cells that start to run."""

    edits: Sequence[SourceEdit]
    runs: Folded
    bases: Mapping[str, Revision] = field(default_factory=dict)


def viewed(file: NotebookFile, *, path: str, given: Given) -> Notebook:
    """The notebook as `Documents.read_notebook` gives it.

    Raises:
        ToolError: code `bad_notebook`, when JSON in an output is nested too deeply.
    """
    try:
        return cut_notebook(notebook_json.read(file, path=path, given=given))
    except RecursionError as err:
        raise too_deep(path) from err


def part_of(file: NotebookFile, part: Part, *, path: str, given: Given) -> OutputPart:
    """
    Raises:
        DocumentNotFound: there is no such cell, output or field.
    """
    ids = notebook_json.cell_ids(file, given)
    value = file.cells[ids.index(part.cell_id)].value if part.cell_id in ids else {}
    stored = value.get("outputs")
    # As in `notebook_json.read`: what is no output does not count.
    outputs = [output for output in stored or () if isinstance(output, dict)]
    found = None
    if isinstance(stored, list) and 0 <= part.index < len(outputs):
        output = joined_output(outputs[part.index])
        found = output_part(output, part.field, start=part.start, count=part.count)
    if found is None:
        raise no_such_output(path, part.cell_id)
    return found


def too_deep(path: str) -> ToolError:
    return ToolError(
        f"{shown(path)} cannot be read as a notebook: JSON in an output is nested too deeply.",
        code="bad_notebook",
        hint="read_file shows it as text.",
    )


def no_such_output(path: str, cell_id: str) -> DocumentNotFound:
    return DocumentNotFound(
        f"Cell {cell_id} of {shown(path)} has no such output now.", hint="Read the cell again."
    )


def changed(before: bytes, change: Change, *, path: str, given: Given) -> EditedNotebook:
    """The checked new bytes.

    Raises:
        EditConflict: a cell is not what an edit or a run is based on.
        ToolError: code `bad_notebook` or `read_only`.
    """
    file = notebook_json.parse(before, name=shown(path))
    edited = apply_edits(file, change.edits, change.runs, given=given)
    check_bases(edited.file, change.bases, path=path, given=edited.given)
    return edited


def check_bases(
    file: NotebookFile, bases: Mapping[str, Revision], *, path: str, given: Given
) -> None:
    """
    Raises:
        EditConflict: a cell that is about to run is not what was to be run.
        ToolError: code `read_only`: what it brings could not be stored.
    """
    if not bases:
        return
    if file.read_only:
        raise ToolError(
            f"{shown(path)} is read-only: {file.read_only}. Nothing was run.", code="read_only"
        )
    cells = {cell.cell_id: cell for cell in notebook_json.read(file, path=path, given=given).cells}
    for cell_id, base in bases.items():
        cell = cells.get(cell_id)
        if cell is None or cell.revision != base:
            raise stale_run(cell_id, None if cell is None else cell.source)


def stale_run(cell_id: str, source: str | None) -> EditConflict:
    """A cell that is not run: it holds `source` now, or is gone."""
    if source is None:
        return EditConflict(f"There is no cell {cell_id} now; nothing was run.")
    now = f" It is now:\n{source}" if len(source) <= 2000 else ""
    return EditConflict(
        f"Cell {cell_id} has changed; nothing was run.{now}",
        hint="Look at the cell again before you run it.",
    )
