"""Bodies of the HTTP surface: what clients send and what they get back."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from .base import ID_PATTERN, JsonObject, Wire
from .context import Diagnostic, TurnContext
from .events import Mode
from .tool import ToolResult

Id = Annotated[str, Field(pattern=ID_PATTERN)]
Title = Annotated[str, Field(min_length=1, max_length=200)]
Prompt = Annotated[str, Field(min_length=1, max_length=400_000)]


class CreateSession(Wire):
    title: Title | None = None
    notebook_path: Annotated[str, Field(max_length=4096)] | None = None


class PatchSession(Wire):
    title: Title


class Attachment(Wire):
    """An image that goes with the prompt; base64."""

    media_type: Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
    data: Annotated[str, Field(max_length=7_000_000)]


class StartTurn(Wire):
    """`turn_id`, when the client makes it, makes the request safe to repeat.

    `provider`, `model` and `effort` override the settings for this and later turns of the
    session; null keeps what the session has.
    """

    prompt: Prompt
    context: TurnContext = TurnContext()
    attachments: Annotated[tuple[Attachment, ...], Field(max_length=10)] = ()
    mode: Mode = "ask"
    turn_id: Id | None = None
    provider: str | None = None
    model: str | None = None
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None


class AnswerQuestion(Wire):
    """Body of `PUT sessions/{id}/questions/{question_id}`; null: the user will not answer."""

    answer: Annotated[str, Field(max_length=100_000)] | None


class SessionCreatedReply(Wire):
    session_id: str


class TurnStartedReply(Wire):
    turn_id: str


class CancelReply(Wire):
    """`still_running` names what goes on after the stop, e.g. a busy kernel; may be empty."""

    cancelled: bool
    still_running: tuple[str, ...]


class ModelChoice(Wire):
    id: str
    label: str
    efforts: tuple[str, ...]
    context_tokens: int | None


class ProviderInfo(Wire):
    """A provider in the menu. `reason` says why it is not available, "" when it is."""

    name: str
    label: str
    available: bool
    reason: str
    hint: str
    models: tuple[ModelChoice, ...]


class ProvidersReply(Wire):
    """`provider`, `model` and `effort` are what a new turn would use."""

    providers: tuple[ProviderInfo, ...]
    provider: str
    model: str
    effort: str | None


# -- hosts: front ends that hold documents ------------------------------------------------------


class HeldDocument(Wire):
    """A document open in a front end; `problems` counts what its own linters report.

    `revision` changes with the content, also unsaved: of a text file its `revision_of`, of a
    notebook that of all cell ids, types and sources; "" when it was not computed.
    """

    path: str
    type: Literal["notebook", "file"]
    dirty: bool
    revision: Annotated[str, Field(max_length=64)] = ""
    active: bool = False
    problems: int = 0


class RegisterHost(Wire):
    """Body of `PUT hosts/{host_id}`: all documents that this front end holds now."""

    kind: Literal["lab"] = "lab"
    documents: Annotated[tuple[HeldDocument, ...], Field(max_length=500)]
    diagnostics: Annotated[tuple[Diagnostic, ...], Field(max_length=500)] = ()
    closing: bool = False


class HostCall(Wire):
    """Something the server asks a front end to do with a document it holds."""

    call_id: str
    method: str
    params: JsonObject


class HostCallsReply(Wire):
    calls: tuple[HostCall, ...]


class HostAnswer(Wire):
    """Body of `PUT hosts/{host_id}/calls/{call_id}`: a value, or an error with a code."""

    value: JsonObject | None = None
    error_code: str | None = None
    error: str | None = None


# -- the one-shot form --------------------------------------------------------------------------


class ClientTool(Wire):
    """A tool that the client itself runs."""

    name: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")]
    description: str = ""
    input_schema: JsonObject = Field(default_factory=dict)


class AgentSession(Wire):
    """Body of `POST agent-session`. `tools` names tools run by the client: ours to take over,
    by name, or its own, in full. `autonomy_level` can only lower what the server allows."""

    message: Prompt
    session_id: Id | None = None
    context: TurnContext = TurnContext()
    tools: Annotated[tuple[str | ClientTool, ...], Field(max_length=64)] = ()
    source: Annotated[str, Field(max_length=100)] = ""
    autonomy_level: Mode = "ask"


class AgentToolResult(Wire):
    """Body of `POST agent-session/{id}/tool-result`."""

    tool_use_id: Id
    result: str | ToolResult | None = None
    error: str | None = None
