"""Exact bytes of files through a Jupyter contents manager. Used by jupyter_documents only.

Works with sync and async managers. Calls of a sync manager run in the event loop: it emits
events, and jupyter_events makes tasks in the running loop, so a worker thread would fail.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import os
import stat
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any
from weakref import WeakValueDictionary

from jupyter_core.utils import ensure_async
from jupyter_server.services.contents.fileio import FileManagerMixin
from jupyter_server.services.contents.largefilemanager import (
    AsyncLargeFileManager,
    LargeFileManager,
)
from jupyter_server.services.contents.manager import ContentsManager
from tornado.web import HTTPError

from ...errors import DocumentNotFound, EditConflict, NotText, PathRefused, ToolError, WriteFailed
from ..base import Entry
from ..paths import api_path, parent_of, shown
from .big_work import Place, content_of
from .save_journal import SaveJournal

LIMIT_BYTES = 200 * 1024 * 1024
BIG_BYTES = 2_000_000  # from here on a file is not decoded in this process
_KINDS = (
    (stat.S_ISFIFO, "a pipe (FIFO)"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
FAULTS = (HTTPError, OSError, ValueError)  # what contents managers raise
_log = logging.getLogger(__name__)


class Overtaken(EditConflict):
    """Somebody changed the file between reading and writing; nothing was written."""


class ContentsFiles:
    """Reads and writes whole files; every write is compared before and read back after."""

    def __init__(self, manager: ContentsManager, journal: SaveJournal | None = None) -> None:
        self._manager = manager
        self._journal = journal
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, path: str) -> asyncio.Lock:
        """The lock of the file; two names of one file have the same."""
        key = self._real_path(api_path(path))
        lock = self._locks.get(key)
        if lock is None:
            lock = self._locks[key] = asyncio.Lock()
        return lock

    async def resolved(self, path: str) -> str:
        return self._real_path(await self._checked(path))

    async def entry(self, path: str) -> Entry:
        path = await self._checked(path)
        try:
            model = await ensure_async(self._manager.get(path, content=False))
        except FAULTS as err:
            raise read_fault(err, path) from err
        return _entry_of(model)

    async def entries(self, path: str) -> tuple[Entry, ...]:
        """The names in a folder, without hidden ones and without links that a walk would follow.

        Left out are links that lead nowhere or outside, and links to folders: what is behind
        these is listed where it really is, so that a walk meets each file once and ends.
        """
        path = await self._checked(path)
        try:
            model = await ensure_async(self._manager.get(path, type="directory", content=True))
        except FAULTS as err:
            raise read_fault(err, path) from err
        found = [_entry_of(child) for child in model["content"] or ()]
        kept = [entry for entry in found if self._is_listed(entry)]
        return tuple(sorted(kept, key=lambda entry: entry.path))

    async def read(self, path: str) -> bytes:
        """All bytes of the file.

        Raises:
            DocumentNotFound, PathRefused: there is none, or it may not be read.
            NotText: a folder, a pipe or the like; or too large.
        """
        if os_path := await self.big_file(path):
            return await _read_directly(os_path, path)
        path = await self._checked(path)
        self._refuse_special(path)
        try:
            model = await ensure_async(
                self._manager.get(path, type="file", format=self._format(), content=True)
            )
        except FAULTS as err:
            raise read_fault(err, path) from err
        if model["format"] == "text":
            return model["content"].encode("utf-8")
        return base64.b64decode(model["content"])

    async def create(self, path: str, content: bytes) -> None:
        """A new file in an existing folder.

        Raises:
            EditConflict: something is there; nothing was written.
            DocumentNotFound: there is no such folder.
            WriteFailed: with what is there now.
        """
        path = await self._checked(path)
        if await self._exists(path):
            raise EditConflict(
                f"{shown(path)} exists already; nothing was written.", hint="Read it first."
            )
        if not await self._exists(parent_of(path)):
            raise DocumentNotFound(f"There is no folder {shown(parent_of(path))}.")
        await to_the_end(self._save(path, content, before=None))

    async def replace(self, path: str, content: bytes, *, before: bytes) -> None:
        """New bytes for a file that holds `before`.

        Raises:
            WriteFailed: with what is there now.
        """
        path = await self._checked(path)
        if content != before:
            await to_the_end(self._save(path, content, before=before))

    async def big_file(self, path: str) -> str | None:
        """Where a file is that is too big to be read here, its links resolved; None for others.

        None also where another way than jupyter_server's own leads to the bytes.
        """
        path = await self._checked(path)
        self._refuse_special(path)
        if self._local_root() is None or not _is_own(self._manager, "get", "_read_file"):
            return None
        os_path = self._os_path(path)
        try:
            return os_path if os.stat(os_path).st_size >= BIG_BYTES else None
        except OSError:
            return None  # whoever reads it says what is wrong

    async def send(self, path: str, pieces: Sequence[bytes]) -> None:
        """Save a local file in pieces of UTF-8, as pages upload: large texts would block the loop.

        Raises:
            HTTPError, OSError, ValueError: what was sent before is there.
        """
        model = {"type": "file", "format": "text"}
        is_chunked = isinstance(self._manager, LargeFileManager | AsyncLargeFileManager)
        if len(pieces) < 2 or not is_chunked or not _is_own(self._manager, "save"):
            text = await asyncio.to_thread(b"".join(pieces).decode)
            await ensure_async(self._manager.save({**model, "content": text}, path))
            return
        for number, piece in enumerate(pieces, 1):
            chunk = -1 if number == len(pieces) else number
            model |= {"content": piece.decode(), "chunk": chunk}
            await ensure_async(self._manager.save(model, path))
            await asyncio.sleep(0)  # others get their turn, also with a sync manager

    # -- inside ----------------------------------------------------------------------------------

    async def _save(self, path: str, content: bytes, *, before: bytes | None) -> None:
        encoded = base64.b64encode(content).decode("ascii")
        model = {"type": "file", "format": "base64", "content": encoded}
        fault: Exception | None = None
        async with self.noted(path, content):
            try:
                await ensure_async(self._manager.save(model, path))
            except FAULTS as err:
                fault = err
        now = await self._found(path)
        if now == content:
            if fault is not None:
                _log.warning("Saving %s was reported as failed, but the file is right.", path)
            return
        reason = reason_of(fault) if fault else "the server stored something else"
        raise WriteFailed(
            f"Writing {shown(path)} failed: {reason}. {_what_is_there(now, before)}"
        ) from fault

    @asynccontextmanager
    async def noted(self, path: str, *pieces: bytes) -> AsyncIterator[None]:
        """While this is written. Only a local file can be mended after a kill."""
        if self._journal is None or self._local_root() is None:
            yield
            return
        entry = await asyncio.to_thread(self._journal.begin, self._os_path(path), *pieces)
        try:
            yield
        finally:
            if entry is not None:
                await asyncio.to_thread(self._journal.end, entry)

    async def _found(self, path: str) -> bytes | None:
        try:
            return await self.read(path)
        except ToolError:
            return None

    async def _exists(self, path: str) -> bool:
        try:
            return bool(await ensure_async(self._manager.exists(path)))
        except FAULTS as err:
            raise read_fault(err, path) from err

    async def _checked(self, path: str) -> str:
        """The path, if it stays in the root and is not hidden, its links resolved too."""
        path = api_path(path)
        for name in dict.fromkeys((path, self._real_path(path))):
            if not await self._may_use(name):
                raise PathRefused(
                    f"{shown(path)} is hidden, and this server does not serve hidden files.",
                    hint="An administrator can allow it: ContentsManager.allow_hidden.",
                )
        return path

    async def _may_use(self, path: str) -> bool:
        if getattr(self._manager, "allow_hidden", False) or not path:
            return True
        if any(part.startswith(".") for part in path.split("/")):
            return False
        try:
            return not await ensure_async(self._manager.is_hidden(path))
        except FAULTS as err:
            raise read_fault(err, path) from err

    # -- what only a local file manager has: links and special files -----------------------------

    def _local_root(self) -> str | None:
        if isinstance(self._manager, FileManagerMixin):
            return os.path.realpath(self._manager.root_dir)
        return None

    def _os_path(self, path: str) -> str:
        """Where a local file is, links resolved."""
        return os.path.join(self._local_root() or "", *self._real_path(path).split("/"))

    def _real_path(self, path: str) -> str:
        """The API path of what `path` leads to, links resolved, those that lead nowhere too.

        Raises:
            PathRefused: it leads outside, or round in a circle, or from a visible to a hidden
                name: rules that protect a name must not be passed by another one.
        """
        root = self._local_root()
        if root is None:
            return path
        os_path = os.path.join(root, *path.split("/"))
        real = os.path.realpath(os_path)
        if os.path.islink(real) or not _is_within(real, root):
            raise PathRefused(
                f"{shown(path)} is a link that leads outside the contents root, or in a circle."
            )
        relative = os.path.relpath(real, root).replace(os.sep, "/")
        relative = "" if relative == "." else relative
        if _hidden_parts(relative) - _hidden_parts(path):
            raise PathRefused(f"{shown(path)} is a link to something hidden.")
        return relative

    def _is_listed(self, entry: Entry) -> bool:
        name = entry.path.rsplit("/", 1)[-1]
        root = self._local_root()
        if name.startswith("."):
            return False
        if root is None:
            return True
        os_path = os.path.join(root, *entry.path.split("/"))
        if not os.path.islink(os_path):
            return True
        try:
            self._real_path(entry.path)
        except PathRefused:
            return False
        return os.path.isfile(os_path)

    def _format(self) -> str | None:
        """Base64 gives exact bytes; so does a local manager's UTF-8 text, ten times as fast."""
        return None if self._local_root() else "base64"

    def _refuse_special(self, path: str) -> None:
        """Opening a pipe would block, and reading a device would never end."""
        root = self._local_root()
        if root is None:
            return
        try:
            found = os.stat(os.path.join(root, *path.split("/")))
        except OSError:
            return  # the manager says what is wrong
        if stat.S_ISDIR(found.st_mode):
            raise NotText(f"{shown(path)} is a folder.", hint="List its files instead.")
        for is_kind, kind in _KINDS:
            if is_kind(found.st_mode):
                raise NotText(f"{shown(path)} is {kind}, not a file with text.")
        if found.st_size > LIMIT_BYTES:
            raise NotText(
                f"{shown(path)} is too large to read here: {found.st_size / 1e6:,.0f} MB.",
                hint="Look at parts of it with a command or in a kernel.",
            )


