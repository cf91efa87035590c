"""Runs one tool call as the agent does: parse, propose, policy, the user, act."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from vitto_jupyter.agent.answers import Call
from vitto_jupyter.agent.calls import CallPorts, run_call
from vitto_jupyter.agent.guard import NO_GUARD, Guard
from vitto_jupyter.agent.ports import Answered
from vitto_jupyter.protocol.tool import ToolResult
from vitto_jupyter.settings import Settings
from vitto_jupyter.testing.doubles import Question, RecordingSink
from vitto_jupyter.tools.base import ToolContext
from vitto_jupyter.tools.seen import Seen
from vitto_jupyter.tools.toolset import builtin_toolset
from vitto_jupyter.workspace.base import Workspace

Outcome = Literal["ALLOW", "ASK", "DENY"]
TOOLSET = builtin_toolset()


@dataclass(frozen=True)
class Judged:
    """What became of a call. ASK: the user was asked. ALLOW: done unasked. DENY: neither."""

    outcome: Outcome
    result: ToolResult
    question: Question | None
    sink: RecordingSink

    @property
    def text(self) -> str:
        return f"{self.result.error or ''}\n{self.result.output}"

    @property
    def shown(self) -> str:
        """The card: all that the user sees of it, as one text."""
        assert self.question is not None
        preview = self.question.preview.model_dump_json()
        return f"{self.question.title}\n{self.question.reason}\n{preview}"


@dataclass
class _Person:
    """Answers the question; `meanwhile` happens between the card and the answer."""

    approves: bool
    meanwhile: Callable[[], Awaitable[None]] | None
    questions: list[Question] = field(default_factory=list)

    async def ask(self, **asked: Any) -> Answered:
        self.questions.append(Question(**asked))
        if self.meanwhile is not None:
            await self.meanwhile()
        return Answered("approve" if self.approves else "reject")


@dataclass
class JudgedCalls:
    """The calls of one session over a workspace."""

    workspace: Workspace
    notebook_path: str | None = None
    guard: Guard = NO_GUARD
    settings: Settings = field(default_factory=lambda: Settings(cell_timeout_s=60))
    seen: Seen = field(default_factory=Seen)

    async def call(
        self,
        name: str,
        /,
        *,
        approve: bool = False,
        meanwhile: Callable[[], Awaitable[None]] | None = None,
        **input: Any,
    ) -> Judged:
        person = _Person(approve, meanwhile)
        sink = RecordingSink()
        ports = CallPorts(
            toolset=TOOLSET,
            make_context=lambda progress: ToolContext(
                workspace=self.workspace,
                settings=self.settings,
                notebook_path=self.notebook_path,
                progress=progress,
                seen=self.seen,
            ),
            mode="ask",
            approver=person,
            sink=sink,
            settings=self.settings,
            guard=self.guard,
        )
        call = Call(tool_call_id="call_1", name=name, input=input)
        result = await run_call(call, ports, on_started=lambda: None)
        question = person.questions[0] if person.questions else None
        outcome: Outcome = "ASK" if question else "ALLOW" if result.success else "DENY"
        return Judged(outcome, result, question, sink)
