"""Walking the workspace's folders, within a time, leaving out what git ignores."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

from ..errors import PathRefused, ToolError
from ..workspace.base import Entry, Git, Workspace
from ..workspace.paths import api_path, name_of, parent_of
from .globs import IgnoreRules, ignore_rules, is_ignored

_MAX_DEPTH = 32
_MAX_ENTRIES = 50_000
_SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules"})


class Walk:
    """One walk. `cut` says in words why it ended early; "" when everything was visited.

    `unusable` counts names that are left out because they hide what they are.
    """

    def __init__(self, workspace: Workspace, *, deadline_s: float) -> None:
        self.cut = ""
        self.unusable = 0
        self._documents = workspace.documents
        self._ignores = Ignores(workspace.git)
        self._ends_at = time.monotonic() + deadline_s
        self._deadline_s = deadline_s
        self._entries = 0

    @property
    def left_s(self) -> float:
        return self._ends_at - time.monotonic()

    async def entries(self, start: str) -> AsyncIterator[Entry]:
        """Files, notebooks and folders below folder `start`, each folder's own names first."""
        todo = [(start, await self._ignores.above(start))]
        while todo and not self.cut:
            folder, rules = todo.pop(0)
            own = await self._ignores.of(folder)
            rules = [*rules, own] if own else rules
            for entry in await self._list(folder, is_start=folder == start):
                if self._is_over():
                    return
                if not _is_usable(entry.path):
                    self.unusable += 1
                    continue
                is_folder = entry.type == "directory"
                if is_ignored(rules, entry.path, is_folder=is_folder):
                    continue
                if is_folder and name_of(entry.path) in _SKIPPED_FOLDERS:
                    continue
                yield entry
                if is_folder and entry.path.count("/") < _MAX_DEPTH:
                    todo.append((entry.path, rules))

    def out_of_time(self) -> bool:
        """Whether to stop now; notes why."""
        if self.left_s > 0:
            return False
        self.cut = f"stopped after {self._deadline_s:g} s"
        return True

    def _is_over(self) -> bool:
        self._entries += 1
        if self._entries > _MAX_ENTRIES:
            self.cut = f"stopped after {_MAX_ENTRIES:,} names"
            return True
        return self.out_of_time()

    async def _list(self, folder: str, *, is_start: bool) -> tuple[Entry, ...]:
        try:
            return await self._documents.entries(folder)
        except ToolError:
            # A folder below may be unreadable or lead out of the root: it is left out.
            if is_start:
                raise
            return ()


class Ignores:
    """The .gitignore rules of folders, each read once."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._own: dict[str, IgnoreRules | None] = {}

    async def of(self, folder: str) -> IgnoreRules | None:
        if folder not in self._own:
            text = await self._git.ignore_text(folder)
            self._own[folder] = ignore_rules(folder, text) if text else None
        return self._own[folder]

    async def above(self, start: str) -> list[IgnoreRules]:
        """The rules of the folders that contain `start`; none when they ignore it itself."""
        rules = [own for folder in _folders_of(start) if (own := await self.of(folder))]
        return [] if start and is_ignored(rules, start, is_folder=True) else rules

    async def covers(self, path: str, *, start: str) -> bool:
        """Whether a walk from folder `start` leaves `path` out."""
        rules = await self.above(start)
        folders = [folder for folder in _folders_of(path) if len(folder) >= len(start)]
        for folder, below in zip(folders, [*folders[1:], path], strict=True):
            own = await self.of(folder)
            rules = [*rules, own] if own else rules
            if is_ignored(rules, below, is_folder=below != path):
                return True
        return False


def _folders_of(path: str) -> list[str]:
    """The folders that contain `path`, the root first."""
    folders: list[str] = []
    while path:
        path = parent_of(path)
        folders.insert(0, path)
    return folders


def _is_usable(path: str) -> bool:
    """A name with a line end or reversed text could forge a line of a result."""
    try:
        return api_path(path) == path
    except PathRefused:
        return False
