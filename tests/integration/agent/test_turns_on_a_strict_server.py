"""Whatever a turn ends with, a strict Messages API server accepts the next one.

Over real HTTP, with a model whose thinking is bound to everything before it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from messages_api import MessagesApi

from vitto_jupyter.protocol.events import TextDelta, ThinkingDelta, ToolStarted
from vitto_jupyter.providers.anthropic import AnthropicProvider
from vitto_jupyter.settings import Settings
from vitto_jupyter.testing.doubles import MemoryStore
from vitto_jupyter.testing.requests import check_messages
from vitto_jupyter.testing.tools import simple_tool
from vitto_jupyter.testing.turns import Agent
from vitto_jupyter.tools.base import done
from vitto_jupyter.tools.toolset import Toolset

MODEL = "claude-opus-5-5"
THINKING = {"type": "thinking", "thinking": "Let me see."}
LOOK = {"type": "tool_use", "name": "look", "input": {"text": "a"}}
WAIT = {"type": "tool_use", "name": "wait", "input": {"text": "b"}}
DONE = {"blocks": [THINKING, {"type": "text", "text": "Done."}]}

Serve = Callable[..., tuple[MessagesApi, Agent]]


async def forever(ctx, text, edited):
    await asyncio.Event().wait()
    return done("")


@pytest.fixture
async def serve(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Serve]:
    """Starts a server with the given answers; gives it and an agent that talks to it."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    providers: list[AnthropicProvider] = []
    with ExitStack() as servers:

        def start(*turns: dict[str, Any], **more: Any) -> tuple[MessagesApi, Agent]:
            server = servers.enter_context(MessagesApi({"turns": list(turns)}))
            settings = Settings(data_dir=Path("unused"), base_url=server.base_url, max_retries=2)
            providers.append(AnthropicProvider(settings))
            tools = Toolset((simple_tool("look"), simple_tool("wait", act=forever)))
            agent = Agent(providers[-1], model=MODEL, toolset=tools, settings=settings, **more)
            return server, agent

        yield start
        for provider in providers:
            await provider.close()


async def stop(task: asyncio.Task[Any]) -> None:
    task.cancel()
    async with asyncio.timeout(2):
        with pytest.raises(asyncio.CancelledError):
            await task


async def check_next_turn(server: MessagesApi, agent: Agent) -> None:
    assert (await agent.run("Next.")).reason == "done"
    check_messages(agent.conversation.messages)
    refused = [record for record in server.rejected() if record["status"] == 400]
    assert refused == []
    assert server.stable_prefix() == 1.0


async def test_after_a_stop_while_thinking(serve: Serve) -> None:
    slow = {"blocks": [{"type": "thinking", "thinking": "Long. " * 200}], "tokens_per_s": 50}
    server, agent = serve({"blocks": [THINKING, LOOK]}, slow, DONE)
    task = agent.start()
    await agent.sink.wait_for(ThinkingDelta, count=8)
    await stop(task)
    await check_next_turn(server, agent)


async def test_after_a_stop_while_text_streams(serve: Serve) -> None:
    slow = {"blocks": [THINKING, {"type": "text", "words": 500}], "tokens_per_s": 50}
    server, agent = serve(slow, DONE)
    task = agent.start()
    await agent.sink.wait_for(TextDelta)
    await stop(task)
    await check_next_turn(server, agent)


async def test_after_a_stop_while_tools_run(serve: Serve) -> None:
    server, agent = serve({"blocks": [THINKING, LOOK, WAIT, LOOK]}, DONE)
    task = agent.start()
    await agent.sink.wait_for(ToolStarted, count=3)
    await stop(task)
    await check_next_turn(server, agent)


async def test_after_a_call_that_was_cut_off(serve: Serve) -> None:
    cut = {"blocks": [THINKING, LOOK], "stop_reason": "max_tokens"}
    server, agent = serve(cut, {"blocks": [LOOK]}, DONE, DONE)
    assert (await agent.run()).reason == "done"
    await check_next_turn(server, agent)


async def test_after_a_refusal(serve: Serve) -> None:
    refusal = {
        "blocks": [THINKING, {"type": "text", "text": "I can"}],
        "stop_reason": "refusal",
        "stop_details": {"category": "cyber", "explanation": "Not this."},
    }
    server, agent = serve(refusal, DONE)
    outcome = await agent.run()
    assert (outcome.reason, outcome.error.code) == ("error", "refusal")
    await check_next_turn(server, agent)


async def test_after_an_input_that_was_no_json(serve: Serve) -> None:
    bad = {"blocks": [THINKING, LOOK], "fault": {"kind": "malformed", "how": "bad_tool_json"}}
    server, agent = serve(bad, DONE, DONE)
    assert (await agent.run()).reason == "done"
    assert "not a JSON object" in agent.results()[0]["content"][0]["text"]
    await check_next_turn(server, agent)


async def test_after_a_key_that_expired_within_the_turn(serve: Serve) -> None:
    expired = {**DONE, "fault": {"kind": "http", "status": 401, "times": 1}}
    server, agent = serve({"blocks": [THINKING, LOOK]}, expired)
    outcome = await agent.run()
    assert outcome.reason == "error" and outcome.error.hint
    await check_next_turn(server, agent)


async def test_after_a_stream_that_was_cut_within_a_call(serve: Serve) -> None:
    cut = {
        "blocks": [THINKING, LOOK],
        "fault": {"kind": "cut", "after_events": 6, "times": 1},
    }
    server, agent = serve(cut, DONE, DONE)
    assert (await agent.run()).reason == "done"
    assert len(agent.clock.sleeps) == 1
    await check_next_turn(server, agent)


async def test_after_a_crash_between_call_and_result(serve: Serve) -> None:
    server, agent = serve({"blocks": [THINKING, LOOK, LOOK]}, DONE)
    task = agent.start()
    await agent.sink.wait_for(ToolStarted)
    await stop(task)
    left_on_disk = agent.conversation.messages[:-1]  # as if the results had not been written
    store = MemoryStore.of(left_on_disk)
    again = Agent(
        agent.provider, model=MODEL, toolset=agent.toolset, settings=agent.settings, store=store
    )
    await check_next_turn(server, again)
    assert all("may or may not have run" in r["content"][0]["text"] for r in again.results())


async def test_paused_answer_is_taken_up_again(serve: Serve) -> None:
    search = {
        "type": "server_tool_use",
        "id": "srvtoolu_1",
        "name": "web_search",
        "input": {"query": "x"},
    }
    paused = {"blocks": [THINKING, search], "stop_reason": "pause_turn"}
    server, agent = serve(paused, DONE, DONE)
    assert (await agent.run()).reason == "done"
    await check_next_turn(server, agent)
