"""Documents over jupyter_server's own contents managers, on a real disk."""

from __future__ import annotations

import asyncio
import errno
import json
import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_core.utils import ensure_async
from jupyter_server.services.contents.largefilemanager import (
    AsyncLargeFileManager,
    LargeFileManager,
)
from tornado.web import HTTPError

from vitto_jupyter.errors import (
    DocumentNotFound,
    EditConflict,
    NotText,
    PathRefused,
    ToolError,
    WriteFailed,
)
from vitto_jupyter.workspace.base import (
    AddOutput,
    BeginRun,
    DeleteCell,
    EndRun,
    InsertCells,
    NewCell,
    ReplaceSource,
    SetOutput,
    revision_of,
)
from vitto_jupyter.workspace.documents.jupyter_documents import JupyterDocuments

KERNELSPEC = {"name": "k", "display_name": "K"}
STREAM = {"output_type": "stream", "name": "stdout", "text": "hi\n"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    return root


@pytest.fixture(params=[LargeFileManager, AsyncLargeFileManager], ids=["sync", "async"])
def manager(request: pytest.FixtureRequest, root: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(root.parent / "data"))  # holds the signatures
    return request.param(root_dir=str(root))


@pytest.fixture
def documents(manager: Any) -> JupyterDocuments:
    return JupyterDocuments(manager)


def write_notebook(path: Path, *cells: Any, **metadata: Any) -> None:
    nbformat.write(nbformat.v4.new_notebook(cells=list(cells), metadata=metadata), path)


def code(source: str, cell_id: str) -> Any:
    return nbformat.v4.new_code_cell(source, id=cell_id)


# -- text ----------------------------------------------------------------------------------------


async def test_a_file_keeps_its_bytes_outside_the_edit(
    documents: JupyterDocuments, root: Path
) -> None:
    (root / "a.py").write_bytes(b"\xef\xbb\xbfone\r\ntwo\nthree\r\n")
    (root / "a.py").chmod(0o754)
    found = await documents.read_text("a.py")
    assert (found.text, found.newline, found.encoding) == ("one\ntwo\nthree\n", "\r\n", "utf-8-sig")
    written = await documents.write_text(
        "a.py", found.text.replace("two", "2"), base=found.revision
    )
    assert (root / "a.py").read_bytes() == b"\xef\xbb\xbfone\r\n2\nthree\r\n"
    assert (root / "a.py").stat().st_mode & 0o777 == 0o754
    assert written == await documents.read_text("a.py")
    assert written.revision == revision_of("one\n2\nthree\n")


async def test_a_new_file_is_utf_8_in_a_folder_that_exists(
    documents: JupyterDocuments, root: Path
) -> None:
    (root / "src").mkdir()
    await documents.write_text("src/a.py", "é\r\n", base=None)
    assert (root / "src/a.py").read_bytes() == "é\n".encode()
    with pytest.raises(DocumentNotFound):
        await documents.write_text("no/a.py", "", base=None)
    assert not (root / "no").exists()


async def test_a_stale_edit_writes_nothing_and_says_what_is_there(
    documents: JupyterDocuments, root: Path
) -> None:
    (root / "a.txt").write_text("read\n")
    found = await documents.read_text("a.txt")
    times = (root / "a.txt").stat()
    (root / "a.txt").write_text("rEad\n")  # same size; the time is put back too
    os.utime(root / "a.txt", ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(EditConflict, match="rEad"):
        await documents.write_text("a.txt", "mine", base=found.revision)
    assert (root / "a.txt").read_text() == "rEad\n"


async def test_a_touched_file_is_not_a_changed_one(documents: JupyterDocuments, root: Path) -> None:
    (root / "a.txt").write_text("a")
    found = await documents.read_text("a.txt")
    os.utime(root / "a.txt", (1, 1))
    assert (await documents.write_text("a.txt", "b", base=found.revision)).text == "b"


async def test_of_two_writes_on_one_base_one_wins(documents: JupyterDocuments, root: Path) -> None:
    (root / "a.txt").write_text("a")
    (root / "b.txt").symlink_to("a.txt")
    base = revision_of("a")
    results = await asyncio.gather(
        documents.write_text("a.txt", "1", base=base),
        documents.write_text("b.txt", "2", base=base),
        return_exceptions=True,
    )
    assert sorted(type(result).__name__ for result in results) == ["EditConflict", "TextDocument"]


async def test_creating_over_something_is_refused(documents: JupyterDocuments, root: Path) -> None:
    (root / "a.txt").write_text("theirs")
    (root / "folder").mkdir()
    for path in ("a.txt", "folder"):
        with pytest.raises(EditConflict):
            await documents.write_text(path, "mine", base=None)
    assert (root / "a.txt").read_text() == "theirs"


async def test_what_is_no_text_file_is_named(documents: JupyterDocuments, root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "folder").mkdir()
    (root / "image.png").write_bytes(b"\x89PNG\x00")
    write_notebook(root / "n.ipynb")
    with_words = {"pipe": "FIFO", "folder": "folder", "image.png": "binary", "n.ipynb": "notebook"}
    for path, words in with_words.items():
        async with asyncio.timeout(2):
            with pytest.raises(NotText, match=words):
                await documents.read_text(path)
    with pytest.raises(NotText):
        await documents.write_text("n.ipynb", "{}", base=None)
    with pytest.raises(DocumentNotFound):
        await documents.read_text("missing.txt")
    with pytest.raises(NotText):
        await documents.entries("image.png")


async def test_a_device_is_not_read(documents: JupyterDocuments, root: Path) -> None:
    (root / "dev").symlink_to("/dev/zero")
    async with asyncio.timeout(2):
        with pytest.raises(ToolError):
            await documents.read_text("dev")


# -- paths ---------------------------------------------------------------------------------------


@pytest.fixture
def outside(root: Path) -> Path:
    """A folder beside the root, and links in the root that lead there."""
    outside = root.parent / "root-secrets"
    outside.mkdir()
    (outside / "key").write_text("secret")
    (root / "link.txt").symlink_to(outside / "key")
    (root / "out").symlink_to(outside)
    (root / "later.txt").symlink_to(outside / "new.txt")
    (root / "circle").symlink_to("circle")
    return outside


@pytest.mark.parametrize(
    "path", ["link.txt", "out/key", "later.txt", "../root-secrets/key", "a\0b", "circle", "out/no"]
)
async def test_reading_outside_the_root_is_refused(
    documents: JupyterDocuments, outside: Path, path: str
) -> None:
    with pytest.raises(PathRefused) as caught:
        await documents.read_text(path)
    assert "secret" not in caught.value.message.replace("root-secrets", "")


@pytest.mark.parametrize("path", ["out/new.txt", "later.txt", "out/no/new.txt"])
async def test_writing_outside_the_root_is_refused(
    documents: JupyterDocuments, outside: Path, path: str
) -> None:
    with pytest.raises(PathRefused):
        await documents.write_text(path, "x", base=None)
    assert os.listdir(outside) == ["key"]


async def test_a_folder_that_became_a_link_is_noticed_at_the_write(
    documents: JupyterDocuments, root: Path, outside: Path
) -> None:
    (root / "sub").mkdir()
    (root / "sub/key").write_text("secret")
    found = await documents.read_text("sub/key")
    (root / "sub").rename(root / "old")
    (root / "sub").symlink_to(outside)
    with pytest.raises(PathRefused):
        await documents.write_text("sub/key", "x", base=found.revision)
    assert (outside / "key").read_text() == "secret"


async def test_encoded_dots_are_an_ordinary_name(documents: JupyterDocuments) -> None:
    with pytest.raises(DocumentNotFound):
        await documents.read_text("%2e%2e/%2e%2e/etc/passwd")


async def test_hidden_files_follow_the_policy_of_the_server(
    manager: Any, documents: JupyterDocuments, root: Path
) -> None:
    (root / ".env").write_text("A=1")
    (root / ".git").mkdir()
    (root / ".git/config").write_text("[core]")
    (root / "config").symlink_to(".git/config")
    for path in (".env", ".git/config", "config"):
        with pytest.raises(PathRefused, match="hidden"):
            await documents.read_text(path)
    with pytest.raises(PathRefused):
        await documents.write_text(".bashrc", "x", base=None)
    assert not (root / ".bashrc").exists()
    manager.allow_hidden = True
    assert (await documents.read_text(".env")).text == "A=1"
    # A visible name must not pass rules that protect the hidden one.
    with pytest.raises(PathRefused):
        await documents.read_text("config")


async def test_the_file_system_root_can_be_the_contents_root(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    documents = JupyterDocuments(AsyncLargeFileManager(root_dir="/"))
    assert (await documents.read_text(str(tmp_path / "a.txt").lstrip("/"))).text == "a"


async def test_entries_are_sorted_and_a_walk_over_them_ends(
    documents: JupyterDocuments, root: Path, outside: Path
) -> None:
    (root / "b").mkdir()
    (root / "b/up").symlink_to("..")
    (root / "b/x.py").write_text("x")
    (root / ".hidden").write_text("")
    (root / "same.py").symlink_to("b/x.py")
    os.mkfifo(root / "pipe")
    write_notebook(root / "a.ipynb")
    found = await documents.entries("")
    kinds = [(entry.path, entry.type) for entry in found]
    assert kinds == [("a.ipynb", "notebook"), ("b", "directory"), ("same.py", "file")]
    assert [entry.path for entry in await documents.entries("b")] == ["b/x.py"]
    assert (await documents.entry("b/x.py")).size == 1
    assert (await documents.entry("b")).type == "directory"


# -- faults --------------------------------------------------------------------------------------


class FaultyManager(AsyncLargeFileManager):
    """A manager whose next save runs into `fault` after writing `written` bytes."""

    fault: BaseException | None = None
    written: int = 0

    async def _save_file(self, os_path: str, content: Any, format: Any) -> None:
        if self.fault is None:
            return await super()._save_file(os_path, content, format)
        with self.atomic_writing(os_path, text=False) as file:
            file.write(b"x" * self.written)
            file.flush()
            raise self.fault


async def test_a_full_disk_leaves_the_old_text_and_says_so(root: Path) -> None:
    manager = FaultyManager(root_dir=str(root))
    documents = JupyterDocuments(manager)
    (root / "a.txt").write_text("old")
    manager.fault, manager.written = OSError(errno.ENOSPC, "No space", str(root / "a.txt")), 4096
    with pytest.raises(
        WriteFailed, match=r"no space left on device\. Nothing was changed"
    ) as caught:
        await documents.write_text("a.txt", "new", base=revision_of("old"))
    assert str(root) not in caught.value.message
    assert sorted(os.listdir(root)) == ["a.txt"]
    assert (root / "a.txt").read_text() == "old"


async def test_missing_permission_is_said_plainly(root: Path) -> None:
    manager = FaultyManager(root_dir=str(root))
    documents = JupyterDocuments(manager)
    (root / "a.txt").write_text("old")
    manager.fault = PermissionError(errno.EACCES, "Permission denied")
    with pytest.raises(WriteFailed, match=r"permission denied\. Nothing was changed"):
        await documents.write_text("a.txt", "new", base=revision_of("old"))


async def test_a_half_written_new_file_is_not_hidden(root: Path) -> None:
    manager = FaultyManager(root_dir=str(root))
    documents = JupyterDocuments(manager)
    manager.fault, manager.written = OSError(errno.ENOSPC, "No space"), 10
    with pytest.raises(WriteFailed, match="incomplete file of 10 bytes"):
        await documents.write_text("new.txt", "text", base=None)


async def test_success_is_told_by_the_disk_and_not_by_the_manager(root: Path) -> None:
    """A post-save hook that fails does not make a right file wrong, and a lie is noticed."""
    manager = FaultyManager(root_dir=str(root))
    documents = JupyterDocuments(manager)

    def broken_hook(**kwargs: Any) -> None:
        raise RuntimeError("hook")

    manager.post_save_hook = broken_hook
    assert (await documents.write_text("a.txt", "a", base=None)).text == "a"

    class LyingManager(AsyncLargeFileManager):
        async def save(self, model: Any, path: str = "") -> Any:
            return await self.get("a.txt", content=False)

    with pytest.raises(WriteFailed, match="Nothing was changed"):
        await JupyterDocuments(LyingManager(root_dir=str(root))).write_text(
            "a.txt", "b", base=revision_of("a")
        )


async def test_a_save_hook_that_refuses_is_quoted(manager: Any, root: Path) -> None:
    def refuse(**kwargs: Any) -> None:
        raise HTTPError(403, "quota reached")

    manager.register_pre_save_hook(refuse)
    with pytest.raises(WriteFailed, match=r"quota reached|permission denied"):
        await JupyterDocuments(manager).write_text("a.txt", "b", base=None)


async def test_stopping_in_the_middle_of_a_write_leaves_all_of_it(root: Path) -> None:
    class SlowManager(AsyncLargeFileManager):
        async def _save_file(self, *args: Any) -> None:
            saving.set()
            await go_on.wait()
            await super()._save_file(*args)

    saving, go_on = asyncio.Event(), asyncio.Event()
    documents = JupyterDocuments(SlowManager(root_dir=str(root)))
    task = asyncio.create_task(documents.write_text("a.txt", "whole", base=None))
    await saving.wait()
    task.cancel()
    await asyncio.sleep(0)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (root / "a.txt").read_text() == "whole"


# -- notebooks -----------------------------------------------------------------------------------


async def test_an_edit_of_a_notebook_changes_only_its_cell(
    documents: JupyterDocuments, root: Path
) -> None:
    write_notebook(root / "n.ipynb", code("a", "a"), code("b", "b"), kernelspec=KERNELSPEC)
    before = (root / "n.ipynb").read_text()
    found = await documents.read_notebook("n.ipynb")
    assert (found.kernel_name, found.held) == ("k", False)
    edit = ReplaceSource("b", found.cells[1].revision, "c")
    await documents.edit_notebook("n.ipynb", [edit])
    assert (root / "n.ipynb").read_text() == before.replace('"b"\n', '"c"\n')
    with pytest.raises(EditConflict):
        await documents.edit_notebook("n.ipynb", [edit])


async def test_a_new_notebook_is_valid_and_can_be_filled(
    manager: Any, documents: JupyterDocuments
) -> None:
    made = await documents.create_notebook("n.ipynb", kernel_name="python3", language="python")
    assert (made.cells, made.kernel_name, made.language) == ((), "python3", "python")
    cells = (NewCell("markdown", "# T", "t"), NewCell("code", "1", "c"))
    await documents.edit_notebook("n.ipynb", [InsertCells("end", cells)])
    model = await ensure_async(manager.get("n.ipynb"))
    nbformat.validate(model["content"])
    assert "message" not in model
    with pytest.raises(EditConflict):
        await documents.create_notebook("n.ipynb", kernel_name="", language="")


async def test_a_run_is_written_at_its_end_onto_what_the_user_saved_meanwhile(
    documents: JupyterDocuments, root: Path
) -> None:
    path = root / "n.ipynb"
    write_notebook(path, code("a", "a"), code("b", "b"))
    before = path.read_bytes()
    await documents.edit_notebook("n.ipynb", [BeginRun("a")])
    await documents.edit_notebook("n.ipynb", [AddOutput("a", STREAM)])
    assert path.read_bytes() == before
    write_notebook(path, code("b2", "b"), code("a2", "a"), code("c", "c"))
    await documents.edit_notebook("n.ipynb", [EndRun("a", 5, {"k": "t"})])
    found = await documents.read_notebook("n.ipynb")
    ran = found.cell("a")
    assert [cell.source for cell in found.cells] == ["b2", "a2", "c"]
    assert ran is not None
    assert (ran.outputs, ran.execution_count) == ((STREAM,), 5)
    assert json.loads(path.read_text())["cells"][1]["metadata"] == {"execution": {"k": "t"}}
    await documents.edit_notebook("n.ipynb", [SetOutput("a", 0, STREAM | {"text": "late"})])
    late = (await documents.read_notebook("n.ipynb")).cell("a")
    assert late is not None
    assert (late.outputs[0]["text"], late.execution_count) == ("late", 5)


async def test_a_conflict_leaves_runs_of_the_same_call_alone(
    documents: JupyterDocuments, root: Path
) -> None:
    write_notebook(root / "n.ipynb", code("a", "a"))
    await documents.edit_notebook("n.ipynb", [BeginRun("a"), AddOutput("a", STREAM)])
    with pytest.raises(EditConflict):
        await documents.edit_notebook(
            "n.ipynb", [AddOutput("a", STREAM), DeleteCell("a", revision_of("other"))]
        )
    await documents.edit_notebook("n.ipynb", [EndRun("a", 1)])
    cell = (await documents.read_notebook("n.ipynb")).cells[0]
    assert cell.outputs == (STREAM,)


async def test_outputs_that_the_agent_wrote_are_never_trusted(
    manager: Any, documents: JupyterDocuments, root: Path
) -> None:
    """The user trusts the notebook; then the agent's run puts a script into it."""
    write_notebook(root / "n.ipynb", code("a", "a"))
    await ensure_async(manager.trust_notebook("n.ipynb"))
    script = {"output_type": "display_data", "data": {"text/html": "<script/>"}, "metadata": {}}
    await documents.edit_notebook(
        "n.ipynb", [BeginRun("a"), AddOutput("a", script), EndRun("a", 1)]
    )
    model = await ensure_async(manager.get("n.ipynb"))
    assert model["content"]["cells"][0]["metadata"]["trusted"] is False
    assert "trusted" not in (root / "n.ipynb").read_text()


async def test_a_damaged_notebook_stays_as_it_is(documents: JupyterDocuments, root: Path) -> None:
    (root / "n.ipynb").write_text('{"cells": [')
    for act in (
        documents.read_notebook("n.ipynb"),
        documents.edit_notebook("n.ipynb", [InsertCells("end", ())]),
        documents.edit_notebook("n.ipynb", [BeginRun("a"), EndRun("a", 1)]),
    ):
        with pytest.raises(ToolError, match="not valid JSON"):
            await act
    assert (root / "n.ipynb").read_text() == '{"cells": ['


async def test_an_invalid_result_is_not_written_and_an_invalid_notebook_is_read_only(
    documents: JupyterDocuments, root: Path
) -> None:
    write_notebook(root / "n.ipynb", code("a", "a"))
    before = (root / "n.ipynb").read_bytes()
    bad = {"output_type": "unheard_of"}
    with pytest.raises(WriteFailed, match="breaks the rules"):
        await documents.edit_notebook(
            "n.ipynb", [BeginRun("a"), AddOutput("a", bad), EndRun("a", 1)]
        )
    assert (root / "n.ipynb").read_bytes() == before
    invalid = before.replace(b'"outputs": []', b'"outputs": {}')
    (root / "n.ipynb").write_bytes(invalid)
    assert "outputs is not a list" in (await documents.read_notebook("n.ipynb")).read_only
    with pytest.raises(ToolError, match="outputs is not a list") as refused:
        edit = ReplaceSource("a", revision_of("code\na"), "b")
        await documents.edit_notebook("n.ipynb", [edit])
    assert refused.value.code == "read_only"
    assert (root / "n.ipynb").read_bytes() == invalid


async def test_a_notebook_without_cell_ids_keeps_its_format(
    documents: JupyterDocuments, root: Path
) -> None:
    notebook = nbformat.v4.new_notebook(cells=[code("a", "x")])
    notebook.nbformat_minor = 4
    del notebook.cells[0]["id"]
    (root / "n.ipynb").write_text(json.dumps(notebook, indent=1))
    cell = (await documents.read_notebook("n.ipynb")).cells[0]
    await documents.edit_notebook("n.ipynb", [ReplaceSource(cell.cell_id, cell.revision, "b")])
    # Edit and run is one tool call: the id must mean the cell after the edit too.
    run = [BeginRun(cell.cell_id), AddOutput(cell.cell_id, STREAM), EndRun(cell.cell_id, 1)]
    await documents.edit_notebook("n.ipynb", run)
    again = (await documents.read_notebook("n.ipynb")).cell(cell.cell_id)
    assert again is not None
    assert (again.source, again.outputs) == ("b", (STREAM,))
    stored = json.loads((root / "n.ipynb").read_text())
    assert (stored["nbformat_minor"], "id" in stored["cells"][0]) == (4, False)
