"""The scripted provider: answers written down beforehand, for tests and plain scripts.

    provider = ScriptedProvider(
        [think("I look."), call("read_file", {"path": "a.py"})],
        say("It is ", "empty."),
    )

Each argument is the answer to one request: a part, several parts, or a function of the
request that gives them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from ..errors import ProviderError
from ..protocol.base import JsonObject
from .base import (
    Answer,
    Availability,
    ModelInfo,
    ModelRequest,
    Piece,
    StopReason,
    TextPiece,
    ThinkingPiece,
    TokenUsage,
    ToolInputPiece,
)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an answer: the pieces that are streamed, then the block they make.

    `fault` is raised in place of going on; `gate` is waited for first. `invalid_input` marks a
    call whose input text was no JSON object.
    """

    pieces: tuple[Piece, ...] = ()
    block: JsonObject | None = None
    fault: ProviderError | None = None
    gate: asyncio.Event | None = None
    invalid_input: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """The answer to one request; `stop` None means "tool_use" with calls, else "end_turn"."""

    parts: tuple[Part, ...]
    stop: StopReason | None = None
    usage: TokenUsage = field(default_factory=lambda: TokenUsage(10, 5))
    detail: str = ""


Parts: TypeAlias = Part | Sequence[Part] | Step
Script: TypeAlias = Parts | Callable[[ModelRequest], Parts]


def say(*texts: str) -> Part:
    """Text; several texts are streamed as several pieces."""
    pieces = tuple(TextPiece(text) for text in texts)
    return Part(pieces=pieces, block={"type": "text", "text": "".join(texts)})


def think(*texts: str, signature: str = "signed") -> Part:
    """Thinking with its signature."""
    block: JsonObject = {"type": "thinking", "thinking": "".join(texts), "signature": signature}
    return Part(pieces=tuple(ThinkingPiece(text) for text in texts), block=block)


def call(name: str, input: JsonObject | str, *, tool_call_id: str = "") -> Part:
    """A tool call; `input` as text is what a model wrote that is no JSON object.

    Without `tool_call_id` the provider numbers its calls: call_1, call_2, …
    """
    text = input if isinstance(input, str) else json.dumps(input)
    halves = (text[: len(text) // 2], text[len(text) // 2 :])
    return Part(
        pieces=tuple(ToolInputPiece(tool_call_id, name, half) for half in ("", *halves)),
        block={
            "type": "tool_use",
            "id": tool_call_id,
            "name": name,
            "input": {} if isinstance(input, str) else input,
        },
        invalid_input=input if isinstance(input, str) else None,
    )


def block(content: JsonObject) -> Part:
    """A block as it is, streamed as nothing, e.g. redacted thinking."""
    return Part(block=content)


def fail(error: ProviderError) -> Part:
    """The stream breaks here."""
    return Part(fault=error)


def hold(gate: asyncio.Event) -> Part:
    """The stream pauses here until `gate` is set."""
    return Part(gate=gate)


def step(
    *parts: Part,
    stop: StopReason | None = None,
    usage: TokenUsage | None = None,
    detail: str = "",
) -> Step:
    """An answer with its own stop reason, usage or stop detail."""
    made = Step(parts, stop=stop, detail=detail)
    return made if usage is None else replace(made, usage=usage)


class ScriptedProvider:
    """Plays a script and records what it was asked in `requests`."""

    name = "scripted"
    label = "Scripted"

    def __init__(self, *script: Script) -> None:
        self.requests: list[ModelRequest] = []
        self._left = list(script)
        self._calls = 0

    async def availability(self) -> Availability:
        return Availability(available=True)

    async def models(self) -> tuple[ModelInfo, ...]:
        return (ModelInfo(id="scripted", label="A script"),)

    async def stream(self, request: ModelRequest) -> AsyncIterator[Piece]:
        """The next answer of the script.

        Raises:
            AssertionError: the script is over.
        """
        self.requests.append(deepcopy(request))
        assert self._left, f"request {len(self.requests)} came after the end of the script"
        script = self._left.pop(0)
        answer = _step(script(request) if callable(script) else script)
        parts = [self._numbered(part) for part in answer.parts]
        for part in parts:
            if part.gate is not None:
                await part.gate.wait()
            for piece in part.pieces:
                yield piece
            if part.fault is not None:
                raise part.fault
        yield _answer(answer, parts)

    def assert_finished(self) -> None:
        """Raises AssertionError when answers are left over."""
        assert not self._left, f"{len(self._left)} answer(s) of the script were not asked for"

    def _numbered(self, part: Part) -> Part:
        if part.block is None or part.block.get("type") != "tool_use" or part.block.get("id"):
            return part
        self._calls += 1
        tool_call_id = f"call_{self._calls}"
        return replace(
            part,
            block={**part.block, "id": tool_call_id},
            pieces=tuple(
                replace(piece, tool_call_id=tool_call_id)
                for piece in part.pieces
                if isinstance(piece, ToolInputPiece)
            ),
        )


def _step(parts: Parts) -> Step:
    if isinstance(parts, Step):
        return parts
    return Step((parts,) if isinstance(parts, Part) else tuple(parts))


def _answer(answer: Step, parts: Sequence[Part]) -> Answer:
    blocks = tuple(part.block for part in parts if part.block is not None)
    has_calls = any(block["type"] == "tool_use" for block in blocks)
    return Answer(
        content=blocks,
        stop_reason=answer.stop or ("tool_use" if has_calls else "end_turn"),
        usage=answer.usage,
        stop_detail=answer.detail,
        invalid_inputs={
            str(part.block["id"]): part.invalid_input
            for part in parts
            if part.block is not None and part.invalid_input is not None
        },
    )
