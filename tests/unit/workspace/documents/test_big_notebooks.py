"""Very large notebooks open and are edited like small ones: quickly, and nothing else changes."""

from __future__ import annotations

import time

import pytest
from big_notebooks import hundred_megabytes, ten_thousand_cells

from vitto_jupyter.workspace.base import DeleteCell, MoveCells, ReplaceSource
from vitto_jupyter.workspace.notebooks import notebook_json
from vitto_jupyter.workspace.notebooks.notebook_edit import apply_edits
from vitto_jupyter.workspace.notebooks.output_fold import OpenRuns

NO_RUNS = OpenRuns().apply([])


def check_one_cell_is_edited(content: bytes, at: int) -> None:
    file = notebook_json.parse(content, name="n")
    cell = notebook_json.read(file, path="n.ipynb", given={}).cells[at]
    edit = ReplaceSource(cell.cell_id, cell.revision, "changed")
    edited = apply_edits(file, [edit], NO_RUNS, given={})
    span = file.cells[at]
    text = edited.content.decode()
    assert text.startswith(file.text[: span.start]) and text.endswith(file.text[span.end :])
    assert edited.file.cells[at].value["source"] == ["changed"]
    back = ReplaceSource(cell.cell_id, edited_revision(cell.cell_type), cell.source)
    assert apply_edits(edited.file, [back], NO_RUNS, given={}).content == content


def edited_revision(kind: str) -> str:
    return notebook_json.Cell("", kind, "changed", "").revision


def test_one_of_ten_thousand_cells_is_edited_in_little_time() -> None:
    content = ten_thousand_cells()
    started = time.process_time()
    check_one_cell_is_edited(content, 5001)
    assert time.process_time() - started < 4  # two edits; 0.7 s on a quiet machine


def test_cells_of_ten_thousand_are_moved_and_deleted() -> None:
    file = notebook_json.parse(ten_thousand_cells(), name="n")
    cells = notebook_json.read(file, path="n.ipynb", given={}).cells
    edits = [
        MoveCells(tuple(cell.cell_id for cell in cells[-3:]), "start"),
        DeleteCell(cells[7].cell_id, cells[7].revision),
    ]
    edited = apply_edits(file, edits, NO_RUNS, given={}).file
    order = [9997, 9998, 9999, *(at for at in range(9997) if at != 7)]
    assert [edited.text[span.start : span.end] for span in edited.cells] == [
        file.text[file.cells[at].start : file.cells[at].end] for at in order
    ]


@pytest.mark.bench
def test_a_cell_of_a_hundred_megabytes_is_edited() -> None:
    check_one_cell_is_edited(hundred_megabytes(), 101)
