"""The scripted provider plays exactly its script."""

from __future__ import annotations

import asyncio

import pytest

from vitto_jupyter.errors import ProviderError
from vitto_jupyter.providers.base import (
    Answer,
    Message,
    ModelRequest,
    TextPiece,
    ThinkingPiece,
    TokenUsage,
    ToolInputPiece,
)
from vitto_jupyter.providers.scripted import (
    ScriptedProvider,
    block,
    call,
    fail,
    hold,
    say,
    step,
    think,
)


def request(text: str = "Go.") -> ModelRequest:
    return ModelRequest("m", "s", (), (Message("user", ({"type": "text", "text": text},)),))


async def pieces_of(provider: ScriptedProvider, asked: ModelRequest | None = None) -> list:
    return [piece async for piece in provider.stream(asked or request())]


async def test_pieces_stream_in_order_and_end_with_one_answer() -> None:
    provider = ScriptedProvider([think("Hm", "m."), say("Hel", "lo.")])
    *pieces, answer = await pieces_of(provider)
    assert pieces == [
        ThinkingPiece("Hm"),
        ThinkingPiece("m."),
        TextPiece("Hel"),
        TextPiece("lo."),
    ]
    assert answer == Answer(
        content=(
            {"type": "thinking", "thinking": "Hmm.", "signature": "signed"},
            {"type": "text", "text": "Hello."},
        ),
        stop_reason="end_turn",
        usage=TokenUsage(10, 5),
    )
    provider.assert_finished()


async def test_call_streams_its_input_and_stops_for_tools() -> None:
    provider = ScriptedProvider(call("look", {"path": "a.py"}))
    *pieces, answer = await pieces_of(provider)
    assert all(isinstance(p, ToolInputPiece) and p.tool_call_id == "call_1" for p in pieces)
    assert pieces[0].partial_json == ""
    assert "".join(p.partial_json for p in pieces) == '{"path": "a.py"}'
    assert answer.stop_reason == "tool_use"
    assert answer.content == (
        {"type": "tool_use", "id": "call_1", "name": "look", "input": {"path": "a.py"}},
    )


async def test_calls_are_numbered_through_the_whole_script() -> None:
    provider = ScriptedProvider(
        [call("a", {}), call("b", {}, tool_call_id="mine")], [call("c", {})]
    )
    first, second = await pieces_of(provider), await pieces_of(provider)
    assert [b["id"] for b in first[-1].content] == ["call_1", "mine"]
    assert [b["id"] for b in second[-1].content] == ["call_2"]


async def test_input_that_is_no_json_is_marked_invalid() -> None:
    answer = (await pieces_of(ScriptedProvider(call("look", '{"path": '))))[-1]
    assert answer.content[0]["input"] == {}
    assert answer.invalid_inputs == {"call_1": '{"path": '}


async def test_step_sets_stop_reason_usage_and_detail() -> None:
    made = step(say("x"), stop="refusal", usage=TokenUsage(1, 2, 3, 4), detail="why")
    answer = (await pieces_of(ScriptedProvider(made)))[-1]
    assert (answer.stop_reason, answer.stop_detail) == ("refusal", "why")
    assert answer.usage == TokenUsage(1, 2, 3, 4)


async def test_block_goes_into_the_answer_as_it_is() -> None:
    redacted = {"type": "redacted_thinking", "data": "x"}
    (answer,) = await pieces_of(ScriptedProvider(block(redacted)))
    assert answer.content == (redacted,)


async def test_fault_breaks_the_stream_after_what_came_before() -> None:
    provider = ScriptedProvider([say("Ha"), fail(ProviderError("cut"))])
    seen = []
    with pytest.raises(ProviderError, match="cut"):
        async for piece in provider.stream(request()):
            seen.append(piece)
    assert seen == [TextPiece("Ha")]
    provider.assert_finished()


async def test_hold_pauses_until_its_gate_opens() -> None:
    gate = asyncio.Event()
    stream = ScriptedProvider([say("a"), hold(gate), say("b")]).stream(request())
    assert await anext(stream) == TextPiece("a")
    later = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    assert not later.done()
    gate.set()
    assert await later == TextPiece("b")
    await stream.aclose()


async def test_function_of_the_request_gives_the_answer() -> None:
    provider = ScriptedProvider(lambda asked: say(asked.messages[-1].content[0]["text"]))
    assert (await pieces_of(provider, request("echo")))[0] == TextPiece("echo")


async def test_request_after_the_end_of_the_script_fails() -> None:
    provider = ScriptedProvider(say("Only."))
    await pieces_of(provider)
    with pytest.raises(AssertionError, match="request 2 came after the end"):
        await pieces_of(provider)


async def test_answers_left_over_fail() -> None:
    provider = ScriptedProvider(say("One."), say("Two."))
    await pieces_of(provider)
    with pytest.raises(AssertionError, match="1 answer"):
        provider.assert_finished()


async def test_requests_are_recorded_as_they_were_then() -> None:
    provider = ScriptedProvider(say("x"))
    content = {"type": "text", "text": "before"}
    await pieces_of(provider, ModelRequest("m", "s", (), (Message("user", (content,)),)))
    content["text"] = "after"
    assert provider.requests[0].messages[0].content[0]["text"] == "before"


async def test_it_is_always_available_with_one_model() -> None:
    provider = ScriptedProvider()
    assert (await provider.availability()).available
    assert [model.id for model in await provider.models()] == ["scripted"]
