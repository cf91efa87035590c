"""The notebooks of tests/corpus through a real contents manager: on disk, byte for byte."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

from vitto_jupyter.errors import ToolError
from vitto_jupyter.workspace.base import InsertCells, NewCell, ReplaceSource
from vitto_jupyter.workspace.documents.jupyter_documents import JupyterDocuments

CORPUS = Path(__file__).parents[3] / "corpus"
ROWS = [json.loads(line) for line in (CORPUS / "index.jsonl").read_text().splitlines()]
NEW = InsertCells("end", (NewCell("code", "x", "x"),))


@pytest.fixture
def corpus(root: Path) -> Path:
    shutil.copytree(CORPUS, root, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*"))
    return root


@pytest.fixture
async def documents(root: Path) -> AsyncIterator[JupyterDocuments]:
    documents = JupyterDocuments(AsyncLargeFileManager(root_dir=str(root)))
    yield documents
    await documents.close()


def names(*opens: str) -> list[str]:
    return [row["file"] for row in ROWS if row["opens"] in opens]


async def test_an_edit_that_is_taken_back_leaves_the_file_as_it_was(
    documents: JupyterDocuments, corpus: Path
) -> None:
    for name in names("edit"):
        before = (corpus / name).read_bytes()
        notebook = await documents.read_notebook(name)
        if b"trusted" in before or not notebook.cells:
            continue  # a flag that is taken out for good
        cell = notebook.cells[-1]
        await documents.edit_notebook(name, [ReplaceSource(cell.cell_id, cell.revision, "é")])
        assert (corpus / name).read_bytes() != before, name
        changed = (await documents.read_notebook(name)).cell(cell.cell_id)
        assert changed is not None and changed.source == "é"
        back = ReplaceSource(cell.cell_id, changed.revision, cell.source)
        await documents.edit_notebook(name, [back])
        assert (corpus / name).read_bytes() == before, name


async def test_what_is_not_for_editing_is_refused_and_stays_as_it_is(
    documents: JupyterDocuments, corpus: Path
) -> None:
    for row in ROWS:
        before = (corpus / row["file"]).read_bytes()
        if row["opens"] == "edit":
            continue
        with pytest.raises(ToolError) as refused:
            await documents.edit_notebook(row["file"], [NEW])
        assert row["says"] in refused.value.message
        assert (corpus / row["file"]).read_bytes() == before
        if row["opens"] == "read":
            assert row["says"] in (await documents.read_notebook(row["file"])).read_only
        else:
            with pytest.raises(ToolError) as unreadable:
                await documents.read_notebook(row["file"])
            assert unreadable.value.code == "bad_notebook"
