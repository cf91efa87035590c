"""Each notebook of tests/corpus opens as its index says, and keeps its bytes.

An index row: the file, how it opens ("edit", "read" only, or "no"), why it is there, and what
the message says when it is not for editing.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from nbformat.validator import get_validator

from vitto_jupyter.errors import ToolError
from vitto_jupyter.workspace.base import Cell, DeleteCell, InsertCells, NewCell, ReplaceSource
from vitto_jupyter.workspace.notebooks import notebook_json
from vitto_jupyter.workspace.notebooks.notebook_edit import EditedNotebook, apply_edits
from vitto_jupyter.workspace.notebooks.notebook_json import NotebookFile
from vitto_jupyter.workspace.notebooks.output_fold import OpenRuns

CORPUS = Path(__file__).parents[3] / "corpus"
ROWS = [json.loads(line) for line in (CORPUS / "index.jsonl").read_text().splitlines()]
NO_RUNS = OpenRuns().apply([])


def rows(*opens: str) -> list[object]:
    return [pytest.param(row, id=row["file"]) for row in ROWS if row["opens"] in opens]


def parsed(row: dict[str, str]) -> NotebookFile:
    return notebook_json.parse((CORPUS / row["file"]).read_bytes(), name=row["file"])


def replaced(file: NotebookFile, cell: Cell, source: str, given: dict[str, str]) -> EditedNotebook:
    step = ReplaceSource(cell.cell_id, cell.revision, source)
    return apply_edits(file, [step], NO_RUNS, given=given)


def test_the_index_lists_every_file_once() -> None:
    names = sorted(path.name for path in CORPUS.glob("*.ipynb"))
    assert sorted(row["file"] for row in ROWS) == names
    assert all(row["why"] for row in ROWS)


@pytest.mark.parametrize("row", rows("edit"))
def test_an_edit_of_any_cell_changes_its_bytes_only_and_can_be_taken_back(
    row: dict[str, str],
) -> None:
    content = (CORPUS / row["file"]).read_bytes()
    file = parsed(row)
    assert apply_edits(file, [], NO_RUNS, given={}).content == content
    notebook = notebook_json.read(file, path=row["file"], given={})
    assert notebook.read_only == ""
    for cell, span in zip(notebook.cells, file.cells, strict=True):
        edited = replaced(file, cell, "changed = 'ü'\n# here", {})
        text = edited.file.text
        assert text.startswith(file.text[: span.start]) and text.endswith(file.text[span.end :])
        assert edited.content.startswith(file.bom)
        again = notebook_json.read(edited.file, path=row["file"], given=edited.given)
        changed = again.cell(cell.cell_id)
        assert changed is not None and changed.source == "changed = 'ü'\n# here"
        if "trusted" not in json.dumps(span.value):  # a flag that is taken out for good
            assert replaced(edited.file, changed, cell.source, edited.given).content == content


@pytest.mark.parametrize("row", rows("edit"))
def test_a_cell_that_comes_and_goes_leaves_no_trace(row: dict[str, str]) -> None:
    content = (CORPUS / row["file"]).read_bytes()
    file = parsed(row)
    ids = notebook_json.cell_ids(file, {})
    new = NewCell("code", "x", "new")
    gone = DeleteCell("new", Cell("new", "code", "x", "").revision)
    for after in ("start", "end", *ids):
        edited = apply_edits(file, [InsertCells(after, (new,))], NO_RUNS, given={})
        again = apply_edits(edited.file, [gone], NO_RUNS, given=edited.given)
        assert again.content == content, after


@pytest.mark.parametrize("row", rows("edit"))
def test_what_is_written_is_valid(row: dict[str, str]) -> None:
    new = InsertCells("end", (NewCell("markdown", "# New", "new"),))
    edited = apply_edits(parsed(row), [new], NO_RUNS, given={})
    value = json.loads(edited.file.text)
    minor = value["nbformat_minor"]
    for number, cell in enumerate(value["cells"] if minor >= 5 else []):
        cell["id"] = f"id-{number}"  # missing and repeated ids are mended by every reader
    validator = get_validator(4, minor, relax_add_props=True, name="fastjsonschema")
    assert list(validator.iter_errors(value)) == []


@pytest.mark.parametrize("row", rows("edit", "read"))
def test_every_cell_has_an_id_that_stays(row: dict[str, str]) -> None:
    first, second = (
        [cell.cell_id for cell in notebook_json.read(parsed(row), path="n", given={}).cells]
        for _ in range(2)
    )
    assert first == second and len(set(first)) == len(first) and all(first)


@pytest.mark.parametrize("row", rows("read"))
def test_what_cannot_be_edited_says_why(row: dict[str, str]) -> None:
    file = parsed(row)
    assert row["says"] in notebook_json.read(file, path="n", given={}).read_only
    with pytest.raises(ToolError) as refused:
        apply_edits(file, [InsertCells("end", (NewCell("code", "x", "x"),))], NO_RUNS, given={})
    assert refused.value.code == "read_only" and row["says"] in refused.value.message


@pytest.mark.parametrize("row", rows("no"))
def test_what_cannot_be_read_says_why(row: dict[str, str]) -> None:
    with pytest.raises(ToolError) as refused:
        parsed(row)
    assert refused.value.code == "bad_notebook" and row["says"] in refused.value.message
