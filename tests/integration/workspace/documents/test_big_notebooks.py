"""Notebooks too big for the server's process: a real reader, contents managers and disk."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from big_notebooks import ten_thousand_cells
from jupyter_server.services.contents.largefilemanager import (
    AsyncLargeFileManager,
    LargeFileManager,
)

from vitto_jupyter.errors import EditConflict, PathRefused, ToolError, WriteFailed
from vitto_jupyter.tools.notebook_view import outline
from vitto_jupyter.workspace.base import (
    AddOutput,
    BeginRun,
    EndRun,
    InsertCells,
    MoveCells,
    NewCell,
    Notebook,
    NotebookEdit,
    ReplaceSource,
    revision_of,
)
from vitto_jupyter.workspace.documents.big_work import EditNotebook
from vitto_jupyter.workspace.documents.file_process import FileProcess, Request
from vitto_jupyter.workspace.documents.jupyter_big_files import BigNotebooks
from vitto_jupyter.workspace.documents.jupyter_documents import JupyterDocuments
from vitto_jupyter.workspace.documents.jupyter_files import BIG_BYTES, ContentsFiles
from vitto_jupyter.workspace.documents.save_journal import SaveJournal
from vitto_jupyter.workspace.notebooks import notebook_json
from vitto_jupyter.workspace.notebooks.notebook_work import viewed

BIG, SMALL = "big.ipynb", "small.ipynb"
LINE = "loss 0.123456 – é\n"


def notebook_bytes(*, outputs: int, chars: int) -> bytes:
    """Code cells c0, c1, … with one long text output each."""
    text = LINE * (chars // len(LINE))
    cells = [
        {
            "cell_type": "code",
            "execution_count": number,
            "id": f"c{number}",
            "metadata": {},
            "outputs": [{"name": "stdout", "output_type": "stream", "text": text}],
            "source": f"train({number})",
        }
        for number in range(outputs)
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, ensure_ascii=False).encode()


def directly(content: bytes, path: str = BIG) -> Notebook:
    """What a reader should get, made in this process."""
    return viewed(notebook_json.parse(content, name="n"), path=path, given={})


def settle(path: Path) -> None:
    """Make the file older, so that a parsed one is kept."""
    os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 60))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    (root / BIG).write_bytes(notebook_bytes(outputs=20, chars=300_000))
    (root / SMALL).write_bytes(notebook_bytes(outputs=2, chars=100))
    assert (root / BIG).stat().st_size > BIG_BYTES
    settle(root / BIG)
    return root


@pytest.fixture(params=[LargeFileManager, AsyncLargeFileManager], ids=["sync", "async"])
def manager(request: pytest.FixtureRequest, root: Path) -> Any:
    return request.param(root_dir=str(root))


@pytest.fixture
async def documents(manager: Any, root: Path) -> AsyncIterator[JupyterDocuments]:
    documents = JupyterDocuments(manager, SaveJournal(root.parent / "saves"))
    yield documents
    await documents.close()


@pytest.fixture
async def process() -> AsyncIterator[FileProcess]:
    process = FileProcess()
    yield process
    await process.close()


@pytest.fixture
async def big(root: Path, process: FileProcess) -> BigNotebooks:
    return BigNotebooks(ContentsFiles(AsyncLargeFileManager(root_dir=str(root))), process)


async def read(big: BigNotebooks) -> Notebook:
    place = await big.find(BIG)
    assert place is not None
    return await big.read(place, {})


async def stopped_in_a_read(big: BigNotebooks, process: FileProcess) -> asyncio.Task[Notebook]:
    """A read whose process does not go on."""
    await read(big)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGSTOP)
    task = asyncio.ensure_future(read(big))
    await until(lambda: process.is_busy)
    return task


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def output_of(code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=60).stdout


def saying_nonsense() -> subprocess.Popen[bytes]:
    code = "import time; print('nonsense', flush=True); time.sleep(60)"
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe)


# -- the same as small ones ----------------------------------------------------------------------


async def test_a_big_notebook_reads_as_a_small_one_does(
    documents: JupyterDocuments, root: Path
) -> None:
    found = await documents.read_notebook(BIG)
    assert found == directly((root / BIG).read_bytes())
    assert found.cells[3].outputs[0]["cut"] == {"text": 300_000 // len(LINE) * len(LINE)}
    part = await documents.output_part(BIG, "c3", 0, field="text", start=len(LINE), count=18)
    assert (part.text, part.start) == (LINE, len(LINE))


async def test_failures_without_an_exception_are_looked_for_by_the_reader(
    documents: JupyterDocuments, root: Path
) -> None:
    notebook = json.loads((root / BIG).read_bytes())
    failed = "ERROR: No matching distribution found for panda"
    notebook["cells"][1]["outputs"][0]["text"] += f"{failed}\n"
    (root / BIG).write_text(json.dumps(notebook))
    found = await documents.read_notebook(BIG)
    assert found.cells[0].failures == ()
    assert found.cells[1].failures == (f"pip install failed without an exception: {failed}",)
    assert "FLAG pip install failed" in outline(found).text


async def test_a_cell_with_more_outputs_than_one_answer_holds_reads_whole(
    documents: JupyterDocuments, root: Path
) -> None:
    outputs = [
        {"name": "stdout", "output_type": "stream", "text": f"{number}\n" + LINE * 3_000}
        for number in range(60)
    ]
    notebook = json.loads((root / SMALL).read_bytes())
    notebook["cells"][0]["outputs"] = outputs
    notebook["cells"][1]["source"] = "lone \ud800, twice \ud83d"
    (root / BIG).write_text(json.dumps(notebook))
    assert (root / BIG).stat().st_size > BIG_BYTES
    found = await documents.read_notebook(BIG)
    assert found == directly((root / BIG).read_bytes())
    assert len(found.cells[0].outputs) == 60 and found.cells[1].source.endswith("\ud83d")


async def test_ten_thousand_cells_are_read_and_edited(root: Path) -> None:
    documents = JupyterDocuments(AsyncLargeFileManager(root_dir=str(root)))
    (root / BIG).write_bytes(ten_thousand_cells())
    found = await documents.read_notebook(BIG)
    assert found == directly(ten_thousand_cells())
    cell = found.cells[7_000]
    await documents.edit_notebook(BIG, [ReplaceSource(cell.cell_id, cell.revision, "new")])
    assert (await documents.read_notebook(BIG)).cells[7_000].source == "new"
    await documents.close()


async def test_edits_keep_all_other_bytes_and_are_noted_while_they_are_saved(
    documents: JupyterDocuments, root: Path
) -> None:
    before = (root / BIG).read_bytes()
    edits = [
        ReplaceSource("c4", revision_of("code\ntrain(4)"), "x = 'é'\n" * 3),
        InsertCells("c9", (NewCell("markdown", "# new", "new"),)),
        MoveCells(("c19", "c0"), "c5"),
    ]
    await documents.edit_notebook(BIG, edits)
    after = (root / BIG).read_bytes()
    assert [cell.cell_id for cell in directly(after).cells][4:7] == ["c5", "c19", "c0"]
    texts = [json.dumps(cell, sort_keys=True) for cell in json.loads(after)["cells"]]
    kept = [json.dumps(cell, sort_keys=True) for cell in json.loads(before)["cells"]]
    assert len(set(texts) & set(kept)) == 19 and len(texts) == 21
    assert list((root.parent / "saves").iterdir()) == []
    await documents.edit_notebook(BIG, [MoveCells(("c0",), "start"), MoveCells(("c19",), "end")])
    cells = {cell.cell_id: cell for cell in (await documents.read_notebook(BIG)).cells}
    assert next(iter(cells)) == "c0" and [*cells][-1] == "c19"


async def test_a_run_goes_into_a_big_notebook(documents: JupyterDocuments, root: Path) -> None:
    base = revision_of("code\ntrain(2)")
    with pytest.raises(EditConflict, match=r"train\(2\)"):
        await documents.edit_notebook(BIG, [BeginRun("c2", revision_of("code\nother"))])
    await documents.edit_notebook(BIG, [BeginRun("c2", base)])
    output = {"output_type": "stream", "name": "stdout", "text": "done\n"}
    await documents.edit_notebook(BIG, [AddOutput("c2", output), EndRun("c2", 77)])
    cell = (await documents.read_notebook(BIG)).cells[2]
    assert (cell.outputs, cell.execution_count) == ((output,), 77)


async def test_faults_are_told_as_for_small_ones(documents: JupyterDocuments, root: Path) -> None:
    (root / BIG).write_bytes(b"{" + (root / BIG).read_bytes())
    with pytest.raises(ToolError, match="not valid JSON") as caught:
        await documents.read_notebook(BIG)
    assert caught.value.code == "bad_notebook" and caught.value.hint
    stale = ReplaceSource("c1", revision_of("code\nother"), "x")
    (root / BIG).write_bytes(notebook_bytes(outputs=20, chars=300_000))
    with pytest.raises(EditConflict, match=r"train\(1\)"):
        await documents.edit_notebook(BIG, [stale])
    assert (root / BIG).read_bytes() == notebook_bytes(outputs=20, chars=300_000)


async def test_a_link_out_of_the_root_is_refused(documents: JupyterDocuments, root: Path) -> None:
    (root / BIG).rename(root.parent / BIG)
    (root / BIG).symlink_to(root.parent / BIG)
    with pytest.raises(PathRefused):
        await documents.read_notebook(BIG)


async def test_a_link_that_takes_the_place_of_a_checked_file_is_not_followed(
    big: BigNotebooks, root: Path
) -> None:
    place = await big.find(BIG)
    assert place is not None
    (root / BIG).rename(root.parent / BIG)
    (root / BIG).symlink_to(root.parent / BIG)
    with pytest.raises(ToolError, match="could not be read"):
        await big.read(place, {})


async def test_a_manager_that_reads_in_its_own_way_is_asked(root: Path) -> None:
    class Own(AsyncLargeFileManager):
        async def get(self, path: str, *args: Any, **kwargs: Any) -> Any:
            return await super().get(path, *args, **kwargs)

    assert await BigNotebooks(ContentsFiles(Own(root_dir=str(root)))).find(BIG) is None
    found = await JupyterDocuments(Own(root_dir=str(root))).read_notebook(BIG)
    assert found == directly((root / BIG).read_bytes())


async def test_a_big_text_file_keeps_its_bytes(documents: JupyterDocuments, root: Path) -> None:
    text = "é,1\r\n" * 500_000
    (root / "a.csv").write_bytes(text.encode())
    found = await documents.read_text("a.csv")
    assert (found.text, found.newline) == (text.replace("\r\n", "\n"), "\r\n")
    await documents.write_text("a.csv", "new\n" + found.text, base=found.revision)
    assert (root / "a.csv").read_bytes() == ("new\r\n" + text).encode()


# -- what others do at the same time -------------------------------------------------------------


async def test_a_changed_file_is_read_again(documents: JupyterDocuments, root: Path) -> None:
    await documents.read_notebook(BIG)
    (root / BIG).write_bytes(notebook_bytes(outputs=21, chars=300_000))
    assert len((await documents.read_notebook(BIG)).cells) == 21


class Meddling(FileProcess):
    """A file that somebody else writes after it was read for an edit."""

    def __init__(self, meddle: Callable[[], None]) -> None:
        super().__init__()
        self._meddle = meddle

    async def call(self, request: Request) -> list[Any]:
        answers = await super().call(request)
        if isinstance(request, EditNotebook):
            self._meddle()
        return answers


async def meddled(root: Path, meddle: Callable[[], None], edit: NotebookEdit) -> None:
    files = ContentsFiles(AsyncLargeFileManager(root_dir=str(root)))
    documents = JupyterDocuments(AsyncLargeFileManager(root_dir=str(root)), files=files)
    documents._big = BigNotebooks(files, Meddling(meddle))
    try:
        await documents.edit_notebook(BIG, [edit])
    finally:
        await documents.close()


async def test_a_save_by_the_user_in_the_middle_of_an_edit_is_merged(root: Path) -> None:
    path = root / BIG
    users = path.read_bytes().replace(b'"train(7)"', b'"theirs()"')

    def save() -> None:
        path.write_bytes(users)

    await meddled(root, save, ReplaceSource("c4", revision_of("code\ntrain(4)"), "mine"))
    cells = directly(path.read_bytes()).cells
    assert (cells[4].source, cells[7].source) == ("mine", "theirs()")


async def test_a_file_that_never_rests_is_left_alone(root: Path) -> None:
    path = root / BIG

    def save() -> None:
        path.write_bytes(path.read_bytes() + b" ")

    with pytest.raises(EditConflict, match="nothing was written"):
        await meddled(root, save, ReplaceSource("c4", revision_of("code\ntrain(4)"), "mine"))
    assert b"mine" not in path.read_bytes()


async def test_a_disk_that_is_full_half_way_leaves_the_old_file(root: Path) -> None:
    class Full(AsyncLargeFileManager):
        left = 1

        async def _save_large_file(self, *args: Any) -> None:
            if Full.left > 0:
                Full.left -= 1
                raise OSError(errno.ENOSPC, "no space")
            await super()._save_large_file(*args)

    before = (root / BIG).read_bytes()
    documents = JupyterDocuments(Full(root_dir=str(root)), SaveJournal(root.parent / "saves"))
    edit = ReplaceSource("c4", revision_of("code\ntrain(4)"), "mine")
    with pytest.raises(WriteFailed, match=r"no space left.*Nothing was changed"):
        await documents.edit_notebook(BIG, [edit])
    assert (root / BIG).read_bytes() == before
    await documents.edit_notebook(BIG, [edit])
    assert directly((root / BIG).read_bytes()).cells[4].source == "mine"
    await documents.close()


# -- the server goes on --------------------------------------------------------------------------


async def test_others_are_served_while_a_big_notebook_is_read(
    big: BigNotebooks, process: FileProcess, root: Path
) -> None:
    """The reader is stopped here: whatever it does, the server's own process must not wait."""
    reading = await stopped_in_a_read(big, process)
    small = JupyterDocuments(AsyncLargeFileManager(root_dir=str(root)))
    assert len((await small.read_notebook(SMALL)).cells) == 2
    assert not reading.done()
    assert process.pid is not None
    os.kill(process.pid, signal.SIGCONT)
    assert await reading == directly((root / BIG).read_bytes())


