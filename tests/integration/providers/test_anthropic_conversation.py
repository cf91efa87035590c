"""Whole turns against the strict server: thinking sent back, a stable prefix, a warm cache."""

from __future__ import annotations

from typing import Any

import pytest
from model_turns import say
from provider_turns import MODEL, Serve, pieces_of, provider_for, request, shown, text

from vitto_jupyter.errors import ProviderError
from vitto_jupyter.providers.base import Answer, Message, ThinkingPiece
from vitto_jupyter.testing.doubles import RecordingSink
from vitto_jupyter.testing.tools import simple_tool
from vitto_jupyter.testing.turns import Agent
from vitto_jupyter.tools.toolset import Toolset

MODELS = ("claude-sonnet-5-5", "claude-opus-5-5", "claude-opus-5", "claude-haiku-4-5")


def think_and_call(number: int, calls: int = 1) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": f"Let me look at part {number}."},
        {"type": "redacted_thinking"},
        {"type": "text", "text": f"I look at part {number}."},
    ]
    blocks += [
        {"type": "tool_use", "name": "read", "input": {"text": f"part {number}.{n}"}}
        for n in range(calls)
    ]
    return {"blocks": blocks}


def agent_on(server: Any, model: str = MODEL) -> Agent:
    tools = [simple_tool("read"), simple_tool("look"), simple_tool("write", "write")]
    return Agent(provider=provider_for(server), model=model, toolset=Toolset(tools))


async def test_thinking_is_shown_where_the_model_can_summarise_it(serve: Serve):
    server = serve({"blocks": [{"type": "thinking", "thinking": "Hmm, so."}, text("Hi")]})
    pieces = await pieces_of(provider_for(server))
    assert shown(pieces, ThinkingPiece) == "Hmm, so."
    assert server.calls()[0]["body"]["thinking"] == {"type": "adaptive", "display": "summarized"}


@pytest.mark.parametrize("model", MODELS)
async def test_thinking_is_sent_back_as_it_came_through_many_steps(serve: Serve, model: str):
    steps = [think_and_call(n, calls=n) for n in range(1, 5)]
    server = serve(*steps, say("Done."), think_and_call(9), say("Done again."))
    agent = agent_on(server, model)
    assert (await agent.run("Look around.")).reason == "done"
    assert (await agent.run("And now?")).reason == "done"
    assert server.rejected() == []
    assert server.warnings() == []
    assert server.stable_prefix() == 1.0
    assert len(server.calls()) == 7


async def test_the_strict_server_does_notice_changed_thinking(serve: Serve):
    """The tests above would be worth nothing if it did not."""
    server = serve(think_and_call(1), say("Done."))
    provider = provider_for(server)
    answer = (await pieces_of(provider))[-1]
    assert isinstance(answer, Answer)
    thinking, *rest = answer.content
    changed = ({**thinking, "thinking": "Something else."}, *rest)
    result = {"type": "tool_result", "tool_use_id": rest[-1]["id"], "content": "x"}
    prompt = Message("user", (text("Hello"),))
    wanted = request(prompt, Message("assistant", changed), Message("user", (result,)))
    with pytest.raises(ProviderError) as caught:
        await pieces_of(provider, wanted)
    assert caught.value.code == "foreign_thinking"
    assert len(server.rejected()) == 1


def cache_share(calls: list[dict[str, Any]]) -> float:
    usage = [call["response"]["usage"] for call in calls]
    read = sum(u["cache_read_input_tokens"] for u in usage)
    rest = sum(u["input_tokens"] + u["cache_creation_input_tokens"] for u in usage)
    return read / (read + rest)


async def test_from_the_second_request_on_nearly_all_input_comes_from_the_cache(serve: Serve):
    steps = [think_and_call(n, calls=1 + 11 * (n == 3)) for n in range(6)]
    server = serve(*steps, say("Done."), *steps, say("Done."))
    agent = agent_on(server)
    await agent.run("Look around. " + "Some context. " * 50)
    first, *later = server.calls()
    assert first["response"]["usage"]["cache_read_input_tokens"] == 0
    assert cache_share(later) >= 0.85
    # a later turn of six steps is warm from its first request
    await agent.run("Once more.")
    second_turn = server.calls()[7:]
    assert len(second_turn) == 7
    assert cache_share(second_turn) >= 0.85
    assert server.stable_prefix() == 1.0
    assert server.rejected() == []


async def test_more_than_twenty_new_blocks_in_a_step_do_not_lose_the_cache(serve: Serve):
    server = serve(think_and_call(1), think_and_call(2, calls=25), say("Done."))
    await agent_on(server).run("Look around.")
    before, after = (call["response"]["usage"] for call in server.calls()[1:])
    in_cache = before["cache_read_input_tokens"] + before["cache_creation_input_tokens"]
    assert after["cache_read_input_tokens"] == in_cache


async def test_a_cut_in_mid_turn_is_withdrawn_and_repeated(serve: Serve):
    broken = {**think_and_call(2), "fault": {"kind": "cut", "after_events": 6, "times": 2}}
    server = serve(think_and_call(1), broken, say("Done."))
    agent = agent_on(server)
    assert (await agent.run()).reason == "done"
    assert isinstance(agent.sink, RecordingSink)
    assert agent.sink.types().count("model.requested") == 5
    assert server.rejected() == []
    assert server.stable_prefix() == 1.0
