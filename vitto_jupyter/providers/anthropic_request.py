"""The body of a Messages API request. Pure; used by anthropic.py.

Cache marks: one on `system`, which covers the tools too, one on the end of the conversation,
and one where the request before ended, so that all of it is read from the cache however many
blocks the last step added (a mark looks back over 20 blocks only).
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from ..protocol.base import JsonObject
from .base import Message, ModelInfo, ModelRequest, ToolSpec

EFFORTS = ("low", "medium", "high", "xhigh", "max")
FALLBACK_OUTPUT_TOKENS = 8_192
MAX_OUTPUT_TOKENS = 64_000
_THINKING_BUDGET_TOKENS = 8_000
_MARK: JsonObject = {"type": "ephemeral"}

OPTIONAL_FIELDS = ("thinking", "output_config", "eager_input_streaming", "cache_control")
_REFUSALS = (
    "not permitted",
    "not supported",
    "not support",
    "unsupported",
    "not allowed",
    "unknown",
    "unexpected",
    "unrecognized",
)


def build_body(request: ModelRequest, info: ModelInfo, *, without: Set[str]) -> dict[str, Any]:
    """The arguments of `messages.create`; shares the blocks of `request`, changes none.

    Args:
        info: The capabilities of `request.model`; parameters are chosen by them.
        without: Of OPTIONAL_FIELDS, those that the server has refused.
    """
    max_tokens = min(info.output_tokens or FALLBACK_OUTPUT_TOKENS, MAX_OUTPUT_TOKENS)
    cached = "cache_control" not in without
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": max_tokens,
        "messages": _messages(_alternating(request.messages), cached=cached),
    }
    if request.system:
        system: JsonObject = {"type": "text", "text": request.system}
        body["system"] = [_marked(system) if cached else system]
    if request.tools:
        eager = "eager_input_streaming" not in without
        body["tools"] = [_tool(spec, eager=eager) for spec in request.tools]
    thinking = _thinking(info, max_tokens)
    if thinking and "thinking" not in without:
        body["thinking"] = thinking
    effort = fitting_effort(request.effort, info.efforts)
    if effort and "output_config" not in without:
        body["output_config"] = {"effort": effort}
    return body


def fitting_effort(wanted: str | None, efforts: tuple[str, ...]) -> str | None:
    """`wanted`, or the next lower effort that the model has; None when it has none."""
    if wanted not in EFFORTS:
        return None
    allowed = EFFORTS[: EFFORTS.index(wanted) + 1]
    return next((effort for effort in reversed(allowed) if effort in efforts), None)


def refused_fields(status: int | None, message: str, body: dict[str, Any]) -> frozenset[str]:
    """Which optional fields of `body` the server has refused in so many words.

    Servers other than Anthropic's differ in what they take, and have no code for it: only the
    text names the field. What it says about the content of a field (thinking blocks, the
    number of marks) is no refusal of the field.
    """
    said = message.lower()
    if status not in (400, 422) or not any(word in said for word in _REFUSALS):
        return frozenset()
    if "signature" in said or "thinking block" in said or "redacted_thinking" in said:
        return frozenset()
    words = {field: (field,) for field in OPTIONAL_FIELDS} | {"output_config": ("effort",)}
    words["output_config"] += ("output_config",)
    return frozenset(
        field
        for field in OPTIONAL_FIELDS
        if any(word in said for word in words[field]) and _has_field(body, field)
    )


def _has_field(body: dict[str, Any], field: str) -> bool:
    if field == "eager_input_streaming":
        return any(field in tool for tool in body.get("tools", ()))
    return field == "cache_control" or field in body


def _tool(spec: ToolSpec, *, eager: bool) -> dict[str, Any]:
    tool: dict[str, Any] = {
        "name": spec.name,
        "description": spec.description,
        "input_schema": spec.input_schema,
    }
    if spec.stream_input and eager:
        tool["eager_input_streaming"] = True
    return tool


def _thinking(info: ModelInfo, max_tokens: int) -> JsonObject | None:
    if info.thinking == "adaptive":
        # the default display of newer models is no text at all
        return {"type": "adaptive", "display": "summarized"}
    if info.thinking == "enabled" and max_tokens > 2 * _THINKING_BUDGET_TOKENS:
        return {"type": "enabled", "budget_tokens": _THINKING_BUDGET_TOKENS}
    return None


def _alternating(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Neighbouring user messages as one: after a stop two prompts follow each other.

    Anthropic's server joins them itself; others insist on alternating roles. An assistant's
    messages stay as they came: their thinking is bound to what stood before it.
    """
    joined: list[Message] = []
    for message in messages:
        if joined and joined[-1].role == message.role == "user":
            joined[-1] = Message(message.role, (*joined[-1].content, *message.content))
        else:
            joined.append(message)
    return tuple(joined)


def _messages(messages: tuple[Message, ...], *, cached: bool) -> list[dict[str, Any]]:
    marked = {len(messages) - 1, _end_of_request_before(messages)} if cached else set()
    return [
        {
            "role": message.role,
            "content": _marked_last(message.content) if n in marked else list(message.content),
        }
        for n, message in enumerate(messages)
    ]


def _end_of_request_before(messages: tuple[Message, ...]) -> int:
    """Index of the message that the previous request ended with; -1 when this is the first."""
    for n in range(len(messages) - 1, 0, -1):
        if messages[n].role == "assistant" and messages[n - 1].role == "user":
            return n - 1
    return -1


def _marked_last(content: tuple[JsonObject, ...]) -> list[JsonObject]:
    """`content` with a mark on its last block that may carry one."""
    for n in range(len(content) - 1, -1, -1):
        if content[n].get("type") not in ("thinking", "redacted_thinking"):
            return [*content[:n], _marked(content[n]), *content[n + 1 :]]
    return list(content)


def _marked(block: JsonObject) -> JsonObject:
    return {**block, "cache_control": _MARK}