async def test_reading_takes_little_of_the_servers_own_time(root: Path, big: BigNotebooks) -> None:
    """Processor time, also of threads: it is what the loop cannot have, on any machine."""
    (root / BIG).write_bytes(notebook_bytes(outputs=40, chars=700_000))
    content = (root / BIG).read_bytes()
    start = time.process_time()
    expected = directly(content)
    by_hand = time.process_time() - start
    await read(big)  # starts the process
    settle(root / BIG)
    start = time.process_time()
    assert await read(big) == expected
    assert time.process_time() - start < by_hand / 3


# -- the process ---------------------------------------------------------------------------------


async def test_a_reader_that_dies_is_told_and_replaced(
    big: BigNotebooks, process: FileProcess, root: Path
) -> None:
    reading = await stopped_in_a_read(big, process)
    before = process.pid
    assert before is not None
    os.kill(before, signal.SIGKILL)
    with pytest.raises(ToolError, match="ended by SIGKILL") as caught:
        await reading
    assert caught.value.code == "read_failed"
    assert await read(big) == directly((root / BIG).read_bytes())
    assert process.pid not in (None, before)


async def test_a_reader_that_talks_nonsense_is_ended_and_replaced(
    big: BigNotebooks, process: FileProcess, root: Path
) -> None:
    stranger = process._child = saying_nonsense()
    with pytest.raises(ToolError, match="reads big files wrote a frame") as caught:
        await read(big)
    assert caught.value.code == "read_failed" and not is_alive(stranger.pid)
    assert await read(big) == directly((root / BIG).read_bytes())


