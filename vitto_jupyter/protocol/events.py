"""Events: numbered facts of a session. The trail, the stream and every view are made of these.

Code below the event hub builds an event without its envelope (`TextDelta(text="…")`); the hub
stamps `seq`, `session_id`, `turn_id` and `at` when it writes the event to the trail.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from .approval import DecisionKind, Preview, Scope
from .base import JsonObject, Wire
from .context import TurnContext
from .tool import Effect, ToolResult

Mode = Literal["plan", "ask"]
FinishReason = Literal["done", "cancelled", "limit", "error"]
NoticeLevel = Literal["info", "warning", "error"]


class ErrorInfo(Wire):
    """An error for a person: what happened (`message`) and what to do (`hint`)."""

    code: str
    message: str
    hint: str


class Choice(Wire):
    """One of the answers to a question."""

    value: str
    label: str


class Event(Wire):
    """The envelope. `seq` is gapless per session from 1; `at` is ISO 8601 in UTC."""

    seq: int = 0
    session_id: str = ""
    turn_id: str | None = None
    at: str = ""


class SessionCreated(Event):
    type: Literal["session.created"] = "session.created"
    title: str
    notebook_path: str | None


class SessionRenamed(Event):
    type: Literal["session.renamed"] = "session.renamed"
    title: str


class TurnStarted(Event):
    type: Literal["turn.started"] = "turn.started"
    prompt: str
    mode: Mode
    context: TurnContext
    provider: str
    model: str


class ModelRequested(Event):
    """A request to the model goes out. `request` counts from 1 within the turn.

    `attempt` above 1 repeats the same request after a fault: whatever the earlier attempt
    had shown is withdrawn.
    """

    type: Literal["model.requested"] = "model.requested"
    request: int
    attempt: int


class TextDelta(Event):
    type: Literal["text.delta"] = "text.delta"
    text: str


class ThinkingDelta(Event):
    type: Literal["thinking.delta"] = "thinking.delta"
    text: str


class ToolInputDelta(Event):
    """A piece of a tool call's input as it is written; comes before `tool.requested`."""

    type: Literal["tool.input_delta"] = "tool.input_delta"
    tool_call_id: str
    name: str
    partial_json: str


class ToolRequested(Event):
    type: Literal["tool.requested"] = "tool.requested"
    tool_call_id: str
    name: str
    input: JsonObject
    effect: Effect


class ApprovalRequested(Event):
    type: Literal["approval.requested"] = "approval.requested"
    approval_id: str
    tool_call_id: str
    title: str
    reason: str
    preview: Preview
    digest: str


class ApprovalResolved(Event):
    """`by` is "user", or "system" when the question became void (stop, restart, change)."""

    type: Literal["approval.resolved"] = "approval.resolved"
    approval_id: str
    decision: DecisionKind
    scope: Scope
    comment: str
    by: Literal["user", "system"]


class ToolStarted(Event):
    type: Literal["tool.started"] = "tool.started"
    tool_call_id: str


class ToolProgress(Event):
    """`text` is a piece of live output, to append."""

    type: Literal["tool.progress"] = "tool.progress"
    tool_call_id: str
    text: str


class ToolFinished(Event):
    type: Literal["tool.finished"] = "tool.finished"
    tool_call_id: str
    result: ToolResult


class QuestionAsked(Event):
    """Something only the user can answer, such as an `input()` of a cell that runs.

    `tool_call_id` is the call that it came from. A question may outlive its turn, as the cell
    does. With `choices` the answer is the value of one. The answer to a `secret` question is
    shown and recorded nowhere.
    """

    type: Literal["question.asked"] = "question.asked"
    question_id: str
    tool_call_id: str
    prompt: str
    secret: bool = False
    choices: tuple[Choice, ...] = ()


class QuestionClosed(Event):
    """`outcome` "void": what asked has ended, or the server was restarted."""

    type: Literal["question.closed"] = "question.closed"
    question_id: str
    outcome: Literal["answered", "dismissed", "void"]


class RunDetached(Event):
    """A run of cells goes on after its tool call has ended; `labels` are the cells still to end."""

    type: Literal["run.detached"] = "run.detached"
    run_id: str
    tool_call_id: str
    path: str
    labels: tuple[str, ...]


class RunFinished(Event):
    """A detached run has ended. `state` is that of its last cell, e.g. "ok" or "error"; `text`
    says it in words, for people."""

    type: Literal["run.finished"] = "run.finished"
    run_id: str
    state: str
    text: str


class UsageUpdated(Event):
    """Totals of the turn. `input_tokens` is the uncached rest, as the API counts it."""

    type: Literal["usage.updated"] = "usage.updated"
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int


class Notice(Event):
    """Something to know. With `retry_at` (ISO 8601) it is a countdown to the next attempt."""

    type: Literal["notice"] = "notice"
    level: NoticeLevel
    code: str
    text: str
    retry_at: str | None = None


class TurnFinished(Event):
    type: Literal["turn.finished"] = "turn.finished"
    reason: FinishReason
    error: ErrorInfo | None = None


AnyEvent = Annotated[
    SessionCreated
    | SessionRenamed
    | TurnStarted
    | ModelRequested
    | TextDelta
    | ThinkingDelta
    | ToolInputDelta
    | ToolRequested
    | ApprovalRequested
    | ApprovalResolved
    | ToolStarted
    | ToolProgress
    | ToolFinished
    | QuestionAsked
    | QuestionClosed
    | RunDetached
    | RunFinished
    | UsageUpdated
    | Notice
    | TurnFinished,
    Field(discriminator="type"),
]

EVENT: TypeAdapter[AnyEvent] = TypeAdapter(AnyEvent)
