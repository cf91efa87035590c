"""Searching and listing a local contents root: ripgrep reads the files, in its own process.

Documents that are open in a page are searched as they are there. Notebooks that may hold a
match are read as documents, and so are files whose text is not plain UTF-8: then the result is
what read_file and read_notebook show.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field

from ..errors import DeadlineExceeded, ToolError
from ..policy.paths import is_secret
from ..workspace.base import Entry, Workspace
from ..workspace.paths import is_notebook, parent_of
from ..workspace.search.local_search import LocalSearch
from .globs import Glob
from .search_parts import BINARY, DocumentSearch
from .walking import Ignores

_BATCH = 4  # notebooks can be large
_NAME_GLOB = re.compile(r"\*\.(\w+|\{\w+(,\w+)*\})")


@dataclass(slots=True)
class LocalTree:
    """What is below folder `start`."""

    workspace: Workspace
    search: LocalSearch
    start: str
    glob: Glob | None
    _ignores: Ignores = field(init=False)
    _has_rules_above: bool | None = None

    def __post_init__(self) -> None:
        self._ignores = Ignores(self.workspace.git)

    async def files(self, *, timeout_s: float) -> AsyncIterator[str]:
        folders = {self.start}
        async with aclosing(self.search.files(self.start, timeout_s=timeout_s)) as paths:
            async for path in paths:
                folders.add(parent_of(path))
                if await self._is_wanted(path):
                    yield path
        for path in await self.search.links(folders):
            if await self._is_linked_file(path):
                yield path

    async def _is_linked_file(self, path: str) -> bool:
        """Whether a link leads to a file that is served; ripgrep follows none."""
        if not await self._is_wanted(path) or await self._ignores.covers(path, start=self.start):
            return False
        try:
            return (await self.workspace.documents.entry(path)).type != "directory"
        except ToolError:
            return False  # it leads outside, or nowhere

    async def search_all(
        self, matched: DocumentSearch, pattern: str, stored: tuple[str, ...], include: str
    ) -> None:
        """Open documents first, then notebooks, then files; `walk.cut` tells of an early end."""
        try:
            held = await self._held()
            await matched.search([_entry(path) for path in held])
            await self._notebooks(matched, stored, held)
            await self._texts(matched, pattern, include, held)
        except DeadlineExceeded as err:
            matched.walk.cut = err.message

    async def _held(self) -> set[str]:
        """Open documents; those that a walk would not meet are left out."""
        below = f"{self.start}/" if self.start else ""
        return {
            path
            for path in self.workspace.front_ends.seen().open_paths
            if path.startswith(below)
            and not any(name.startswith(".") for name in path.split("/"))
            and await self._is_wanted(path)
            and not await self._ignores.covers(path, start=self.start)
        }

    async def _notebooks(
        self, matched: DocumentSearch, stored: tuple[str, ...], held: set[str]
    ) -> None:
        batch: list[Entry] = []
        found = self.search.notebooks(self.start, stored, timeout_s=matched.walk.left_s)
        async with aclosing(found) as paths:
            async for path in paths:
                if path not in held and await self._is_wanted(path):
                    batch.append(_entry(path))
                if len(batch) == _BATCH:
                    await matched.search(batch)
                    batch = []
                if matched.found.is_full or matched.walk.cut:
                    return
        await matched.search(batch)

    async def _texts(
        self, matched: DocumentSearch, pattern: str, include: str, held: set[str]
    ) -> None:
        if matched.found.is_full or matched.walk.out_of_time():
            return
        only = include if _NAME_GLOB.fullmatch(include) else ""
        found = self.search.lines(
            self.start, pattern, only=only, most=matched.found.left, timeout_s=matched.walk.left_s
        )
        async with aclosing(found) as lines:
            async for line in lines:
                path = line.path
                if path in held or not await self._is_wanted(path) or is_secret(path):
                    continue
                if path.lower().endswith(BINARY):
                    continue
                if line.text is None:
                    await matched.search([await self.workspace.documents.entry(path)])
                else:
                    matched.found.add(path, f"{path}:{line.number}", line.text)
                if matched.found.is_full or matched.walk.cut:
                    return

    async def _is_wanted(self, path: str) -> bool:
        if self.glob is not None and not self.glob.matches(path):
            return False
        if self._has_rules_above is None:
            self._has_rules_above = bool(await self._ignores.above(self.start))
        # The rules of folders above `start` are the only ones that ripgrep has not read.
        if not self._has_rules_above:
            return True
        return not await self._ignores.covers(path, start=self.start)


def _entry(path: str) -> Entry:
    return Entry(path, "notebook" if is_notebook(path) else "file")
