"""A kill at any point of a save leaves the old or the new text, once the next server is up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from vitto_jupyter.workspace.documents.save_journal import SaveJournal

# One process that forks for each kill point: importing the server takes longer than all saves.
SAVES = '''
import asyncio, builtins, os, signal, sys
from pathlib import Path
from jupyter_server.services.contents import fileio
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from vitto_jupyter.workspace.base import revision_of
from vitto_jupyter.workspace.documents.jupyter_documents import JupyterDocuments
from vitto_jupyter.workspace.documents.save_journal import SaveJournal

base = Path(sys.argv[1])
OLD, NEW = "old\\n" * 50_000, "new text\\n" * 50_000


def die():
    os.kill(os.getpid(), signal.SIGKILL)


class Dying:
    """A file that is killed after a part of a write."""

    def __init__(self, file, share):
        self.file, self.share = file, share

    def __getattr__(self, name):
        return getattr(self.file, name)

    def write(self, content):
        self.file.write(content[: int(len(content) * self.share)])
        self.file.flush()
        die()


def before(name, count=1):
    """Die before the count-th call of os.<name>."""
    real, calls = getattr(os, name), []

    def dying(*args, **kwargs):
        calls.append(args)
        if len(calls) == count:
            die()
        return real(*args, **kwargs)

    setattr(os, name, dying)


def in_write(share):
    real = builtins.open

    def opening(path, mode="r", *args, **kwargs):
        is_save = mode == "wb" and str(path).endswith("a.txt")
        if is_save and share is None:
            die()
        file = real(path, mode, *args, **kwargs)
        return Dying(file, share) if is_save else file

    fileio.open = opening


POINTS = {
    "journal opened": lambda: before("pwrite"),
    "journal written": lambda: before("replace"),
    "copied aside": lambda: in_write(None),
    "truncated": lambda: in_write(0.0),
    "half written": lambda: in_write(0.5),
    "written": lambda: in_write(1.0),
    "synced": lambda: before("remove"),
    "done": lambda: setattr(SaveJournal, "end", lambda *a: die()),
}


async def save(root, journal, created):
    documents = JupyterDocuments(AsyncLargeFileManager(root_dir=str(root)), journal)
    base = None if created else revision_of(OLD)
    await documents.write_text("a.txt", NEW, base=base)


for number, (name, arrange) in enumerate(POINTS.items()):
    for created in (False, True):
        place = base / f"{number}-{'new' if created else 'old'}"
        root = place / "root"
        root.mkdir(parents=True)
        if not created:
            (root / "a.txt").write_text(OLD)
        child = os.fork()
        if child == 0:
            arrange()
            asyncio.run(save(root, SaveJournal(place / "saves"), created))
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        print(name, created, os.WIFSIGNALED(status), flush=True)
'''


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("killed")
    done = subprocess.run(
        [sys.executable, "-c", SAVES, str(base)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    # without a file before there is no copy of it to remove
    not_killed = [line for line in lines if line.endswith("False")]
    assert not_killed == ["synced True False"], done.stdout
    return base


def test_a_killed_save_leaves_the_old_or_the_new_text(killed: Path) -> None:
    old, new = b"old\n" * 50_000, b"new text\n" * 50_000
    cut = []
    for place in sorted(killed.iterdir()):
        target = place / "root" / "a.txt"
        before = target.read_bytes() if target.exists() else None
        SaveJournal(place / "saves").recover()
        after = target.read_bytes() if target.exists() else None
        whole = (old, new) if place.name.endswith("old") else (None, new)
        assert after in whole, place.name
        cut += [place.name] if before not in whole else []
        assert sorted(p.name for p in (place / "root").iterdir()) == (["a.txt"] if after else [])
        assert list((place / "saves").iterdir()) == []
    assert len(cut) >= 4  # without the journal these would be lost


def test_what_the_user_wrote_after_the_kill_stays(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("new te")
    journal = SaveJournal(tmp_path / "saves")
    entry = journal.begin(str(target), b"new text")
    assert entry is not None
    os.close(entry.descriptor)  # as after a kill
    target.write_text("mine")
    journal.recover()
    assert target.read_text() == "mine"
    assert list((tmp_path / "saves").iterdir()) == []


def test_a_save_that_is_under_way_elsewhere_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("new te")
    journal = SaveJournal(tmp_path / "saves")
    entry = journal.begin(str(target), b"new text")
    SaveJournal(tmp_path / "saves").recover()
    assert entry is not None and entry.path.exists()
    assert target.read_text() == "new te"
    journal.end(entry)
    assert list((tmp_path / "saves").iterdir()) == []


def test_a_link_in_the_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("")
    target = tmp_path / "a.txt"
    journal = SaveJournal(tmp_path / "saves")
    entry = journal.begin(str(target), b"new text")
    assert entry is not None
    os.close(entry.descriptor)
    target.symlink_to(victim)
    journal.recover()
    assert victim.read_text() == ""


def test_saving_goes_on_where_it_cannot_be_noted(tmp_path: Path) -> None:
    (tmp_path / "saves").write_text("a file is in the way")
    assert SaveJournal(tmp_path / "saves").begin("a.txt", b"x") is None
    SaveJournal(tmp_path / "saves").recover()
