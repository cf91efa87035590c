"""What cells print after their end, gathered: each delivery may rewrite a whole notebook file.

Imported by the kernel link only.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from ...errors import ToolError
from ..base import AddOutput, OutputChange, RunEdit

_FIRST_AFTER_S = 0.2
_EVERY_S = 2.0
_LIMIT_EDITS = 1_000  # while a delivery takes its time; the rest is dropped
_log = logging.getLogger(__name__)


class LateOutput:
    """Late changes of one kernel; `close` delivers what waits."""

    def __init__(self) -> None:
        self._waiting: dict[int, tuple[OutputChange, list[RunEdit]]] = {}  # by id of the sink
        self._task: asyncio.Task[None] | None = None

    def add(self, edits: Sequence[RunEdit], on_change: OutputChange) -> None:
        if not edits:
            return
        waiting = self._waiting.setdefault(id(on_change), (on_change, []))[1]
        for edit in edits:
            joined = _joined(waiting[-1], edit) if waiting else None
            if joined is not None:
                waiting[-1] = joined
            elif len(waiting) < _LIMIT_EDITS:
                waiting.append(edit)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._deliver_on())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
        await self._deliver()

    async def _deliver_on(self) -> None:
        await asyncio.sleep(_FIRST_AFTER_S)
        while self._waiting:
            await self._deliver()
            await asyncio.sleep(_EVERY_S)

    async def _deliver(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for on_change, edits in waiting.values():
            try:
                await on_change(edits)
            except ToolError as err:
                _log.warning("late output of a cell was lost: %s", err.message)


def _joined(before: RunEdit, edit: RunEdit) -> RunEdit | None:
    """One edit for two neighbouring pieces of one stream."""
    if not (isinstance(before, AddOutput) and isinstance(edit, AddOutput)):
        return None
    names = [(e.cell_id, e.output["output_type"], e.output.get("name")) for e in (before, edit)]
    if names[0] != names[1] or edit.output["output_type"] != "stream":
        return None
    text = f"{before.output['text']}{edit.output['text']}"
    return AddOutput(edit.cell_id, {**edit.output, "text": text})