async def _read_directly(os_path: str, path: str) -> bytes:
    """The manager would decode it in the event loop, and we encode it again."""
    try:
        return (await asyncio.to_thread(content_of, Place(os_path, path)))[0]
    except OSError as err:
        raise read_fault(err, path) from err


def _is_own(manager: ContentsManager, *methods: str) -> bool:
    """Whether jupyter_server's own methods are at work, not those of another manager."""
    return all(
        getattr(type(manager), name).__module__.startswith("jupyter_server.") for name in methods
    )


def _is_within(path: str, root: str) -> bool:
    try:
        return os.path.commonpath([root, path]) == root
    except ValueError:  # another drive
        return False


def _hidden_parts(path: str) -> set[str]:
    return {part for part in path.split("/") if part.startswith(".")}


def _entry_of(model: dict[str, Any]) -> Entry:
    size = model.get("size")
    is_folder = model["type"] == "directory"
    path = model["path"].strip("/")
    modified = str(model.get("last_modified") or "")
    size = size if isinstance(size, int) and not is_folder else None
    return Entry(path, model["type"], size, modified)


async def to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Finish `work` also when the caller is cancelled: a write is never cut in the middle."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        if not task.cancelled() and task.exception() is not None:
            _log.warning("A write failed while its turn was stopped: %s", task.exception())
        raise


