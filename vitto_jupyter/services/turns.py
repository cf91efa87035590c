"""A running turn: its task, its way to the trail and to the user. Owned by sessions."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Coroutine
from typing import Any

from ..agent.outcomes import Outcome
from ..agent.ports import Answered
from ..errors import StorageFailed, VittoError
from ..protocol.approval import Preview
from ..protocol.events import ErrorInfo, Event, ToolRequested, TurnFinished
from ..workspace.base import Question
from .approvals import Approvals
from .event_hub import EventHub
from .questions import Questions

log = logging.getLogger(__name__)


class TurnSink:
    """The `EventSink` of one turn; what comes after its end is dropped."""

    def __init__(self, hub: EventHub, turn_id: str) -> None:
        self._hub = hub
        self.turn_id = turn_id
        self._closed = False
        self.executing_paths: set[str] = set()

    async def emit(self, event: Event) -> None:
        if self._closed:
            log.info("dropped an event of an ended turn", extra={"turn_id": self.turn_id})
            return
        if isinstance(event, ToolRequested) and event.effect == "execute":
            path = event.input.get("path")
            self.executing_paths.update([path] if isinstance(path, str) else [])
        await self._hub.emit(event, turn_id=self.turn_id)

    def close(self) -> None:
        self._closed = True


class TurnApprover:
    """The `Approver` of one turn. One question at a time: nobody reads a heap of cards."""

    def __init__(self, approvals: Approvals, sink: TurnSink) -> None:
        self._approvals = approvals
        self._sink = sink
        self._asking = asyncio.Lock()

    async def ask(
        self, *, tool_call_id: str, title: str, reason: str, preview: Preview, digest: str
    ) -> Answered:
        async with self._asking:
            return await self._approvals.ask(
                self._sink,
                tool_call_id=tool_call_id,
                title=title,
                reason=reason,
                preview=preview,
                digest=digest,
            )


class TurnAsker:
    """The `Asker` of one turn; its questions may outlive it."""

    def __init__(self, questions: Questions, turn_id: str) -> None:
        self._questions = questions
        self._turn_id = turn_id

    async def ask(self, question: Question, *, tool_call_id: str) -> str | None:
        return await self._questions.ask(question, tool_call_id=tool_call_id, turn_id=self._turn_id)


class Turn:
    """A turn at work. `ended` is done when the work is, or when it was left behind; `over` is
    set when that is recorded too."""

    def __init__(self, turn_id: str, *, sink: TurnSink, work: Coroutine[Any, Any, Outcome]) -> None:
        self.turn_id = turn_id
        self.sink = sink
        self.stop_error: ErrorInfo | None = None
        self.task = asyncio.create_task(work, name=f"vitto turn {turn_id}")
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.over = asyncio.Event()
        self.task.add_done_callback(lambda _: self._end())
        self._stopping = False

    async def stop(self, *, grace_s: float, error: ErrorInfo | None = None) -> None:
        """Cancel the work; what has not ended within `grace_s` is left behind."""
        if not self._stopping:
            self._stopping = True
            self.stop_error = error
            self.task.cancel()
        await asyncio.wait({self.task}, timeout=grace_s)
        self._end()

    def _end(self) -> None:
        if not self.ended.done():
            self.ended.set_result(None)

    def finish(self) -> TurnFinished:
        """The event that ends the turn; nothing comes after it."""
        self.sink.close()
        if not self.task.done() or self.task.cancelled():
            return TurnFinished(reason="cancelled", error=self.stop_error)
        failure = self.task.exception()
        if failure is not None:
            return TurnFinished(reason="error", error=self._error_of(failure))
        outcome = self.task.result()
        return TurnFinished(reason=outcome.reason, error=outcome.error or self.stop_error)

    def _error_of(self, failure: BaseException) -> ErrorInfo:
        if isinstance(failure, StorageFailed):
            return ErrorInfo(code=failure.code, message=failure.message, hint=failure.hint)
        log_id = secrets.token_hex(4)
        log.error(
            "turn %s failed (log id %s)",
            self.turn_id,
            log_id,
            exc_info=failure,
            extra={"turn_id": self.turn_id},
        )
        if isinstance(failure, VittoError):
            return ErrorInfo(code=failure.code, message=failure.message, hint=failure.hint)
        return ErrorInfo(
            code="internal",
            message="Vitto failed while it worked on this turn.",
            hint=f"Nothing is lost; send it again. The server log has details under {log_id}.",
        )
