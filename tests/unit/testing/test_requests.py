"""The checker finds what the Messages API would refuse."""

from __future__ import annotations

import pytest

from vitto_jupyter.providers.base import Message, ModelRequest, ToolSpec
from vitto_jupyter.testing.requests import check_messages, check_requests

PROMPT = Message("user", ({"type": "text", "text": "Go."},))
ANSWER = Message("assistant", ({"type": "text", "text": "Done."},))


def use(*ids: str) -> Message:
    blocks = [{"type": "tool_use", "id": i, "name": "look", "input": {}} for i in ids]
    return Message("assistant", tuple(blocks))


def result(tool_call_id: str, **more: object) -> dict:
    return {"type": "tool_result", "tool_use_id": tool_call_id, "content": [], **more}


def results(*ids: str) -> Message:
    return Message("user", tuple(result(i) for i in ids))


def test_valid_conversations_pass() -> None:
    check_messages([])
    check_messages([PROMPT, ANSWER])
    check_messages([PROMPT, use("a", "b"), results("a", "b"), PROMPT, ANSWER])


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([ANSWER], "first message"),
        ([PROMPT, Message("assistant", ())], "is empty"),
        ([Message("user", ({"type": "text", "text": " "},))], "blank text"),
        ([PROMPT, use("a")], "followed by results"),
        ([PROMPT, use("a", "b"), results("a")], "followed by results"),
        ([PROMPT, use("a", "b"), results("b", "a")], "followed by results"),
        ([PROMPT, use("a"), PROMPT, results("a")], "followed by results"),
        ([PROMPT, use("a"), results("a", "b")], "followed by results"),
        ([PROMPT, use("a"), results("a"), use("a"), results("a")], "used twice"),
        ([PROMPT, use("a", "a"), results("a", "a")], "used twice"),
        ([PROMPT, use(""), results("")], "tool call id"),
        ([results("a")], "results without a call"),
        ([PROMPT, ANSWER, results("a")], "followed by results"),
        (
            [
                PROMPT,
                use("a"),
                Message("user", (*results("a").content, *PROMPT.content, result("b"))),
            ],
            "after other blocks",
        ),
        (
            [PROMPT, Message("assistant", ({"type": "thinking", "thinking": "x"},))],
            "without signature",
        ),
        ([Message("user", use("a").content), ANSWER], "tool_use in a user message"),
        (
            [
                PROMPT,
                Message("assistant", ({"type": "tool_use", "id": "a", "name": "x", "input": "s"},)),
                results("a"),
            ],
            "no object",
        ),
        (
            [
                PROMPT,
                use("a"),
                Message("user", (result("a", is_error=True, content=[{"type": "image"}]),)),
            ],
            "more than text",
        ),
        (
            [
                PROMPT,
                use("a"),
                Message("user", (result("a", content=[{"type": "text", "text": ""}]),)),
            ],
            "blank text",
        ),
    ],
)
def test_fault_is_found(messages: list[Message], words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        check_messages(messages)


def request(*messages: Message, system: str = "s", tools: tuple = ()) -> ModelRequest:
    return ModelRequest("m", system, tools, messages)


def test_growing_requests_pass() -> None:
    check_requests([request(PROMPT), request(PROMPT), request(PROMPT, ANSWER, PROMPT)])


@pytest.mark.parametrize(
    ("requests", "words"),
    [
        ([request()], "no messages"),
        ([request(PROMPT, ANSWER)], "ends with an assistant"),
        ([request(PROMPT), request(Message("user", ({"type": "text", "text": "x"},)))], "earlier"),
        ([request(PROMPT, ANSWER, PROMPT), request(PROMPT)], "earlier messages changed"),
        ([request(PROMPT), request(PROMPT, system="t")], "system prompt changed"),
        ([request(PROMPT), request(PROMPT, tools=(ToolSpec("x", "", {}),))], "tools changed"),
    ],
)
def test_fault_between_requests_is_found(requests: list[ModelRequest], words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        check_requests(requests)


def test_paused_answer_may_end_a_request() -> None:
    paused = Message("assistant", ({"type": "server_tool_use", "id": "s", "name": "web_search"},))
    check_requests([request(PROMPT, paused)])
