"""Reading a model's answer: what of it goes into the conversation, which calls it holds. Pure."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from ..protocol.base import JsonObject, is_id, new_id
from ..providers.base import Answer
from .texts import clean_json, is_blank_text, is_deeper

MAX_DEPTH = 64


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as the model wrote it. `invalid_input` is input text that was no JSON object."""

    tool_call_id: str
    name: str
    input: JsonObject
    invalid_input: str | None = None


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """`content` is what the next request may hold of the answer; it may be empty."""

    content: tuple[JsonObject, ...]
    calls: tuple[Call, ...]


def read_answer(answer: Answer, *, taken: Set[str]) -> ReadAnswer:
    """Take an answer apart.

    Blocks stay verbatim, but for what every server refuses to see again: blank text, a last
    thinking block that was cut before its signature, and call ids that are unusable or in
    `taken` (they get a fresh id, or no result could name the call). Nor is an input kept that
    is nested so deeply that it can be neither checked nor written.
    """
    content: list[JsonObject] = []
    calls: list[Call] = []
    used = set(taken)
    for block in _kept(answer):
        if block.get("type") == "tool_use":
            invalid_input = answer.invalid_inputs.get(str(block.get("id")))
            block = _with_usable_id(block, used)
            if is_deeper(block.get("input"), MAX_DEPTH):
                invalid_input = f"(more than {MAX_DEPTH} levels in each other)"
                block = {**block, "input": {}}
            call = _call(block, invalid_input)
            used.add(call.tool_call_id)
            calls.append(call)
        content.append(block)
    return ReadAnswer(tuple(content), tuple(calls))


def _kept(answer: Answer) -> list[JsonObject]:
    blocks = [block for block in answer.content if not is_blank_text(block)]
    was_cut = answer.stop_reason in ("max_tokens", "model_context_window_exceeded")
    while was_cut and blocks and _is_unsigned_thinking(blocks[-1]):
        blocks.pop()
    return blocks


def _is_unsigned_thinking(block: JsonObject) -> bool:
    return block.get("type") == "thinking" and not block.get("signature")


def _with_usable_id(block: JsonObject, used: Set[str]) -> JsonObject:
    tool_call_id = str(block.get("id") or "")
    if is_id(tool_call_id) and tool_call_id not in used:
        return block
    return {**block, "id": new_id("call")}


def _call(block: JsonObject, invalid_input: str | None) -> Call:
    cleaned = clean_json(block.get("input"))
    return Call(
        tool_call_id=str(block["id"]),
        name=str(block.get("name") or ""),
        input=cleaned if isinstance(cleaned, dict) else {},
        invalid_input=invalid_input,
    )
