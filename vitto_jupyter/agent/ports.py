"""What the loop needs from outside. Imported by agent and services."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ..protocol.approval import DecisionKind, Preview
from ..protocol.events import Event
from ..providers.base import Message
from ..workspace.base import Question


class EventSink(Protocol):
    async def emit(self, event: Event) -> None:
        """Record one event (without its envelope).

        Deltas return at once and may be joined with neighbours of the same kind; any other
        event returns when it is on the trail, after everything emitted before it.
        """


@dataclass(frozen=True, slots=True)
class Answered:
    """The user's answer. `by` "system" is always a rejection: the question became void."""

    decision: DecisionKind
    comment: str = ""
    edited_content: str | None = None


class Approver(Protocol):
    async def ask(
        self, *, tool_call_id: str, title: str, reason: str, preview: Preview, digest: str
    ) -> Answered:
        """Ask the user and wait, however long; emits approval.requested and .resolved.

        Cancelling the wait resolves the question as rejected by the system.
        """


class Asker(Protocol):
    async def ask(self, question: Question, *, tool_call_id: str) -> str | None:
        """Put a question of a call to the user and wait, however long, also after the turn.

        None: they will not answer. Cancelling the wait makes the question void.
        """


class ConversationStore(Protocol):
    async def append(self, messages: Sequence[Message]) -> None:
        """Add messages at the end; they are on disk when it returns."""


class Clock(Protocol):
    def now_iso(self, *, after_s: float = 0.0) -> str:
        """The time `after_s` seconds from now: ISO 8601 in UTC, milliseconds, ending in "Z"."""

    def monotonic(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...
