"""Runs that go on after their tool call: told on the trail of the session they came from.

Owned by sessions. The runs themselves belong to the workspace; here they keep their session
open, so that its pages hear of their end, and are said in words after a stop.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from datetime import datetime

from ..protocol.events import RunDetached, RunFinished
from ..workspace.runs.run_reports import OpenRun, RunNotice
from ..workspace.runs.runs import Runs
from .open_session import OpenSession
from .open_sessions import OpenSessions


class DetachedRuns:
    """Listens to the runs of the workspace, once there is one."""

    def __init__(self, sessions: OpenSessions) -> None:
        self._sessions = sessions
        self._heard: Runs | None = None
        self._going_on: dict[str, tuple[OpenSession, ExitStack]] = {}

    def listen(self, runs: Runs) -> None:
        """Hear of these runs from now on; a second time changes nothing."""
        if self._heard is not runs:
            self._heard = runs
            runs.listen(detached=self._detached, finished=self._finished)

    def session_ids(self) -> set[str]:
        """The sessions with a run that goes on."""
        return {session.record.session_id for session, _ in self._going_on.values()}

    def close(self) -> None:
        """Keep no session open any more; how a run ends is not told."""
        for _, kept in self._going_on.values():
            kept.close()
        self._going_on.clear()

    async def _detached(self, notice: RunNotice) -> None:
        session = self._sessions.find(notice.session_id)
        if session is None:  # deleted meanwhile
            return
        kept = ExitStack()
        kept.enter_context(session.keep())
        self._going_on[notice.run_id] = session, kept
        event = RunDetached(
            run_id=notice.run_id,
            tool_call_id=notice.tool_call_id,
            path=notice.path,
            labels=notice.labels,
        )
        await session.hub.emit(event, turn_id=session.turn_id)

    async def _finished(self, notice: RunNotice) -> None:
        if notice.run_id not in self._going_on:
            return
        session, kept = self._going_on.pop(notice.run_id)
        with kept:
            if not session.hub.closed:
                event = RunFinished(run_id=notice.run_id, state=notice.state, text=notice.text)
                await session.hub.emit(event, turn_id=session.turn_id)


def still_running(runs: Iterable[OpenRun], *, now_iso: str) -> tuple[str, ...]:
    """Runs that go on, in words: "cell 4 of a.ipynb, for 2 min 5 s"."""
    return tuple(_in_words(run, now_iso) for run in runs)


def _in_words(run: OpenRun, now_iso: str) -> str:
    if not run.since:
        return f"cells of {run.path} that wait for another run to end"
    what = f"cell {run.label}" if run.cell_id else "code"
    asks = ", which asks for input" if run.asks else ""
    return f"{what} of {run.path}{asks}, for {_age(run.since, now_iso)}"


def _age(since: str, now_iso: str) -> str:
    ran = datetime.fromisoformat(now_iso) - datetime.fromisoformat(since)
    minutes, seconds = divmod(max(0, int(ran.total_seconds())), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
