"""A session that is open in this server: its lock, trail, hub, questions and conversation.

Imported by sessions only. Opening repairs what a crash left behind.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from ..agent.conversation import Conversation
from ..agent.ports import Clock
from ..errors import StorageFailed
from ..protocol.events import (
    ApprovalResolved,
    ErrorInfo,
    FinishReason,
    QuestionClosed,
    RunFinished,
    TurnFinished,
)
from ..protocol.session import SessionInfo
from ..providers.base import ToolSpec
from ..tools.seen import Seen
from . import seen_file
from .approvals import Approvals
from .conversations import ConversationFile
from .event_hub import EventHub
from .questions import Outcome, Questions
from .session_files import OwnerLock
from .session_records import SessionRecord
from .trails import Scan, Trail
from .turns import Turn

T = TypeVar("T")
log = logging.getLogger(__name__)
INTERRUPTED = ErrorInfo(
    code="interrupted",
    message="The server stopped while this turn was running.",
    hint="What it had done stays done; its last act may be half done. Send it again to go on.",
)
RESTARTED = "The server was restarted."
LOST = "The server was restarted while it ran; how it ended is not known."


class OpenSession:
    """One open session. `uses` counts whatever needs it: its turn, its subscribers, requests at
    work, questions that wait and runs that go on; `on_idle` is called when nothing does."""

    def __init__(
        self,
        *,
        record: SessionRecord,
        folder: Path,
        lock: OwnerLock,
        hub: EventHub,
        scan: Scan,
        seen: Seen,
        on_idle: Callable[[OpenSession], None],
    ) -> None:
        self.record = record
        self.folder = folder
        self.hub = hub
        self.approvals = Approvals(scan.answers)
        outcomes = cast("dict[str, Outcome]", scan.outcomes)
        self.questions = Questions(hub, outcomes, self.keep)
        self.turn_ids = set(scan.turn_ids)
        self.last_reason = cast("FinishReason | None", scan.last_reason)
        self.seen = seen
        self.turn: Turn | None = None
        self.uses = 0
        self.starting = asyncio.Lock()
        self.saving_record = asyncio.Lock()
        self._on_idle = on_idle
        self._end: tuple[str, TurnFinished] | None = None
        self._saving = asyncio.Lock()
        self._lock = lock
        self._seen_edition = seen.edition
        self._preparing: asyncio.Future[object] | None = None
        self._conversation: Conversation | None = None
        self._conversation_file: ConversationFile | None = None

    @contextmanager
    def keep(self) -> Iterator[OpenSession]:
        """The session stays open at least as long as the block runs."""
        self.uses += 1
        try:
            yield self
        finally:
            self.uses -= 1
            if self.uses == 0:
                self._on_idle(self)

    @property
    def turn_id(self) -> str | None:
        """Of the turn at work."""
        return self.turn.turn_id if self.turn else None

    @property
    def state(self) -> str:
        if self.approvals.waiting or self.questions.waiting:
            return "waiting"
        return "idle" if self.turn is None else "running"

    def info(self) -> SessionInfo:
        return info_of(self.record, state=self.state)

    async def conversation(self, *, system: str, tools: Sequence[ToolSpec]) -> Conversation:
        """The session's conversation; `system` and `tools` count for a new one only."""
        if self._conversation is None:
            file = ConversationFile(self.folder)
            stored = await asyncio.to_thread(file.open)
            if stored is None:
                await asyncio.to_thread(lambda: file.create(system=system, tools=tools))
            self._conversation_file = file
            self._conversation = Conversation(
                system=stored.system if stored else system,
                tools=stored.tools if stored else tools,
                messages=stored.messages if stored else (),
                store=file,
            )
        return self._conversation

    async def unless_stopped(self, preparing: Coroutine[Any, Any, T]) -> T | None:
        """What a turn needs before it can start; None when `stop_preparing` came meanwhile."""
        task = self._preparing = asyncio.ensure_future(preparing)
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
            self._preparing = None
        return None if task.cancelled() else task.result()

    def stop_preparing(self) -> bool:
        """Whether there was something to stop."""
        return self._preparing is not None and self._preparing.cancel()

    def end(self, turn: Turn) -> None:
        """The turn is over; `save_end` records it."""
        finished = turn.finish()
        self.last_reason = finished.reason
        self._end = (turn.turn_id, finished)
        if not turn.task.done():
            self._forget_conversation()

    @property
    def has_unsaved_end(self) -> bool:
        return self._end is not None

    async def save_end(self) -> None:
        """Record the end of the last turn, when that is still to be done.

        Raises:
            StorageFailed: it is still to be done.
        """
        async with self._saving:
            if self._end is not None:
                turn_id, finished = self._end
                await self.hub.emit(finished, turn_id=turn_id)
                self._end = None

    async def save_seen(self) -> None:
        """Keep what the model has seen for another server, or this one started anew."""
        edition = self.seen.edition
        if edition == self._seen_edition:
            return
        try:
            await asyncio.to_thread(seen_file.save, self.folder, self.seen.to_json())
        except StorageFailed as err:
            log.warning("%s", err.message)
        else:
            self._seen_edition = edition

    def _forget_conversation(self) -> None:
        """After a turn was left behind: what it may still append counts no more."""
        if self._conversation_file is not None:
            self._conversation_file.close()
        self._conversation = self._conversation_file = None

    async def close(self) -> None:
        await self.save_seen()
        self._forget_conversation()
        await self.questions.close()
        await self.hub.close()
        self._lock.release()


