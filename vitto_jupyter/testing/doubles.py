"""In-memory doubles of the ports in agent/ports.py."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from ..agent.ports import Answered, EventSink
from ..protocol.approval import Preview
from ..protocol.events import (
    ApprovalRequested,
    ApprovalResolved,
    Event,
    TextDelta,
    ThinkingDelta,
    ToolProgress,
)
from ..providers.base import Message

E = TypeVar("E", bound=Event)
FAKE_START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class RecordingSink:
    """Keeps every event in `events`."""

    events: list[Event] = field(default_factory=list)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def emit(self, event: Event) -> None:
        self.events.append(event)
        self._changed.set()
        self._changed = asyncio.Event()

    def of(self, kind: type[E]) -> list[E]:
        """The events of one type, in order."""
        return [event for event in self.events if isinstance(event, kind)]

    def types(self) -> list[str]:
        """The wire type of each event, in order."""
        return [str(getattr(event, "type", "")) for event in self.events]

    def text(self) -> str:
        return "".join(event.text for event in self.of(TextDelta))

    def thinking(self) -> str:
        return "".join(event.text for event in self.of(ThinkingDelta))

    def progress(self, tool_call_id: str) -> str:
        pieces = (e.text for e in self.of(ToolProgress) if e.tool_call_id == tool_call_id)
        return "".join(pieces)

    async def wait_for(self, kind: type[E], *, count: int = 1) -> E:
        """The `count`-th event of a type, waiting for it if need be."""
        while len(found := self.of(kind)) < count:
            await self._changed.wait()
        return found[count - 1]


@dataclass(frozen=True, slots=True)
class Question:
    """What an approver was asked."""

    tool_call_id: str
    title: str
    reason: str
    preview: Preview
    digest: str


@dataclass(slots=True)
class AutoApprover:
    """Answers at once: from `answers` in order, then with `otherwise`; keeps the `questions`.

    With a `sink` it emits the events of an approval, like the real one.
    """

    answers: list[Answered] = field(default_factory=list)
    otherwise: Answered = field(default_factory=lambda: Answered("approve"))
    sink: EventSink | None = None
    questions: list[Question] = field(default_factory=list)

    async def ask(
        self, *, tool_call_id: str, title: str, reason: str, preview: Preview, digest: str
    ) -> Answered:
        self.questions.append(Question(tool_call_id, title, reason, preview, digest))
        approval_id = f"apr_{len(self.questions)}"
        await self._emit(
            ApprovalRequested(
                approval_id=approval_id,
                tool_call_id=tool_call_id,
                title=title,
                reason=reason,
                preview=preview,
                digest=digest,
            )
        )
        answer = self.answers.pop(0) if self.answers else self.otherwise
        await self._emit(
            ApprovalResolved(
                approval_id=approval_id,
                decision=answer.decision,
                scope="once",
                comment=answer.comment,
                by="user",
            )
        )
        return answer

    async def _emit(self, event: Event) -> None:
        if self.sink is not None:
            await self.sink.emit(event)


@dataclass(slots=True)
class FakeClock:
    """Time that passes only in `sleep`, which returns at once and is kept in `sleeps`."""

    sleeps: list[float] = field(default_factory=list)
    start: datetime = FAKE_START

    def now_iso(self, *, after_s: float = 0.0) -> str:
        at = self.start + timedelta(seconds=self.monotonic() + after_s)
        return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def monotonic(self) -> float:
        return sum(self.sleeps)

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        await asyncio.sleep(0)


@dataclass(slots=True)
class MemoryStore:
    """A ConversationStore in a list; `fault` is raised by the next appends while it is set."""

    messages: list[Message] = field(default_factory=list)
    fault: Exception | None = None

    @classmethod
    def of(cls, messages: Iterable[Message]) -> MemoryStore:
        return cls(messages=list(messages))

    async def append(self, messages: Sequence[Message]) -> None:
        await asyncio.sleep(0)
        if self.fault is not None:
            raise self.fault
        self.messages.extend(messages)
