"""The accumulator: events of a Messages API stream in, pieces and one answer out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from vitto_jupyter.providers.anthropic_stream import AnswerBuilder, parse_event
from vitto_jupyter.providers.base import (
    Answer,
    Piece,
    TextPiece,
    ThinkingPiece,
    TokenUsage,
    ToolInputPiece,
)


def start(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, type: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": type, **fields}}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def end(stop_reason: str | None, **delta: Any) -> list[dict[str, Any]]:
    return [
        {"type": "message_delta", "delta": {"stop_reason": stop_reason, **delta}},
        {"type": "message_stop"},
    ]


def feed(*events: dict[str, Any]) -> tuple[list[Piece], Answer | None]:
    builder = AnswerBuilder()
    pieces = [piece for event in events if (piece := builder.feed(event)) is not None]
    return pieces, builder.answer()


def answer_of(*events: dict[str, Any]) -> Answer:
    answer = feed(*events)[1]
    assert answer is not None
    return answer


def tool_call(*partial_json: str) -> list[dict[str, Any]]:
    call = start(0, type="tool_use", id="toolu_1", name="edit_cell", input={})
    return [call, *(delta(0, "input_json_delta", partial_json=p) for p in partial_json), stop(0)]


def test_text_is_shown_piece_by_piece_and_joined_in_the_answer():
    pieces, answer = feed(
        start(0, type="text", text=""),
        delta(0, "text_delta", text="Hel"),
        delta(0, "text_delta", text="lo"),
        stop(0),
        *end("end_turn"),
    )
    assert pieces == [TextPiece("Hel"), TextPiece("lo")]
    assert answer == Answer(({"type": "text", "text": "Hello"},), "end_turn", TokenUsage())


def test_thinking_keeps_its_signature_and_fields_nobody_knows():
    pieces, answer = feed(
        start(0, type="thinking", thinking="", signature="", novelty={"a": 1}),
        delta(0, "thinking_delta", thinking="Hmm"),
        delta(0, "signature_delta", signature="c2ln"),
        stop(0),
        *end("end_turn"),
    )
    assert pieces == [ThinkingPiece("Hmm")]
    assert answer is not None
    assert answer.content == (
        {"type": "thinking", "thinking": "Hmm", "signature": "c2ln", "novelty": {"a": 1}},
    )


def test_thinking_without_text_keeps_its_block():
    answer = answer_of(
        start(0, type="thinking", thinking="", signature=""),
        delta(0, "signature_delta", signature="c2ln"),
        stop(0),
        *end("end_turn"),
    )
    assert answer.content == ({"type": "thinking", "thinking": "", "signature": "c2ln"},)


def test_blocks_that_arrive_whole_are_kept_as_they_came():
    redacted = {"type": "redacted_thinking", "data": "enc"}
    future = {"type": "from_the_future", "payload": [1, {"x": None}]}
    answer = answer_of(start(0, **redacted), stop(0), start(1, **future), stop(1), *end("end_turn"))
    assert answer.content == (redacted, future)


def test_tool_input_is_announced_streamed_and_parsed_once_it_is_whole():
    pieces, answer = feed(*tool_call('{"cell', '": "a1"}'), *end("tool_use"))
    assert pieces == [
        ToolInputPiece("toolu_1", "edit_cell", ""),
        ToolInputPiece("toolu_1", "edit_cell", '{"cell'),
        ToolInputPiece("toolu_1", "edit_cell", '": "a1"}'),
    ]
    assert answer is not None
    assert answer.content[0]["input"] == {"cell": "a1"}
    assert answer.stop_reason == "tool_use"
    assert answer.invalid_inputs == {}


@pytest.mark.parametrize(
    "written",
    ['{"cell": ', "[1]", "nonsense", '{"x": NaN}', '{"half": "\\ud800"}', "[" * 100_000],
    ids=["cut", "not an object", "not JSON", "NaN", "half a surrogate pair", "nested too deep"],
)
def test_input_that_is_no_json_object_is_reported_and_replaced_by_an_empty_one(written: str):
    answer = answer_of(*tool_call(written), *end("tool_use"))
    assert answer.invalid_inputs == {"toolu_1": written}
    assert answer.content[0]["input"] == {}


def test_input_that_came_whole_with_the_start_of_the_block_is_kept():
    call = start(0, type="tool_use", id="t", name="run", input={"a": 1})
    answer = answer_of(call, stop(0), *end("tool_use"))
    assert answer.content[0]["input"] == {"a": 1}


def test_a_call_without_an_id_gets_the_same_id_in_pieces_and_answer():
    pieces, answer = feed(start(0, type="tool_use", name="run", input={}), *end("tool_use"))
    assert answer is not None and isinstance(pieces[0], ToolInputPiece)
    assert answer.content[0]["id"] == pieces[0].tool_call_id != ""


def test_a_tool_that_the_server_runs_is_not_shown_as_a_call():
    pieces, answer = feed(
        start(0, type="server_tool_use", id="s", name="web_search", input={}),
        delta(0, "input_json_delta", partial_json='{"query": "x"}'),
        stop(0),
        *end("pause_turn"),
    )
    assert pieces == []
    assert answer is not None
    assert answer.content[0]["input"] == {"query": "x"}


def test_unknown_events_deltas_and_indexes_are_passed_over():
    pieces, answer = feed(
        {"type": "content_block_sparkle", "index": 0},
        {},
        start(0, type="text", text=""),
        delta(0, "future_delta", future="x"),
        delta(7, "text_delta", text="nowhere"),
        delta(0, "text_delta", text="ok"),
        *end("end_turn"),
    )
    assert pieces == [TextPiece("ok")]
    assert answer is not None
    assert answer.content == ({"type": "text", "text": "ok"},)


def test_blocks_keep_the_order_of_their_index():
    answer = answer_of(
        start(1, type="text", text="second"), start(0, type="text", text="first"), *end("end_turn")
    )
    assert [block["text"] for block in answer.content] == ["first", "second"]


def test_citations_are_collected():
    answer = answer_of(
        start(0, type="text", text="", citations=None),
        delta(0, "citations_delta", citation={"n": 1}),
        delta(0, "citations_delta", citation={"n": 2}),
        *end("end_turn"),
    )
    assert answer.content[0]["citations"] == [{"n": 1}, {"n": 2}]


def test_later_counts_overwrite_and_missing_ones_stay():
    answer = answer_of(
        {
            "type": "message_start",
            "message": {
                "usage": {
                    "input_tokens": 10,
                    "cache_read_input_tokens": 90,
                    "cache_creation_input_tokens": 5,
                    "output_tokens": 1,
                }
            },
        },
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 42, "input_tokens": None},
        },
    )
    assert answer.usage == TokenUsage(
        input_tokens=10, output_tokens=42, cache_read_tokens=90, cache_write_tokens=5
    )


@pytest.mark.parametrize("message", [{}, {"usage": None}, {"usage": "?"}])
def test_missing_usage_is_zero(message: dict[str, Any]):
    answer = answer_of({"type": "message_start", "message": message}, *end("end_turn"))
    assert answer.usage == TokenUsage()


def test_no_stop_reason_means_no_answer():
    assert feed(start(0, type="text", text="half"), *end(None))[1] is None


def test_a_refusal_says_why():
    answer = answer_of(*end("refusal", stop_details={"category": "cyber", "explanation": "No."}))
    assert (answer.stop_reason, answer.stop_detail) == ("refusal", "No.")


@pytest.mark.parametrize(
    ("given", "meant"),
    [("length", "max_tokens"), ("tool_calls", "tool_use"), ("stop", "end_turn")],
)
def test_words_of_other_servers_for_the_stop_reason_are_understood(given: str, meant: str):
    assert answer_of(*end(given)).stop_reason == meant


def test_half_a_surrogate_pair_is_replaced_so_that_the_text_can_be_stored():
    event = parse_event('{"type": "x", "text": "a\\ud83db \\ud83d\\ude00 \\uD800"}')
    assert event["text"] == "a\ufffdb \U0001f600 \ufffd"
    json.dumps(event, ensure_ascii=False).encode()


@pytest.mark.parametrize("text", ["[DONE]", "[]", "3"])
def test_data_that_is_no_object_is_an_empty_event(text: str):
    assert parse_event(text) == {}
