"""Saves under way, so that a kill in the middle of one can be mended. Blocking; used by
jupyter_files and the composition root.

jupyter_server writes files in place: a process that is killed meanwhile leaves a cut one, and
only notebooks are repaired. So the new bytes are here first, until the save has ended.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: one server per home is taken for granted there
    fcntl = None  # type: ignore[assignment]

log = logging.getLogger(__name__)
SUFFIX = ".save"


@dataclass(frozen=True, slots=True)
class Entry:
    """A save under way. The descriptor holds a lock that ends with the process."""

    path: Path
    descriptor: int


class SaveJournal:
    """One folder, shared by all servers of a user."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def begin(self, os_path: str, *pieces: bytes) -> Entry | None:
        """Note what is about to be written, whole or in pieces.

        None when that cannot be noted: it is a precaution.
        """
        path = self._folder / f"{secrets.token_hex(8)}{SUFFIX}"
        temporary = path.with_suffix(".tmp")
        head = json.dumps({"path": os_path}).encode() + b"\n"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as err:
            log.warning("a save could not be noted: %s", err.strerror)
            return None
        try:
            _lock(descriptor)
            _write(descriptor, head, *pieces)
            os.replace(temporary, path)
        except OSError as err:
            log.warning("a save could not be noted: %s", err.strerror)
            self.end(Entry(temporary, descriptor))
            return None
        return Entry(path, descriptor)

    def end(self, entry: Entry) -> None:
        """The save has ended, well or not: whoever asked for it knows."""
        entry.path.unlink(missing_ok=True)
        os.close(entry.descriptor)

    def recover(self) -> None:
        """Finish the saves of processes that are gone, and forget them."""
        for path in sorted(self._folder.glob("*.*")):
            with suppress(OSError):
                self._recover(path)

    def _recover(self, path: Path) -> None:
        descriptor = os.open(path, os.O_RDWR)
        try:
            if not _lock(descriptor):
                return
            if path.suffix == SUFFIX:
                head, _, content = path.read_bytes().partition(b"\n")
                with suppress(OSError, ValueError):
                    _mend(json.loads(head)["path"], content)
            path.unlink(missing_ok=True)
        finally:
            os.close(descriptor)


def _mend(os_path: str, content: bytes) -> None:
    """Write `content` where only its beginning is; anything else is an old or a newer text."""
    descriptor = os.open(os_path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return
        now = os.pread(descriptor, found.st_size, 0)
        if now != content and content.startswith(now):
            _write(descriptor, content)
            log.warning("%s was cut by a kill in the middle of a save; it is whole again", os_path)
    finally:
        os.close(descriptor)
    # the old text, put aside by jupyter_server for the time of the save
    folder, name = os.path.split(os_path)
    Path(folder, f".~{name}").unlink(missing_ok=True)


def _write(descriptor: int, *pieces: bytes) -> None:
    at = 0
    for piece in pieces:
        view = memoryview(piece)
        while view:
            written = os.pwrite(descriptor, view, at)
            view, at = view[written:], at + written
    os.fsync(descriptor)


def _lock(descriptor: int) -> bool:
    """False when another process has it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True