def read_fault(err: Exception, path: str) -> ToolError:
    status = err.status_code if isinstance(err, HTTPError) else 0
    if status == 404 or isinstance(err, FileNotFoundError):
        return DocumentNotFound(
            f"There is nothing at {shown(path)}.", hint="Look at the names with list_files."
        )
    if status == 403 or isinstance(err, PermissionError):
        return PathRefused(f"No permission to read {shown(path)}.", code="permission_denied")
    if status == 400 and "directory" in reason_of(err):
        kind = "not a folder" if "not a directory" in reason_of(err) else "a folder"
        return NotText(f"{shown(path)} is {kind}.")
    if status == 400:
        return NotText(f"{shown(path)} cannot be read as a file.")
    return ToolError(f"{shown(path)} could not be read: {reason_of(err)}.", code="read_failed")


def reason_of(err: BaseException) -> str:
    """Why, in plain words and without paths of the server."""
    cause: BaseException | None = err
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno:
            return os.strerror(cause.errno).lower()
        cause = cause.__cause__ or cause.__context__
    if isinstance(err, HTTPError) and err.status_code == 403:
        return "permission denied"
    if isinstance(err, HTTPError):
        return (err.log_message or err.reason or f"status {err.status_code}").split("\n")[0][:200]
    return str(err).split("\n")[0][:200] or type(err).__name__


def _what_is_there(now: bytes | None, before: bytes | None) -> str:
    if now == before:
        return "Nothing was changed."
    if now is None:
        return "The file cannot be read now."
    if before is None:
        return f"An incomplete file of {len(now)} bytes is there now."
    return f"The file now holds {len(now)} bytes, neither the old nor the new text."