async def test_a_cancelled_read_leaves_nothing_behind(
    big: BigNotebooks, process: FileProcess, root: Path
) -> None:
    reading = await stopped_in_a_read(big, process)
    waiting = asyncio.ensure_future(read(big))
    before = process.pid
    assert before is not None
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert not is_alive(before)
    assert await waiting == directly((root / BIG).read_bytes())


async def test_an_idle_reader_ends_and_comes_back(root: Path) -> None:
    process = FileProcess(idle_s=0.01)
    big = BigNotebooks(ContentsFiles(AsyncLargeFileManager(root_dir=str(root))), process)
    await read(big)
    await until(lambda: process.pid is None)
    assert len((await read(big)).cells) == 20
    await process.close()


async def test_closing_ends_the_reader(big: BigNotebooks, process: FileProcess) -> None:
    await read(big)
    pid = process.pid
    assert pid is not None
    await big.close()
    assert not is_alive(pid) and process.pid is None


SERVER = """
import asyncio, os, sys
from vitto_jupyter.workspace.base import Notebook
from vitto_jupyter.workspace.documents.big_work import Place, ReadNotebook
from vitto_jupyter.workspace.documents.file_process import FileProcess

async def main():
    process = FileProcess()
    await process.call(ReadNotebook(Place(sys.argv[1], "big.ipynb"), {}))
    print(process.pid, flush=True)
    os._exit(1)

asyncio.run(main())
"""


