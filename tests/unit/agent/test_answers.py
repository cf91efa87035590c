"""What of an answer goes into the conversation, and which calls it holds."""

from __future__ import annotations

import pytest

from vitto_jupyter.agent.answers import read_answer
from vitto_jupyter.protocol.base import is_id
from vitto_jupyter.providers.base import Answer, TokenUsage

SIGNED = {"type": "thinking", "thinking": "", "signature": "s"}
UNSIGNED = {"type": "thinking", "thinking": "half a th"}
TEXT = {"type": "text", "text": "Hello"}


def answer_of(*content: dict, stop: str = "end_turn", invalid: dict | None = None) -> Answer:
    return Answer(content, stop, TokenUsage(), invalid_inputs=invalid or {})


def tool_use(tool_call_id: object = "a", **more: object) -> dict:
    return {"type": "tool_use", "id": tool_call_id, "name": "look", "input": {"x": 1}, **more}


def test_blocks_are_the_very_objects_that_came() -> None:
    blocks = (SIGNED, {"type": "redacted_thinking", "data": "zz"}, TEXT, tool_use(caller="c"))
    read = read_answer(answer_of(*blocks, stop="tool_use"), taken=set())
    assert len(read.content) == 4
    assert all(kept is came for kept, came in zip(read.content, blocks, strict=True))


def test_calls_carry_id_name_and_input() -> None:
    (call,) = read_answer(answer_of(tool_use()), taken=set()).calls
    assert (call.tool_call_id, call.name, call.input) == ("a", "look", {"x": 1})
    assert call.invalid_input is None


@pytest.mark.parametrize("text", ["", " \n"])
def test_blank_text_is_left_out(text: str) -> None:
    read = read_answer(answer_of({"type": "text", "text": text}, TEXT), taken=set())
    assert read.content == (TEXT,)


def test_thinking_cut_before_its_signature_is_left_out() -> None:
    read = read_answer(answer_of(SIGNED, UNSIGNED, stop="max_tokens"), taken=set())
    assert read.content == (SIGNED,)


def test_unsigned_thinking_of_a_whole_answer_stays() -> None:
    read = read_answer(answer_of(UNSIGNED, TEXT), taken=set())
    assert read.content == (UNSIGNED, TEXT)


@pytest.mark.parametrize("bad_id", ["", None, "taken", "a b", "x" * 81])
def test_unusable_call_id_is_replaced_in_block_and_call_alike(bad_id: object) -> None:
    read = read_answer(answer_of(tool_use(bad_id)), taken={"taken"})
    new_id = read.content[0]["id"]
    assert is_id(new_id) and new_id != "taken"
    assert read.calls[0].tool_call_id == new_id


def test_second_call_with_the_same_id_gets_its_own() -> None:
    read = read_answer(answer_of(tool_use("a"), tool_use("a")), taken=set())
    ids = [call.tool_call_id for call in read.calls]
    assert ids[0] == "a" and len(set(ids)) == 2


def test_input_that_was_no_json_is_kept_with_its_call() -> None:
    read = read_answer(answer_of(tool_use(), invalid={"a": '{"x": '}), taken=set())
    assert read.calls[0].invalid_input == '{"x": '


def test_half_a_surrogate_pair_in_an_input_is_replaced_for_the_call() -> None:
    read = read_answer(answer_of(tool_use(input={"x": "a\ud800"})), taken=set())
    assert read.calls[0].input == {"x": "a?"}


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(("levels", "is_invalid"), [(60, False), (70, True), (5000, True)])
def test_input_nested_too_deeply_is_not_kept(levels: int, is_invalid: bool) -> None:
    block = {"type": "tool_use", "id": "c1", "name": "n", "input": {"a": nested(levels)}}
    answer = Answer(content=(block,), stop_reason="tool_use", usage=TokenUsage())
    read = read_answer(answer, taken=frozenset())
    assert (read.calls[0].invalid_input is not None) == is_invalid
    assert (read.content[0]["input"] == {}) == is_invalid
