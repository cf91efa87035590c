"""Notices that files of held documents changed on disk, and has the pages look. Used by `live`.

Kernels, commands and other programs write files without any word to the pages.
"""

from __future__ import annotations

import asyncio
import logging

from ...errors import DocumentNotFound, ToolError
from ..base import Documents
from ..paths import shown
from .pages import Pages

_LIMIT_PATHS = 50
_log = logging.getLogger(__name__)
_Version = tuple[str, int | None]  # modified, size


class DiskWatch:
    """Looks in a task of its own, one at a time; `close` ends it."""

    def __init__(self, pages: Pages, files: Documents) -> None:
        self._pages = pages
        self._files = files
        self._versions: dict[str, _Version | None] = {}
        self._task: asyncio.Task[None] | None = None
        self._again = False

    def look_soon(self) -> None:
        self._again = True
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._look())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _look(self) -> None:
        while self._again:
            self._again = False
            held = self._pages.held_paths()
            self._versions = {p: v for p, v in self._versions.items() if p in held}
            for path in held[:_LIMIT_PATHS]:
                await self._look_at(path)

    async def _look_at(self, path: str) -> None:
        try:
            version = await self._version(path)
            if path in self._versions and self._versions[path] == version:
                return
            await self._pages.look_on_disk(path)
        except ToolError as err:
            self._versions.pop(path, None)  # the next time again
            _log.debug("%s was not compared with its file: %s", shown(path), err.message)
        else:
            self._versions[path] = version

    async def _version(self, path: str) -> _Version | None:
        """None: there is no file."""
        try:
            entry = await self._files.entry(path)
        except DocumentNotFound:
            return None
        return entry.modified, entry.size
