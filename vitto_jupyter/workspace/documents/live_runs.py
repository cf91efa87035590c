"""Runs of cells in notebooks that pages may hold: shown there live, stored at their end.

A page that comes, goes or sleeps in the middle of a run changes nothing about what the notebook
gets: the outputs are kept here until a page or the file has them.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...errors import DeadlineExceeded, DocumentNotFound, EditConflict, ToolError
from ...protocol.base import HostId
from ..base import BeginRun, Documents, EndRun, RunEdit
from ..notebooks.notebook_work import stale_run
from ..notebooks.output_fold import Folded, OpenRuns
from ..paths import shown
from .pages import PageGone, Pages

_LIMIT_NOTEBOOKS = 100
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Runs:
    """Open runs of one notebook; `shown_in` is the page that has seen all of them so far."""

    open: OpenRuns = field(default_factory=OpenRuns)
    shown_in: HostId | None = None


class LiveRuns:
    """The run edits of all notebooks. The caller holds the notebook's lock."""

    def __init__(self, pages: Pages, fallback: Documents) -> None:
        self._pages = pages
        self._fallback = fallback
        self._runs: dict[str, _Runs] = {}
        self._owed: dict[str, list[RunEdit]] = {}
        self._unsaved: dict[str, list[RunEdit]] = {}  # shown in a page that has not saved them

    @property
    def owed_paths(self) -> tuple[str, ...]:
        """Notebooks with results that wait for a page, or for the file since their page closed."""
        lost = (path for path in self._unsaved if not self._pages.are_holding(path))
        return tuple(dict.fromkeys((*self._owed, *lost)))

    async def apply(self, path: str, edits: Sequence[RunEdit]) -> None:
        """Show the edits where the notebook is open; store the results of runs that ended.

        Raises:
            EditConflict: a cell is not what was to be run; nothing has begun.
            PageGone: whether it is, only a page knows that did not answer; nothing has begun.
            ToolError: a run ended and its results could not be stored.
        """
        runs = self._runs.setdefault(path, _Runs())
        before = runs.open.copy()
        try:
            await self._apply(path, runs, edits)
        except (EditConflict, PageGone):
            if _begun(edits):
                runs.open = before
            raise

    async def _check_bases(self, path: str, edits: Sequence[RunEdit]) -> None:
        """The file is not told of a run before its end, so what begins is checked here."""
        if begun := _begun(edits):
            notebook = await self._fallback.read_notebook(path)
            for edit in begun:
                cell = notebook.cell(edit.cell_id)
                if cell is None or cell.revision != edit.base:
                    raise stale_run(edit.cell_id, None if cell is None else cell.source)

    async def _apply(self, path: str, runs: _Runs, edits: Sequence[RunEdit]) -> None:
        whole = _with_replays(runs.open, edits)
        holder = self._pages.holder(path)
        folded = runs.open.apply(edits)
        self._forget()
        seen_before = holder is not None and holder == runs.shown_in
        to_store = _concerning(whole, folded)
        at_work = False  # a page took the edits, and makes them or has made them
        try:
            in_page = await self._pages.edit_notebook(path, edits if seen_before else whole)
        except (PageGone, DeadlineExceeded, DocumentNotFound) as err:
            if isinstance(err, PageGone) and _begun(edits):
                raise
            # The run goes on: a page that comes back gets all of it with the next change.
            in_page = False
            at_work = isinstance(err, DeadlineExceeded) and self._pages.are_holding(path)
            if to_store and self._pages.are_holding(path):
                self._note(self._owed, path, to_store)
                raise _kept(path) from err
        runs.shown_in = holder if in_page else None
        if not (in_page or at_work):
            await self._check_bases(path, edits)
        if folded.ended and in_page:
            results = [edit for edit in to_store if edit.cell_id in folded.ended]
            self._note(self._unsaved, path, results)
        elif to_store and not in_page:
            await self._fallback.edit_notebook(path, to_store)

    async def save(self, path: str) -> None:
        """Save where the notebook is open; what only a closed page had goes into the file."""
        try:
            in_page = await self._pages.ask(path, "save") is not None
        except DocumentNotFound:  # closed a moment ago
            in_page = False
        if in_page:
            self._unsaved.pop(path, None)
        else:
            await self._store_lost(path)
            await self._fallback.save(path)

    async def _store_lost(self, path: str) -> None:
        """A page closed, or was closed, before it saved these results."""
        if edits := self._unsaved.get(path):
            await self._fallback.edit_notebook(path, edits)
            self._unsaved.pop(path, None)

    async def deliver(self, path: str) -> None:
        """Store what waits for a page, if it is back or gone for good."""
        if self._pages.holder(path) is None and self._pages.are_holding(path):
            return
        edits = self._owed.get(path, ())
        try:
            if not self._pages.are_holding(path):
                await self._store_lost(path)
            if not edits:
                return
            if await self._pages.edit_notebook(path, edits):
                await self._pages.ask(path, "save")
            else:
                await self._fallback.edit_notebook(path, edits)
        except ToolError as err:
            _log.warning("Results of a run still wait for %s: %s", shown(path), err.message)
        else:
            self._owed.pop(path, None)

    def _note(self, where: dict[str, list[RunEdit]], path: str, edits: Sequence[RunEdit]) -> None:
        ended = {edit.cell_id for edit in edits if isinstance(edit, EndRun)}
        before = [edit for edit in where.get(path, ()) if edit.cell_id not in ended]
        where[path] = [*before, *edits]
        while len(where) > _LIMIT_NOTEBOOKS:
            del where[next(iter(where))]

    def _forget(self) -> None:
        """Drop what has ended, and the oldest of too many: runs whose end nobody reported."""
        for path in [path for path, runs in self._runs.items() if not runs.open]:
            del self._runs[path]
        while len(self._runs) > _LIMIT_NOTEBOOKS:
            del self._runs[next(iter(self._runs))]


def _begun(edits: Sequence[RunEdit]) -> list[BeginRun]:
    """The runs that begin only if their cell is still what it was."""
    return [edit for edit in edits if isinstance(edit, BeginRun) and edit.base is not None]


def _with_replays(runs: OpenRuns, edits: Sequence[RunEdit]) -> list[RunEdit]:
    """The edits, after what brings a fresh viewer to where their runs are now."""
    cell_ids = dict.fromkeys(edit.cell_id for edit in edits if not isinstance(edit, BeginRun))
    return [*(edit for cell_id in cell_ids for edit in runs.replay(cell_id)), *edits]


def _concerning(edits: Sequence[RunEdit], folded: Folded) -> list[RunEdit]:
    """The edits of cells whose stored outputs change now."""
    cell_ids = folded.ended.keys() | {edit.cell_id for edit in folded.late}
    return [edit for edit in edits if edit.cell_id in cell_ids]


def _kept(path: str) -> ToolError:
    return ToolError(
        f"The page that holds {shown(path)} did not answer; the outputs are kept and go into "
        "the notebook when the page is back.",
        code=PageGone.code,
    )
