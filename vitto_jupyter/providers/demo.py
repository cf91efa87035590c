"""The demo provider: not a language model, a fixed plan that does a real job with real tools.

Used when no key is configured, so that a person can see the product work: it reads the open
notebook, inserts and runs a cell, plots a DataFrame it finds, or proposes the fix of a failing
cell. Deterministic: the next reply is a function of the conversation alone.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator

from ..protocol.base import JsonObject
from .base import (
    Answer,
    Availability,
    ModelInfo,
    ModelRequest,
    Piece,
    TextPiece,
    TokenUsage,
    ToolInputPiece,
)
from .demo_plans import Reply, read_turn, reply_to

_PACE_S = 0.012


class DemoProvider:
    """Replies from `demo_plans`, word by word, `pace_s` seconds apart."""

    name = "demo"
    label = "Demo, not a language model"

    def __init__(self, *, pace_s: float = _PACE_S) -> None:
        self._pace_s = pace_s

    async def availability(self) -> Availability:
        return Availability(available=True)

    async def models(self) -> tuple[ModelInfo, ...]:
        return (ModelInfo(id="demo", label="Fixed demo plan", images=False),)

    async def stream(self, request: ModelRequest) -> AsyncIterator[Piece]:
        reply = reply_to(read_turn(request.messages))
        for word in re.findall(r"\S+\s*|\s+", reply.text):
            yield TextPiece(word)
            await asyncio.sleep(self._pace_s)
        content, pieces = _blocks(reply, first_id=len(request.messages))
        for piece in pieces:
            yield piece
        yield Answer(
            content=content,
            stop_reason="tool_use" if reply.calls else "end_turn",
            usage=TokenUsage(),
        )


def _blocks(
    reply: Reply, *, first_id: int
) -> tuple[tuple[JsonObject, ...], tuple[ToolInputPiece, ...]]:
    """The reply as Messages API blocks, and the pieces that announce its calls."""
    content: list[JsonObject] = [{"type": "text", "text": reply.text}] if reply.text else []
    pieces: list[ToolInputPiece] = []
    for number, (name, tool_input) in enumerate(reply.calls):
        call_id = f"demo_{first_id}_{number}"
        content.append({"type": "tool_use", "id": call_id, "name": name, "input": tool_input})
        pieces.append(ToolInputPiece(call_id, name, json.dumps(tool_input)))
    return tuple(content), tuple(pieces)
