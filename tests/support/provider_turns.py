"""Requests to a scripted Messages API server, for tests of the provider."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from messages_api import MessagesApi

from vitto_jupyter.protocol.base import JsonObject
from vitto_jupyter.providers.anthropic import AnthropicProvider
from vitto_jupyter.providers.base import (
    Message,
    ModelRequest,
    Piece,
    TextPiece,
    ThinkingPiece,
    ToolInputPiece,
    ToolSpec,
)
from vitto_jupyter.settings import Settings

Serve = Callable[..., MessagesApi]
KEY = "sk-ant-test-0123456789abcdef"
MODEL = "claude-sonnet-5-5"
opened: list[AnthropicProvider] = []


def text(said: str) -> JsonObject:
    return {"type": "text", "text": said}


def request(*messages: Message, model: str = MODEL, **fields: Any) -> ModelRequest:
    """A request with two tools; the prompt is "Hello" unless messages are given."""
    return ModelRequest(
        model=model,
        system=fields.pop("system", "You are a test."),
        tools=(
            ToolSpec("read", "Reads.", {"type": "object", "properties": {}}),
            ToolSpec("edit", "Edits.", {"type": "object", "properties": {}}, stream_input=True),
        ),
        messages=messages or (Message("user", (text("Hello"),)),),
        **fields,
    )


def provider_for(
    server: MessagesApi, *, silence_s: float = 20.0, **settings: Any
) -> AnthropicProvider:
    """A provider for the server; `opened` keeps it, so that a fixture can close it."""
    settings["base_url"] = server.base_url
    opened.append(AnthropicProvider(Settings(**settings), silence_s=silence_s))
    return opened[-1]


async def pieces_of(provider: AnthropicProvider, wanted: ModelRequest | None = None) -> list[Piece]:
    return [piece async for piece in provider.stream(wanted or request())]


def shown(
    pieces: list[Piece], kind: type[TextPiece] | type[ThinkingPiece] | type[ToolInputPiece]
) -> str:
    """What the pieces of one kind say together."""
    return "".join(
        piece.partial_json if isinstance(piece, ToolInputPiece) else piece.text
        for piece in pieces
        if isinstance(piece, kind)
    )
