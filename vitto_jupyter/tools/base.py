"""The tool contract. Imported by every tool, the toolset and the agent.

A tool turns typed input into a Proposal: the facts that policy judges, the preview that the
user sees, and the act itself. Nothing is changed or run before `apply` is called, and only
the toolset calls it, after policy and, where asked, the user.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from ..policy.facts import Facts
from ..protocol.approval import Preview
from ..protocol.base import Wire
from ..protocol.tool import Effect, ToolResult
from ..settings import Settings
from ..workspace.base import Ask, Question, TextSink, Workspace
from .seen import Seen


@dataclass(frozen=True, slots=True)
class Grant:
    """The leave to act. `by_user`: a person saw exactly this proposal and allowed it.

    `edited`: their own text in place of that of a single-change diff, else None.
    """

    by_user: bool = False
    edited: str | None = None


Apply = Callable[[Grant], Awaitable[ToolResult]]


async def nobody(question: Question) -> str | None:
    """Nobody is there to answer."""
    return None


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a call works with. `notebook_path` is the session's notebook, None without one.

    `seen` remembers, for the session, what the model has read. An edit is based on what is in
    there: not there means "read it first", another revision than now means the edit is stale.
    `tool_call_id` is the call's own id, `session_id` that of the conversation; "" outside the
    agent loop. `ask` puts a question to the user and waits; deadlines of the call do not count
    that time.
    """

    workspace: Workspace
    settings: Settings
    notebook_path: str | None
    progress: TextSink
    seen: Seen
    tool_call_id: str = ""
    session_id: str = ""
    ask: Ask = nobody


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a call would do.

    `apply(grant)` does it. Reads have no title and no preview. `waits_s` is how long it may
    wait on purpose, beside what any call may take.
    """

    facts: Facts
    apply: Apply
    title: str = ""
    preview: Preview | None = None
    waits_s: float = 0.0

    @property
    def digest(self) -> str:
        """The hash that an approval is bound to: of the exact bytes the user sees."""
        shown = self.preview.model_dump_json() if self.preview else ""
        return hashlib.sha256(f"{self.title}\n{shown}".encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. `input_model` validates the input and gives the JSON Schema.

    `propose` raises ToolError when the input does not fit what is there.
    """

    name: str
    description: str
    effect: Effect
    input_model: type[Wire]
    propose: Callable[[ToolContext, Any], Awaitable[Proposal]]
    stream_input: bool = False


def read_proposal(
    paths: tuple[str, ...], read: Callable[[], Awaitable[ToolResult]], *, waits_s: float = 0.0
) -> Proposal:
    """The proposal of a tool that only reads."""

    async def apply(grant: Grant) -> ToolResult:
        return await read()

    return Proposal(facts=Facts(effect="read", paths=paths), apply=apply, waits_s=waits_s)


def done(output: str, **metadata: Any) -> ToolResult:
    return ToolResult(success=True, output=output, metadata=metadata)


def failed(error: str, *, output: str = "", **metadata: Any) -> ToolResult:
    return ToolResult(success=False, output=output, error=error, metadata=metadata)
