"""The request builder: parameters by capability, cache marks, fields that servers refuse."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from vitto_jupyter.protocol.base import JsonObject
from vitto_jupyter.providers.anthropic_request import (
    build_body,
    fitting_effort,
    refused_fields,
)
from vitto_jupyter.providers.base import Message, ModelInfo, ModelRequest, ToolSpec

CLAUDE = ModelInfo(
    id="claude", label="", output_tokens=128_000, efforts=("low", "high"), thinking="adaptive"
)
BARE = ModelInfo(id="qwen", label="")
NOTHING: frozenset[str] = frozenset()


def text(said: str) -> JsonObject:
    return {"type": "text", "text": said}


def conversation(*messages: Message, effort: str | None = None) -> ModelRequest:
    tools = (ToolSpec("read", "reads", {"type": "object"}), ToolSpec("edit", "e", {}, True))
    return ModelRequest(model="m", system="be good", tools=tools, messages=messages, effort=effort)


USER = Message("user", (text("hi"),))
CALL = Message(
    "assistant",
    (
        {"type": "thinking", "thinking": "", "signature": "s"},
        {"type": "tool_use", "id": "t", "name": "read", "input": {}},
    ),
)
RESULT = Message("user", ({"type": "tool_result", "tool_use_id": "t", "content": "x"}, text("y")))


def marks(body: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Where cache marks are: ("system", n), ("tools", n) or (message, block)."""
    found: list[tuple[Any, ...]] = [
        (part, n)
        for part in ("tools", "system")
        for n, block in enumerate(body.get(part, ()))
        if "cache_control" in block
    ]
    for m, message in enumerate(body["messages"]):
        found += [(m, b) for b, block in enumerate(message["content"]) if "cache_control" in block]
    return found


def test_the_first_request_marks_system_and_the_prompt():
    body = build_body(conversation(USER), CLAUDE, without=NOTHING)
    assert marks(body) == [("system", 0), (0, 0)]


def test_a_later_request_also_marks_where_the_one_before_ended():
    messages = (USER, CALL, RESULT, CALL, RESULT)
    body = build_body(conversation(*messages), CLAUDE, without=NOTHING)
    assert marks(body) == [("system", 0), (2, 1), (4, 1)]


def test_a_new_prompt_after_an_answer_finds_the_end_of_the_last_request():
    messages = (USER, CALL, RESULT, Message("assistant", (text("done"),)), USER)
    body = build_body(conversation(*messages), CLAUDE, without=NOTHING)
    assert marks(body) == [("system", 0), (2, 1), (4, 0)]


def test_neighbouring_user_messages_go_out_as_one():
    body = build_body(conversation(USER, CALL, RESULT, USER), CLAUDE, without=NOTHING)
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
    assert marks(body) == [("system", 0), (0, 0), (2, 2)]
    plain = build_body(conversation(RESULT, USER), CLAUDE, without=frozenset({"cache_control"}))
    assert plain["messages"] == [{"role": "user", "content": [*RESULT.content, *USER.content]}]


def test_thinking_never_carries_a_mark():
    paused = Message("assistant", (text("a"), {"type": "thinking", "thinking": ""}))
    body = build_body(conversation(USER, paused), CLAUDE, without=NOTHING)
    assert marks(body) == [("system", 0), (0, 0), (1, 0)]
    only_thinking = Message("assistant", ({"type": "redacted_thinking", "data": "x"},))
    body = build_body(conversation(USER, only_thinking), CLAUDE, without=NOTHING)
    assert marks(body) == [("system", 0), (0, 0)]


def test_the_given_messages_are_left_as_they_are():
    messages = (USER, CALL, RESULT)
    before = copy.deepcopy(messages)
    build_body(conversation(*messages), CLAUDE, without=NOTHING)
    assert messages == before


def test_only_the_marks_differ_from_the_given_messages():
    messages = (USER, CALL, RESULT)
    body = build_body(conversation(*messages), CLAUDE, without=frozenset({"cache_control"}))
    assert body["messages"] == [{"role": m.role, "content": list(m.content)} for m in messages]
    assert marks(body) == []


def test_input_is_streamed_for_the_tools_that_show_it():
    body = build_body(conversation(USER), CLAUDE, without=NOTHING)
    assert body["tools"] == [
        {"name": "read", "description": "reads", "input_schema": {"type": "object"}},
        {"name": "edit", "description": "e", "input_schema": {}, "eager_input_streaming": True},
    ]


def test_parameters_follow_the_capabilities():
    body = build_body(conversation(USER, effort="high"), CLAUDE, without=NOTHING)
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert body["output_config"] == {"effort": "high"}
    assert body["max_tokens"] == 64_000


def test_a_model_of_unknown_capabilities_gets_plain_parameters():
    body = build_body(conversation(USER, effort="high"), BARE, without=NOTHING)
    assert body.keys() == {"model", "max_tokens", "messages", "system", "tools"}
    assert body["max_tokens"] == 8_192


def test_an_older_model_thinks_within_a_budget_below_its_output_limit():
    old = ModelInfo(id="old", label="", output_tokens=64_000, thinking="enabled")
    body = build_body(conversation(USER), old, without=NOTHING)
    assert body["thinking"]["budget_tokens"] < body["max_tokens"]
    small = ModelInfo(id="old", label="", output_tokens=4_096, thinking="enabled")
    assert "thinking" not in build_body(conversation(USER), small, without=NOTHING)


@pytest.mark.parametrize("field", ["thinking", "output_config", "eager_input_streaming"])
def test_a_refused_field_is_left_out(field: str):
    request = conversation(USER, effort="low")
    assert field in str(build_body(request, CLAUDE, without=NOTHING))
    assert field not in str(build_body(request, CLAUDE, without=frozenset({field})))


@pytest.mark.parametrize(
    ("wanted", "offered", "sent"),
    [
        ("max", ("low", "medium", "high"), "high"),
        ("medium", ("low", "medium", "high"), "medium"),
        ("low", ("medium", "high"), None),
        ("high", (), None),
        (None, ("low",), None),
        ("silly", ("low",), None),
    ],
)
def test_the_effort_is_the_nearest_that_does_not_exceed_the_wish(
    wanted: str | None, offered: tuple[str, ...], sent: str | None
):
    assert fitting_effort(wanted, offered) == sent


@pytest.mark.parametrize(
    ("said", "fields"),
    [
        ("thinking: Extra inputs are not permitted", {"thinking"}),
        ("adaptive thinking is not supported on this model", {"thinking"}),
        ("This model does not support the effort parameter.", {"output_config"}),
        ("output_config: unknown field", {"output_config"}),
        (
            "tools.1.eager_input_streaming: Extra inputs are not permitted",
            {"eager_input_streaming"},
        ),
        ("Unsupported: system.0.cache_control", {"cache_control"}),
        ("messages.1: Invalid `signature` in `thinking` block is not supported", set()),
        ("thinking blocks are not allowed here", set()),
        ("A maximum of 4 blocks with cache_control may be provided.", set()),
        ("tools: Tool names must be unique.", set()),
    ],
)
def test_a_refusal_names_the_fields_to_leave_out(said: str, fields: set[str]):
    body = build_body(conversation(USER, effort="low"), CLAUDE, without=NOTHING)
    assert refused_fields(400, said, body) == fields


def test_only_a_bad_request_refuses_fields_and_only_those_that_were_sent():
    body = build_body(conversation(USER), BARE, without=NOTHING)
    assert refused_fields(400, "thinking: not supported", body) == frozenset()
    assert refused_fields(500, "cache_control: not supported", body) == frozenset()