async def test_the_reader_ends_with_its_server(root: Path) -> None:
    pid = int(await asyncio.to_thread(output_of, SERVER, str(root / BIG)))
    await until(lambda: not is_alive(pid))


def test_the_reader_imports_nothing_heavy() -> None:
    code = "import sys, vitto_jupyter.workspace.documents.file_process_main; print(*sys.modules)"
    heavy = {"jupyter_server", "tornado", "nbformat", "jsonschema", "IPython", "anthropic"}
    assert not heavy & set(output_of(code).split())


async def test_json_that_is_nested_too_deeply_is_told_and_the_reader_goes_on(
    big: BigNotebooks, process: FileProcess, root: Path
) -> None:
    await read(big)
    pid = process.pid
    content = (root / BIG).read_bytes()
    deep = b"[" * 2_000 + b"]" * 2_000
    data = b'{"output_type": "display_data", "metadata": {}, "data": {"application/json": ' + deep
    stream = content.index(b'"outputs": [') + len(b'"outputs": [')
    (root / BIG).write_bytes(content[:stream] + data + b"}}," + content[stream:])
    with pytest.raises(ToolError, match="cannot be read"):
        await read(big)
    (root / BIG).write_bytes(content)
    assert len((await read(big)).cells) == 20 and process.pid == pid
