"""The port of a language model. Imported by agent, services and the providers.

Messages are JSON objects in the shape of the Anthropic Messages API, kept verbatim: what came
back is sent again byte for byte (thinking signatures included), see ARCHITECTURE decision 10.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Literal, Protocol

from ..protocol.base import JsonObject

Role = Literal["user", "assistant"]
StopReason = Literal[
    "end_turn",
    "tool_use",
    "max_tokens",
    "stop_sequence",
    "pause_turn",
    "refusal",
    "model_context_window_exceeded",
]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the conversation; `content` is a list of Messages API blocks, verbatim."""

    role: Role
    content: tuple[JsonObject, ...]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it. `input_schema` is JSON Schema of an object.

    `stream_input`: show the input while it is written (edit tools).
    """

    name: str
    description: str
    input_schema: JsonObject
    stream_input: bool = False


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model of a provider. `efforts` is empty and sizes None when the server does not say."""

    id: str
    label: str
    context_tokens: int | None = None
    output_tokens: int | None = None
    efforts: tuple[str, ...] = ()
    thinking: Literal["adaptive", "enabled", "none"] = "none"
    images: bool = True


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request. `system`, `tools` and all earlier messages are a stable prefix."""

    model: str
    system: str
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]
    effort: str | None = None


@dataclass(frozen=True, slots=True)
class TextPiece:
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingPiece:
    text: str


@dataclass(frozen=True, slots=True)
class ToolInputPiece:
    """A piece of a call's input; the first one of a call may be empty and announces it."""

    tool_call_id: str
    name: str
    partial_json: str


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of one request; `input_tokens` is the uncached rest."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """The end of a stream: the assistant's blocks verbatim, and why it stopped.

    `invalid_inputs` maps tool call ids to input text that was not a JSON object; the block
    then holds `{}`. `stop_detail` is the server's explanation, e.g. of a refusal.
    """

    content: tuple[JsonObject, ...]
    stop_reason: StopReason
    usage: TokenUsage
    stop_detail: str = ""
    invalid_inputs: dict[str, str] = field(default_factory=dict)


Piece = TextPiece | ThinkingPiece | ToolInputPiece | Answer


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a provider can be used now; `reason` and `hint` are for a person."""

    available: bool
    reason: str = ""
    hint: str = ""


class Provider(Protocol):
    """A source of answers. Construction is cheap and imports nothing heavy."""

    name: str
    label: str

    async def availability(self) -> Availability:
        """Whether credentials exist; asks no server. Never raises."""

    async def models(self) -> tuple[ModelInfo, ...]:
        """What can be chosen, best default first.

        Raises:
            ProviderError: the server cannot be reached or refuses.
        """

    def stream(self, request: ModelRequest) -> AsyncIterator[Piece]:
        """Pieces as they come, ending with exactly one Answer.

        Makes one attempt; the loop retries. Closing the iterator closes the connection.

        Raises:
            ProviderError: `retryable` says whether the same request may succeed later. A
                stream that ends without a stop reason is a retryable error, not an Answer.
        """
