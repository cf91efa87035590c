"""Sessions and the fold of their events: the transcript that every view draws.

`fold` (fold.py) and `labextension/src/model/reducer.ts` compute the same `Transcript` from
the same events; golden trails in tests/golden hold both to it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from .approval import DecisionKind, Preview
from .base import JsonObject, Wire
from .context import TurnContext
from .events import Choice, ErrorInfo, FinishReason, Mode, NoticeLevel
from .tool import Effect, ToolResult

ToolState = Literal["requested", "waiting", "running", "done", "failed", "denied", "cancelled"]
TurnState = Literal["running", "done", "cancelled", "limit", "error"]


class SessionInfo(Wire):
    """A session in the list. Times are ISO 8601 in UTC; `state` is what runs now."""

    session_id: str
    title: str
    notebook_path: str | None
    created_at: str
    updated_at: str
    state: Literal["idle", "running", "waiting"]
    turns: int


class TextBlock(Wire):
    type: Literal["text"] = "text"
    text: str


class ThinkingBlock(Wire):
    type: Literal["thinking"] = "thinking"
    text: str


class ApprovalState(Wire):
    """The question on a tool call. `decision` is null while it waits."""

    approval_id: str
    title: str
    reason: str
    preview: Preview
    digest: str
    decision: DecisionKind | None
    comment: str
    by: Literal["user", "system"] | None


class ToolBlock(Wire):
    """A tool call. `input_json` is the input's text while it is being written, then "".

    `at` is when it was requested, `started_at` when it began to run, `finished_at` its end.
    `progress` keeps the last 20,000 characters of live output, until the result is there.
    """

    type: Literal["tool"] = "tool"
    tool_call_id: str
    name: str
    input_json: str
    input: JsonObject | None
    effect: Effect | None
    state: ToolState
    approval: ApprovalState | None
    progress: str
    result: ToolResult | None
    at: str
    started_at: str | None
    finished_at: str | None


class NoticeBlock(Wire):
    type: Literal["notice"] = "notice"
    level: NoticeLevel
    code: str
    text: str


Block = Annotated[TextBlock | ThinkingBlock | ToolBlock | NoticeBlock, Field(discriminator="type")]


class Phase(Wire):
    """What a running turn does now, since when (ISO 8601).

    `detail` is the tool's name for "tool", "approval" and "question", the notice's text for
    "retrying".
    """

    name: Literal["model", "thinking", "writing", "tool", "approval", "question", "retrying"]
    since: str
    detail: str
    retry_at: str | None


class Usage(Wire):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0


class TurnView(Wire):
    """One turn as a person sees it; `phase` is null once it has finished.

    `request_start` is the number of blocks when the current request to the model went out: a
    retry withdraws what came after.
    """

    turn_id: str
    prompt: str
    mode: Mode
    context: TurnContext
    provider: str
    model: str
    state: TurnState
    error: ErrorInfo | None
    phase: Phase | None
    blocks: tuple[Block, ...]
    request_start: int
    usage: Usage
    started_at: str
    finished_at: str | None


class QuestionState(Wire):
    """A question that waits for the user; see `question.asked`."""

    question_id: str
    tool_call_id: str
    prompt: str
    secret: bool
    choices: tuple[Choice, ...]
    asked_at: str


class RunState(Wire):
    """A run that goes on, or ended, after its tool call did; `state` "running" until it ends.

    `text` says how it ended; "" while it runs.
    """

    run_id: str
    tool_call_id: str
    path: str
    labels: tuple[str, ...]
    state: str
    text: str
    detached_at: str
    finished_at: str | None


class Transcript(Wire):
    """Everything that a person sees of a session. `last_seq` is the last folded event.

    `questions` are the open ones, whichever turn they came from. `runs` are the detached ones;
    those that have ended are dropped when the next turn starts.
    """

    session_id: str
    title: str
    notebook_path: str | None
    last_seq: int
    turns: tuple[TurnView, ...]
    questions: tuple[QuestionState, ...] = ()
    runs: tuple[RunState, ...] = ()


FINISHED: dict[FinishReason, TurnState] = {
    "done": "done",
    "cancelled": "cancelled",
    "limit": "limit",
    "error": "error",
}