async def open_session(
    *,
    record: SessionRecord,
    folder: Path,
    clock: Clock,
    wake: Callable[[], None],
    on_idle: Callable[[OpenSession], None],
) -> OpenSession:
    """Lock, read and repair a session.

    Raises:
        SessionInUse: another server has it.
        StorageFailed: it could not be read, or the repair not written.
    """
    lock = OwnerLock(folder)
    await asyncio.to_thread(lock.acquire)
    try:
        trail = Trail(folder)
        now = clock.now_iso()
        try:
            scan = await asyncio.to_thread(lambda: trail.open(record.session_id, now))
        except OSError as err:
            raise StorageFailed(f"Could not read the session: {err.strerror}.") from err
        hub = EventHub(session_id=record.session_id, trail=trail, clock=clock, wake=wake)
        await _close_what_was_open(hub, scan)
    except BaseException:
        lock.release()
        raise
    return OpenSession(
        record=record,
        folder=folder,
        lock=lock,
        hub=hub,
        scan=scan,
        seen=await asyncio.to_thread(seen_file.load, folder),
        on_idle=on_idle,
    )


async def _close_what_was_open(hub: EventHub, scan: Scan) -> None:
    """A crash left the last turn without its end, and what waited or ran without theirs."""
    for question_id, asked in scan.questions.items():
        closed = QuestionClosed(question_id=question_id, outcome="void")
        await hub.emit(closed, turn_id=asked["turn_id"])
        scan.outcomes[question_id] = "void"
    for run_id, run in scan.runs.items():
        lost = RunFinished(run_id=run_id, state="lost", text=LOST)
        await hub.emit(lost, turn_id=run["turn_id"])
    for approval_id, question in scan.approvals.items():
        resolved = ApprovalResolved(
            approval_id=approval_id, decision="reject", scope="once", comment=RESTARTED, by="system"
        )
        await hub.emit(resolved, turn_id=str(question["turn_id"]))
        scan.answers[approval_id] = ("reject", "system")
    if scan.open_turn_id is not None:
        finished = TurnFinished(reason="error", error=INTERRUPTED)
        await hub.emit(finished, turn_id=scan.open_turn_id)
        scan.last_reason = "error"


def info_of(record: SessionRecord, *, state: str) -> SessionInfo:
    return SessionInfo(
        session_id=record.session_id,
        title=record.title,
        notebook_path=record.notebook_path,
        created_at=record.created_at,
        updated_at=record.updated_at,
        state=state,  # type: ignore[arg-type]
        turns=record.turns,
    )
