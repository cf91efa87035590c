"""Whatever a notebook looks like: an edit changes what it names, and can be taken back."""

from __future__ import annotations

import codecs
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nbformat.validator import get_validator
from notebook_strategies import Written, notebooks, sources

from vitto_jupyter.workspace.base import (
    AddOutput,
    BeginRun,
    DeleteCell,
    EndRun,
    InsertCells,
    MoveCells,
    NewCell,
    Notebook,
    NotebookEdit,
    ReplaceSource,
    SourceEdit,
)
from vitto_jupyter.workspace.notebooks import notebook_json
from vitto_jupyter.workspace.notebooks.notebook_edit import EditedNotebook, apply_edits
from vitto_jupyter.workspace.notebooks.output_fold import OpenRuns, split_edits

bounded = settings(
    derandomize=True,
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
Given = dict[str, str]


def read(content: bytes, known: Given | None = None) -> Notebook:
    file = notebook_json.parse(content, name="n")
    return notebook_json.read(file, path="n.ipynb", given=known or {})


def edit(content: bytes, edits: Sequence[NotebookEdit], known: Given) -> EditedNotebook:
    changes, runs = split_edits(edits)
    file = notebook_json.parse(content, name="n")
    return apply_edits(file, changes, OpenRuns().apply(runs), given=known)


def cell_texts(content: bytes) -> list[str]:
    file = notebook_json.parse(content, name="n")
    return [file.text[cell.start : cell.end] for cell in file.cells]


def around(content: bytes) -> tuple[str, str]:
    """What is in front of the first cell's array and behind it."""
    file = notebook_json.parse(content, name="n")
    return file.text[: file.array.start], file.text[file.array.end :]


def value_of(content: bytes) -> dict[str, Any]:
    return json.loads(content.removeprefix(codecs.BOM_UTF8))


def source_of(value: dict[str, Any]) -> str:
    source = value["source"]
    text = source if isinstance(source, str) else "".join(source)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def is_valid(value: dict[str, Any]) -> bool:
    """By nbformat; lenient as JupyterLab is: cells get ids of their own, names can be added."""
    minor = value["nbformat_minor"]
    ids = [{"id": f"id-{number}"} if minor >= 5 else {} for number in range(len(value["cells"]))]
    cells = [cell | own for cell, own in zip(value["cells"], ids, strict=True)]
    validator = get_validator(4, minor, relax_add_props=True, name="fastjsonschema")
    return not list(validator.iter_errors({**value, "cells": cells}))


@dataclass
class Expected:
    """A cell of the result: which one it was, and its source when that was changed."""

    was: int | None
    source: str | None = None


def plan(data: st.DataObject, notebook: Notebook) -> tuple[list[SourceEdit], list[Expected]]:
    """A sequence of edits, and the cells that it must lead to."""
    cells = [(cell.cell_id, cell.cell_type, cell.source) for cell in notebook.cells]
    order = [(cell_id, kind, Expected(at)) for at, (cell_id, kind, _) in enumerate(cells)]
    texts = {cell_id: source for cell_id, _, source in cells}
    edits: list[SourceEdit] = []
    for number in range(data.draw(st.integers(1, 4))):
        ids = [cell_id for cell_id, _, _ in order]
        verb = data.draw(st.sampled_from(["insert", "replace", "replace", "delete", "move"]))
        after = data.draw(st.sampled_from(["start", "end", *ids]))
        if verb == "insert" or not ids:
            text, kind = data.draw(sources), data.draw(st.sampled_from(["code", "markdown", "raw"]))
            new = NewCell(kind, text, f"new-{number}")
            edits.append(InsertCells(after, (new,)))
            at = {"start": 0, "end": len(ids)}.get(
                after, ids.index(after) + 1 if after in ids else 0
            )
            order.insert(at, (new.cell_id, kind, Expected(None, text)))
            texts[new.cell_id] = text
            continue
        at = data.draw(st.integers(0, len(ids) - 1))
        cell_id, kind, expected = order[at]
        base = notebook_cell(cell_id, kind, texts[cell_id])
        if verb == "replace":
            text = data.draw(sources)
            edits.append(ReplaceSource(cell_id, base, text))
            texts[cell_id] = expected.source = text
        elif verb == "delete":
            edits.append(DeleteCell(cell_id, base))
            del order[at]
        elif after != cell_id:
            edits.append(MoveCells((cell_id,), after))
            moved = order.pop(at)
            ids.remove(cell_id)
            place = {"start": 0, "end": len(ids)}
            order.insert(place[after] if after in place else ids.index(after) + 1, moved)
    return edits, [expected for _, _, expected in order]


def notebook_cell(cell_id: str, kind: Any, source: str) -> Any:
    return notebook_json.Cell(cell_id, kind, source, "").revision


@bounded
@given(notebooks())
def test_the_strategy_makes_valid_notebooks_that_can_be_edited(written: Written) -> None:
    assert is_valid(written.value)
    found = read(written.content)
    assert found.read_only == ""
    assert [cell.source for cell in found.cells] == [
        source_of(cell) for cell in written.value["cells"]
    ]
    assert len({cell.cell_id for cell in found.cells}) == len(found.cells)


@bounded
@given(notebooks(), st.data())
def test_edits_change_nothing_else(written: Written, data: st.DataObject) -> None:
    edits, expected = plan(data, read(written.content))
    after = edit(written.content, edits, {}).content
    assert around(after) == around(written.content)
    assert after.startswith(codecs.BOM_UTF8) == written.content.startswith(codecs.BOM_UTF8)
    before_cells, cells = written.value["cells"], value_of(after)["cells"]
    assert len(cells) == len(expected)
    for text, cell, wanted in zip(cell_texts(after), cells, expected, strict=True):
        if wanted.source is None:
            assert text == written.cells[wanted.was]
            continue
        assert source_of(cell) == wanted.source
        if wanted.was is not None:
            old = before_cells[wanted.was]
            assert type(cell["source"]) is type(old["source"])
            assert repr({**cell, "source": 0}) == repr({**old, "source": 0})
    assert is_valid(value_of(after))


@bounded
@given(notebooks(), st.data())
def test_an_edit_that_is_taken_back_leaves_the_original_bytes(
    written: Written, data: st.DataObject
) -> None:
    content, known = written.content, Given()
    undo: list[SourceEdit] = []
    for number in range(data.draw(st.integers(1, 3))):
        cells = read(content, known).cells
        verb = data.draw(st.sampled_from(["replace", "insert", "move"]))
        if verb == "insert" or not cells:
            after = data.draw(st.sampled_from(["start", "end", *(c.cell_id for c in cells)]))
            new = NewCell("code", data.draw(sources), f"new-{number}")
            step: SourceEdit = InsertCells(after, (new,))
            undo.append(DeleteCell(new.cell_id, notebook_cell(new.cell_id, "code", new.source)))
        elif verb == "replace":
            cell = data.draw(st.sampled_from(cells))
            text = data.draw(sources)
            step = ReplaceSource(cell.cell_id, cell.revision, text)
            base = notebook_cell(cell.cell_id, cell.cell_type, text)
            undo.append(ReplaceSource(cell.cell_id, base, cell.source))
        else:
            cell = data.draw(st.sampled_from(cells))
            at = cells.index(cell)
            step = MoveCells((cell.cell_id,), data.draw(st.sampled_from(["start", "end"])))
            back = cells[at - 1].cell_id if at else "start"
            undo.append(MoveCells((cell.cell_id,), back))
        edited = edit(content, [step], known)
        content, known = edited.content, edited.given
    for step in reversed(undo):
        edited = edit(content, [step], known)
        content, known = edited.content, edited.given
    assert content == written.content


@bounded
@given(notebooks(), st.data())
def test_a_run_changes_only_outputs_and_count_of_its_cell(
    written: Written, data: st.DataObject
) -> None:
    code = [cell for cell in read(written.content).cells if cell.cell_type == "code"]
    if not code:
        return
    ran = data.draw(st.sampled_from(code))
    output = {"output_type": "stream", "name": "stdout", "text": data.draw(sources)}
    edits = [BeginRun(ran.cell_id), AddOutput(ran.cell_id, output), EndRun(ran.cell_id, 9)]
    after = edit(written.content, edits, {}).content
    assert around(after) == around(written.content)
    at = int(ran.label) - 1
    for number, (text, before) in enumerate(zip(cell_texts(after), written.cells, strict=True)):
        assert number == at or text == before
    old, new = written.value["cells"][at], value_of(after)["cells"][at]
    assert new["execution_count"] == 9
    assert "".join(new["outputs"][0]["text"]) == output["text"]
    assert repr({**new, "outputs": 0, "execution_count": 0}) == repr(
        {**old, "outputs": 0, "execution_count": 0}
    )
    assert is_valid(value_of(after))
