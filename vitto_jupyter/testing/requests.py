"""Checks of what is sent to a model: what the Messages API would refuse.

Each returns nothing and raises AssertionError with all that is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise, takewhile

from ..protocol.base import JsonObject
from ..providers.base import Message, ModelRequest

_CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")


def check_messages(messages: Sequence[Message]) -> None:
    """The messages are valid as they stand: a user message may follow, or a request go out."""
    problems = [*_shape(messages), *_pairing(messages)]
    assert not problems, "\n".join(problems)


def check_requests(requests: Sequence[ModelRequest]) -> None:
    """Every request is valid, and each but the first only adds to the one before."""
    problems: list[str] = []
    for number, request in enumerate(requests, start=1):
        found = [*_shape(request.messages), *_pairing(request.messages), *_end(request.messages)]
        problems += [f"request {number}: {problem}" for problem in found]
    for number, (before, after) in enumerate(pairwise(requests), start=2):
        problems += [f"request {number}: {problem}" for problem in _growth(before, after)]
    assert not problems, "\n".join(problems)


def _growth(before: ModelRequest, after: ModelRequest) -> Iterator[str]:
    if after.system != before.system:
        yield "the system prompt changed"
    if after.tools != before.tools:
        yield "the tools changed"
    if after.messages[: len(before.messages)] != before.messages:
        yield "earlier messages changed"


def _end(messages: Sequence[Message]) -> Iterator[str]:
    if not messages:
        yield "no messages"
    elif messages[-1].role == "assistant" and not _is_paused(messages[-1]):
        yield "it ends with an assistant message"


def _is_paused(message: Message) -> bool:
    return any(block.get("type") == "server_tool_use" for block in message.content)


def _shape(messages: Sequence[Message]) -> Iterator[str]:
    if messages and messages[0].role != "user":
        yield "the first message is not the user's"
    for place, message in enumerate(messages):
        if not message.content:
            yield f"message {place} is empty"
        for block in message.content:
            yield from (f"message {place}: {problem}" for problem in _block(message.role, block))


def _block(role: str, block: JsonObject) -> Iterator[str]:
    kind = block.get("type")
    if kind == "text" and not str(block.get("text", "")).strip():
        yield "blank text"
    if kind == "thinking" and not isinstance(block.get("signature"), str):
        yield "thinking without signature"
    if kind in ("thinking", "redacted_thinking", "tool_use") and role != "assistant":
        yield f"{kind} in a user message"
    if kind in ("tool_result", "image") and role != "user":
        yield f"{kind} in an assistant message"
    if kind == "tool_use" and not isinstance(block.get("input"), dict):
        yield "tool input is no object"
    if kind == "tool_use" and not _CALL_ID.fullmatch(str(block.get("id", ""))):
        yield f"tool call id {block.get('id')!r}"
    if kind == "tool_result":
        yield from _result(block)


def _result(block: JsonObject) -> Iterator[str]:
    content = block.get("content")
    for part in content if isinstance(content, list) else []:
        if not isinstance(part, dict):
            yield "a part of a result is no block"
            continue
        yield from _block("user", part)
        if block.get("is_error") and part.get("type") != "text":
            yield "a failed result holds more than text"


def _pairing(messages: Sequence[Message]) -> Iterator[str]:
    turns = [
        (role, [block for message in group for block in message.content])
        for role, group in groupby(messages, lambda message: message.role)
    ]
    used: set[str] = set()
    for place, (role, blocks) in enumerate(turns):
        if role == "user":
            continue
        calls = _ids(blocks, "tool_use", "id")
        if len(set(calls)) < len(calls) or used & set(calls):
            yield f"tool call ids are used twice: {calls}"
        used |= set(calls)
        reply = turns[place + 1][1] if place + 1 < len(turns) else []
        leading = takewhile(lambda block: block.get("type") == "tool_result", reply)
        results = _ids(leading, "tool_result", "tool_use_id")
        if results != calls:
            yield f"calls {calls} are followed by results {results}"
        if _ids(reply, "tool_result", "tool_use_id") != results:
            yield "a result comes after other blocks"
    if turns and turns[0][0] == "user" and _ids(turns[0][1], "tool_result", "tool_use_id"):
        yield "results without a call"


def _ids(blocks: Iterable[JsonObject], kind: str, key: str) -> list[str]:
    return [str(block.get(key)) for block in blocks if block.get("type") == kind]
