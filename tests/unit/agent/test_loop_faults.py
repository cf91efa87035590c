"""Faults of the model's server: tried again where that may help, told where not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from vitto_jupyter.errors import ProviderError
from vitto_jupyter.protocol.context import TurnContext
from vitto_jupyter.protocol.events import ModelRequested, Notice, TextDelta, TurnStarted
from vitto_jupyter.protocol.fold import fold_all
from vitto_jupyter.providers.scripted import ScriptedProvider, call, fail, say, think
from vitto_jupyter.settings import Settings
from vitto_jupyter.testing.requests import check_messages, check_requests
from vitto_jupyter.testing.tools import simple_tool
from vitto_jupyter.testing.turns import Agent
from vitto_jupyter.tools.toolset import Toolset

SETTINGS = Settings(data_dir=Path("unused"), max_retries=3)
OVERLOADED = ProviderError("The server is overloaded.", code="overloaded", retryable=True)
NO_KEY = ProviderError(
    "The key was refused.", code="authentication", hint="Set ANTHROPIC_API_KEY.", retryable=False
)


def agent_of(*script, settings: Settings = SETTINGS) -> Agent:
    tools = Toolset((simple_tool("look"), simple_tool("change", "write")))
    return Agent(ScriptedProvider(*script), toolset=tools, settings=settings)


def check(agent: Agent) -> None:
    agent.provider.assert_finished()
    check_requests(agent.provider.requests)
    check_messages(agent.conversation.messages)


async def test_fault_that_may_pass_is_waited_out_in_sight_of_the_user() -> None:
    agent = agent_of(fail(OVERLOADED), fail(OVERLOADED), say("Hi."))
    assert (await agent.run()).reason == "done"
    assert agent.sink.types() == [
        "model.requested",
        "notice",
        "model.requested",
        "notice",
        "model.requested",
        "text.delta",
        "usage.updated",
    ]
    attempts = [(e.request, e.attempt) for e in agent.sink.of(ModelRequested)]
    assert attempts == [(1, 1), (1, 2), (1, 3)]
    first, second = agent.clock.sleeps
    assert 1 <= first < 1.25 and 2 <= second < 2.5
    check(agent)


async def test_notice_is_a_countdown_to_the_next_attempt() -> None:
    slow = ProviderError("Too many requests.", code="rate_limit", retryable=True, retry_after_s=3)
    agent = agent_of(fail(slow), say("Hi."))
    await agent.run()
    (notice,) = agent.sink.of(Notice)
    assert (notice.level, notice.code, notice.text) == (
        "warning",
        "retrying",
        "Too many requests.",
    )
    assert notice.retry_at == "2026-01-01T00:00:03.000Z"
    assert agent.clock.sleeps == [3]
    check(agent)


async def test_nothing_of_a_broken_attempt_is_kept_or_run() -> None:
    agent = agent_of(
        [think("Hm."), say("I wri"), call("change", {"text": "half"}), fail(OVERLOADED)],
        say("Whole."),
    )
    await agent.run()
    assert agent.approver.questions == []
    assert agent.provider.requests[0].messages == agent.provider.requests[1].messages
    assert [b["text"] for b in agent.conversation.messages[1].content] == ["Whole."]
    check(agent)


async def test_viewer_sees_only_the_attempt_that_held() -> None:
    agent = agent_of(
        [call("look", {"text": "a"})],
        [say("Broken "), call("look", {"text": "b"}), fail(OVERLOADED)],
        say("Whole."),
    )
    await agent.run()
    started = TurnStarted(
        prompt="Go.", mode="ask", context=TurnContext(), provider="scripted", model="scripted"
    )
    stamped = [
        event.model_copy(update={"seq": n, "turn_id": "t"})
        for n, event in enumerate([started, *agent.sink.events], start=1)
    ]
    (turn,) = fold_all("s", stamped).turns
    assert [b.type for b in turn.blocks] == ["tool", "text"]
    assert turn.blocks[1].text == "Whole."


async def test_fault_that_stays_ends_the_turn_and_keeps_the_prompt() -> None:
    agent = agent_of(*[fail(OVERLOADED)] * 4, say("Hi."))
    outcome = await agent.run()
    assert (outcome.reason, outcome.error.code) == ("error", "overloaded")
    assert outcome.error.message == "The server is overloaded. It was tried 4 times."
    assert "Your prompt is kept" in outcome.error.hint
    assert len(agent.clock.sleeps) == 3
    await agent.run("Again.", previous="error")
    check(agent)
    texts = [b["text"] for m in agent.conversation.messages for b in m.content]
    assert texts[0] == "Go." and texts[1].startswith("<note>") and texts[2] == "Again."


async def test_each_request_has_its_own_retries() -> None:
    faults = [fail(OVERLOADED)] * 3
    agent = agent_of(*faults, [call("look", {"text": "a"})], *faults, say("Hi."))
    assert (await agent.run()).reason == "done"
    check(agent)


async def test_wrong_key_is_told_at_once_with_its_hint() -> None:
    agent = agent_of(fail(NO_KEY))
    outcome = await agent.run()
    assert outcome.reason == "error"
    assert (outcome.error.code, outcome.error.message, outcome.error.hint) == (
        "authentication",
        "The key was refused.",
        "Set ANTHROPIC_API_KEY.",
    )
    assert agent.clock.sleeps == []
    check(agent)


async def test_key_that_expires_within_a_turn_leaves_results_and_a_valid_conversation() -> None:
    agent = agent_of([call("look", {"text": "a"})], fail(NO_KEY), say("Hi."))
    assert (await agent.run()).reason == "error"
    assert agent.results()[0]["content"][0]["text"] == "a"
    await agent.run("Again.", previous="error")
    check(agent)


async def test_wait_that_would_be_too_long_is_not_begun() -> None:
    tomorrow = ProviderError("Used up.", code="rate_limit", retryable=True, retry_after_s=86_400)
    agent = agent_of(fail(tomorrow))
    outcome = await agent.run()
    assert outcome.error.message == "Used up."
    assert agent.clock.sleeps == []


async def test_waiting_for_one_request_is_limited_in_all() -> None:
    slow = ProviderError("Busy.", code="rate_limit", retryable=True, retry_after_s=100)
    agent = agent_of(*[fail(slow)] * 4, settings=replace(SETTINGS, max_retries=9))
    assert (await agent.run()).reason == "error"
    assert agent.clock.sleeps == [100, 100, 100]
    check(agent)


async def test_stream_that_just_ends_counts_as_a_fault() -> None:
    class Ending(ScriptedProvider):
        async def stream(self, request):
            async for piece in super().stream(request):
                if len(self.requests) == 1 and not hasattr(piece, "text"):
                    return
                yield piece

    agent = agent_of()
    agent.provider = Ending(say("Ha"), say("Whole."))
    assert (await agent.run()).reason == "done"
    assert agent.sink.of(Notice)[0].code == "retrying"
    assert [e.text for e in agent.sink.of(TextDelta)] == ["Ha", "Whole."]
    check(agent)


@pytest.mark.parametrize("retries", [0, 1])
async def test_retries_follow_the_settings(retries: int) -> None:
    settings = replace(SETTINGS, max_retries=retries)
    agent = agent_of(*[fail(OVERLOADED)] * (retries + 1), settings=settings)
    assert (await agent.run()).reason == "error"
    check(agent)


async def test_programming_error_of_a_provider_is_not_hidden() -> None:
    agent = agent_of()  # a script without answers
    with pytest.raises(AssertionError, match="after the end of the script"):
        await agent.run()
    check_messages(agent.conversation.messages)
