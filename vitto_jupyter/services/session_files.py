"""Files of a session on disk: private folders, whole-file writes, appends, the owner's lock.

Blocking calls only; the services run them in threads. Imported by trails, conversations and
sessions.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
import time
from pathlib import Path

from ..errors import Conflict, StorageFailed

try:
    import fcntl
except ImportError:  # Windows has no flock; there one server per home is taken for granted
    fcntl = None  # type: ignore[assignment]

log = logging.getLogger(__name__)
LOCK_FILE = "owner.lock"


class SessionInUse(Conflict):
    """Another server works on this session now."""

    code = "session_in_use"
    hint = "Use that server, or wait half a minute after its turn has ended and its page closed."


def make_private_folder(folder: Path) -> None:
    """Create `folder` and its parents; the folder itself only for its owner (0700).

    Raises:
        StorageFailed
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as err:
        raise StorageFailed(f"Could not create {folder.name}: {err.strerror}.") from err


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file: a reader, or a crash at any point, finds the old or the new bytes.

    Raises:
        StorageFailed: nothing was changed.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as err:
        temporary.unlink(missing_ok=True)
        raise StorageFailed(f"Could not write {path.name}: {err.strerror}.") from err


def append_bytes(path: Path, content: bytes, *, size: int, sync: bool = False) -> None:
    """Append to a file that holds `size` good bytes; after a failure it holds them again.

    Raises:
        StorageFailed: nothing was added.
    """
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb", buffering=0) as file:
            file.seek(size)
            try:
                _write_all(file.fileno(), content)
                if sync:
                    os.fsync(file.fileno())
            except OSError:
                file.truncate(size)
                raise
    except OSError as err:
        raise StorageFailed(f"Could not write {path.name}: {err.strerror}.") from err


def _write_all(descriptor: int, content: bytes) -> None:
    """A full disk takes a part first and only then refuses."""
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def put_aside(path: Path, damaged: bytes) -> Path:
    """Keep damaged bytes beside the file they came from; nothing is ever thrown away."""
    aside = path.with_name(f"{path.name}.damaged-{time.time_ns()}")
    write_whole(aside, damaged)
    log.warning("%s was damaged; %d bytes were put aside in %s", path, len(damaged), aside.name)
    return aside


class OwnerLock:
    """One server at a time works on a session; the lock ends with its process."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK_FILE
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Take the lock.

        Raises:
            SessionInUse: another server, or another manager here, has it.
            StorageFailed: the lock file cannot be written.
        """
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as err:
            raise StorageFailed(f"Could not open {LOCK_FILE}: {err.strerror}.") from err
        try:
            _lock(descriptor)
        except BlockingIOError as err:
            owner = os.read(descriptor, 200).decode("utf-8", "replace").strip()
            os.close(descriptor)
            raise SessionInUse(
                f"Another Jupyter server works on this session ({owner or 'unknown'})."
            ) from err
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())
        self._descriptor = descriptor

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _lock(descriptor: int) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError as err:
        # some network file systems have no locks: going on beats refusing to work there
        log.warning("This file system has no locks (%s); use one server per home", err.strerror)
