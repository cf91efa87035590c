"""A turn: what is shown, in which order, and what every stop reason leads to."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from vitto_jupyter.agent.asking import SLICE_S
from vitto_jupyter.agent.loop import MAX_CUTS
from vitto_jupyter.agent.ports import Answered
from vitto_jupyter.errors import StorageFailed
from vitto_jupyter.protocol.events import Notice, ToolFinished, ToolRequested, UsageUpdated
from vitto_jupyter.providers.base import Message, ModelRequest, Piece, TokenUsage
from vitto_jupyter.providers.scripted import ScriptedProvider, block, call, say, step, think
from vitto_jupyter.settings import Settings
from vitto_jupyter.testing.doubles import AutoApprover, MemoryStore, RecordingSink
from vitto_jupyter.testing.requests import check_messages, check_requests
from vitto_jupyter.testing.tools import simple_tool
from vitto_jupyter.testing.turns import Agent
from vitto_jupyter.tools.base import done, failed
from vitto_jupyter.tools.toolset import Toolset

SETTINGS = Settings(data_dir=Path("unused"))


async def broken(ctx, text, edited):
    return failed("It does not work.")


TOOLS = Toolset(
    (
        simple_tool("look"),
        simple_tool("change", "write"),
        simple_tool("run", "execute"),
        simple_tool("broken", act=broken),
    )
)


def agent_of(*script, **more) -> Agent:
    return Agent(ScriptedProvider(*script), toolset=more.pop("toolset", TOOLS), **more)


def check(agent: Agent) -> None:
    """What must hold after every turn."""
    agent.provider.assert_finished()
    check_requests(agent.provider.requests)
    check_messages(agent.conversation.messages)
    assert agent.store.messages == list(agent.conversation.messages)


# -- what is shown -------------------------------------------------------------------------------


async def test_answer_in_text_ends_the_turn() -> None:
    agent = agent_of(say("Hel", "lo."))
    outcome = await agent.run("Hi.")
    assert (outcome.reason, outcome.error) == ("done", None)
    assert [m.role for m in agent.conversation.messages] == ["user", "assistant"]
    assert agent.sink.types() == ["model.requested", "text.delta", "text.delta", "usage.updated"]
    check(agent)


async def test_events_of_a_turn_with_tools_come_in_this_order() -> None:
    sink = RecordingSink()
    agent = agent_of(
        [think("Hm", "m."), say("I look."), call("look", {"text": "a"})],
        [call("change", {"text": "b"})],
        say("Done."),
        sink=sink,
        approver=AutoApprover(sink=sink),
    )
    assert (await agent.run()).reason == "done"
    shown = [
        (e.type, getattr(e, "tool_call_id", getattr(e, "text", getattr(e, "request", ""))))
        for e in sink.events
    ]
    assert shown == [
        ("model.requested", 1),
        ("thinking.delta", "Hm"),
        ("thinking.delta", "m."),
        ("text.delta", "I look."),
        ("tool.input_delta", "call_1"),
        ("tool.input_delta", "call_1"),
        ("tool.input_delta", "call_1"),
        ("usage.updated", ""),
        ("tool.requested", "call_1"),
        ("tool.started", "call_1"),
        ("tool.finished", "call_1"),
        ("model.requested", 2),
        ("tool.input_delta", "call_2"),
        ("tool.input_delta", "call_2"),
        ("tool.input_delta", "call_2"),
        ("usage.updated", ""),
        ("tool.requested", "call_2"),
        ("approval.requested", "call_2"),
        ("approval.resolved", ""),
        ("tool.started", "call_2"),
        ("tool.finished", "call_2"),
        ("model.requested", 3),
        ("text.delta", "Done."),
        ("usage.updated", ""),
    ]
    check(agent)


async def test_requested_call_shows_its_input_and_effect() -> None:
    agent = agent_of([call("change", {"text": "b"}), call("nothing", {"x": 1})], say("Done."))
    await agent.run()
    shown = [(e.name, e.input, e.effect) for e in agent.sink.of(ToolRequested)]
    assert shown == [("change", {"text": "b"}, "write"), ("nothing", {"x": 1}, "read")]


class BusyProvider(ScriptedProvider):
    """Pieces that never wait, each taking as long as the loop may go without a pause."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[Piece]:
        async for piece in super().stream(request):
            until = time.monotonic() + 1.1 * SLICE_S
            while time.monotonic() < until:
                pass
            yield piece


async def test_server_gets_to_run_between_the_pieces_of_a_fast_stream() -> None:
    ticks = []

    async def tick() -> None:
        while True:
            ticks.append(len(agent.sink.events))
            await asyncio.sleep(0)

    agent = agent_of()
    agent.provider = BusyProvider(say(*"abcdefgh"))
    ticker = asyncio.create_task(tick())
    await agent.run()
    ticker.cancel()
    assert len(set(ticks)) >= 8


async def test_usage_is_the_total_of_the_turn() -> None:
    agent = agent_of(
        step(call("look", {"text": ""}), usage=TokenUsage(100, 10, 1000, 50)),
        step(say("Done."), usage=TokenUsage(20, 7, 1150, 0)),
    )
    await agent.run()
    last = agent.sink.of(UsageUpdated)[-1]
    assert (last.input_tokens, last.output_tokens) == (120, 17)
    assert (last.cache_read_tokens, last.cache_write_tokens) == (2150, 50)


async def test_request_carries_model_effort_and_the_frozen_prefix() -> None:
    agent = agent_of(say("Hi."), effort="high")
    await agent.run()
    (request,) = agent.provider.requests
    assert (request.model, request.effort) == ("scripted", "high")
    assert request.system == agent.conversation.system
    assert request.tools == TOOLS.specs


async def test_plan_mode_is_told_to_the_model_and_holds() -> None:
    agent = agent_of([call("change", {"text": "x"})], say("I would change x."), mode="plan")
    assert (await agent.run()).reason == "done"
    assert "Plan mode is on" in agent.conversation.messages[0].content[0]["text"]
    assert agent.results()[0]["is_error"] and agent.approver.questions == []
    check(agent)


async def test_context_stands_in_front_of_the_prompt() -> None:
    agent = agent_of(say("Hi."))
    await agent.run("Go.", context="<context>x</context>")
    assert [b["text"] for b in agent.conversation.messages[0].content] == [
        "<context>x</context>",
        "Go.",
    ]


# -- what is kept --------------------------------------------------------------------------------


async def test_answers_are_kept_verbatim_with_thinking_and_unknown_fields() -> None:
    redacted = {"type": "redacted_thinking", "data": "opaque", "future": {"x": [1]}}
    agent = agent_of(
        [think("", signature="sig=="), block(redacted), call("look", {"text": "é\n"})],
        say("Done."),
    )
    await agent.run()
    content = agent.conversation.messages[1].content
    assert content[0] == {"type": "thinking", "thinking": "", "signature": "sig=="}
    assert content[1] == redacted
    check(agent)


async def test_results_come_in_one_message_in_the_order_of_the_calls() -> None:
    calls = [call("look", {"text": text}) for text in "abc"]
    agent = agent_of([*calls, call("change", {"text": "d"})], say("Done."))
    await agent.run()
    message = agent.conversation.messages[2]
    assert [b["tool_use_id"] for b in message.content] == ["call_1", "call_2", "call_3", "call_4"]
    assert [b["content"][0]["text"] for b in message.content] == list("abcd")
    check(agent)


async def test_second_turn_only_adds_to_the_first() -> None:
    agent = agent_of([call("look", {"text": "a"})], say("One."), say("Two."))
    await agent.run("First.")
    await agent.run("Second.", previous="done")
    check(agent)
    assert len(agent.provider.requests) == 3


async def test_turn_after_a_crash_first_closes_what_was_open() -> None:
    crashed = [
        Message("user", ({"type": "text", "text": "Go."},)),
        Message("assistant", ({"type": "tool_use", "id": "x", "name": "look", "input": {}},)),
    ]
    agent = agent_of(say("Hi."), store=MemoryStore.of(crashed))
    await agent.run("Again.")
    check(agent)
    assert "may or may not have run" in agent.results()[0]["content"][0]["text"]


# -- calls of one step ---------------------------------------------------------------------------


async def test_reads_of_a_step_run_side_by_side() -> None:
    meeting = asyncio.Barrier(3)

    async def meet(ctx, text, edited):
        await meeting.wait()  # passes only when three are here at the same time
        return done(text)

    tools = Toolset((simple_tool("meet", act=meet),))
    agent = agent_of([call("meet", {"text": t}) for t in "abc"], say("Done."), toolset=tools)
    async with asyncio.timeout(5):
        await agent.run()
    check(agent)


async def test_reads_side_by_side_are_bounded() -> None:
    running, most = set(), []

    async def work(ctx, text, edited):
        running.add(text)
        most.append(len(running))
        for _ in range(5):
            await asyncio.sleep(0)
        running.remove(text)
        return done(text)

    tools = Toolset((simple_tool("work", act=work),))
    calls = [call("work", {"text": str(n)}) for n in range(30)]
    agent = agent_of(calls, say("Done."), toolset=tools)
    await agent.run()
    assert 1 < max(most) <= 8
    check(agent)


async def test_effects_keep_their_order_and_reads_do_not_pass_them() -> None:
    order = []

    def noting(name, effect, rounds):
        async def act(ctx, text, edited):
            order.append(f"+{text}")
            for _ in range(rounds):
                await asyncio.sleep(0)
            order.append(f"-{text}")
            return done(text)

        return simple_tool(name, effect, act=act)

    tools = Toolset(
        (noting("see", "read", 1), noting("do", "write", 9), noting("go", "execute", 1))
    )
    names = [("see", "1"), ("do", "2"), ("go", "3"), ("see", "4"), ("see", "5"), ("do", "6")]
    agent = agent_of([call(n, {"text": t}) for n, t in names], say("Done."), toolset=tools)
    await agent.run()
    assert order[:6] == ["+1", "-1", "+2", "-2", "+3", "-3"]
    assert order[6:8] == ["+4", "+5"] and sorted(order[8:10]) == ["-4", "-5"]
    assert order[10:] == ["+6", "-6"]
    check(agent)


async def test_rejected_call_does_not_keep_the_others_from_running() -> None:
    approver = AutoApprover([Answered("reject", comment="No.")])
    agent = agent_of(
        [call("change", {"text": "a"}), call("change", {"text": "b"})],
        say("Done."),
        approver=approver,
    )
    assert (await agent.run()).reason == "done"
    assert [r.get("is_error", False) for r in agent.results()] == [True, False]
    check(agent)


@pytest.mark.parametrize(
    "bad",
    [
        call("nothing", {"x": 1}),
        call("look", {"text": 1}),
        call("look", '{"text": "cut'),
        call("look", "x" * 10**6),
        call("look", {"text": "a"}, tool_call_id="a b!"),
        call("look", {"text": json.loads("[" * 400 + "]" * 400)}),
    ],
    ids=["unknown tool", "wrong type", "no json", "a megabyte", "unusable id", "nested"],
)
async def test_bad_call_becomes_a_result_and_the_turn_goes_on(bad) -> None:
    agent = agent_of([bad, call("look", {"text": "good"})], say("Done."))
    assert (await agent.run()).reason == "done"
    assert len(agent.results()) == 2
    assert agent.results()[1]["content"][0]["text"] == "good"
    check(agent)


async def test_shown_result_is_the_one_the_model_gets() -> None:
    agent = agent_of([call("broken", {"text": ""})], say("Done."))
    await agent.run()
    (shown,) = agent.sink.of(ToolFinished)
    assert agent.results()[0]["content"][0]["text"] == shown.result.error == "It does not work."


# -- stop reasons --------------------------------------------------------------------------------


async def test_stop_sequence_ends_like_a_normal_answer() -> None:
    agent = agent_of(step(say("Hi."), stop="stop_sequence"))
    assert (await agent.run()).reason == "done"
    check(agent)


async def test_tool_use_without_calls_ends_the_turn() -> None:
    agent = agent_of(step(say("Hi."), stop="tool_use"))
    assert (await agent.run()).reason == "done"
    check(agent)


async def test_pause_is_sent_back_as_it_is() -> None:
    search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    agent = agent_of(step(say("I search."), block(search), stop="pause_turn"), say("Found."))
    assert (await agent.run()).reason == "done"
    last = agent.provider.requests[1].messages[-1]
    assert last.role == "assistant" and last.content[-1] == search
    check(agent)


async def test_cut_answer_goes_on_where_it_stopped() -> None:
    agent = agent_of(step(say("Half"), stop="max_tokens"), say("Rest."))
    assert (await agent.run()).reason == "done"
    assert "smaller pieces" in agent.conversation.messages[2].content[0]["text"]
    assert agent.sink.of(Notice)[0].code == "cut_off"
    check(agent)


async def test_call_in_a_cut_answer_never_runs() -> None:
    ran = []

    async def act(ctx, text, edited):
        ran.append(text)
        return done("")

    tools = Toolset((simple_tool("save", "write", act=act),))
    agent = agent_of(
        step(say("I save."), call("save", {"text": "half"}), stop="max_tokens"),
        [call("save", {"text": "whole"})],
        say("Done."),
        toolset=tools,
    )
    assert (await agent.run()).reason == "done"
    assert ran == ["whole"]
    reply = agent.conversation.messages[2]
    assert [b["type"] for b in reply.content] == ["tool_result", "text"]
    assert "cut off" in reply.content[0]["content"][0]["text"]
    first = agent.sink.of(ToolFinished)[0]
    assert not first.result.success and "Not run" in first.result.error
    check(agent)


async def test_answer_cut_again_and_again_ends_at_a_limit() -> None:
    cut = step(call("change", {"text": "x"}), stop="max_tokens")
    agent = agent_of(*[cut] * (MAX_CUTS + 1), say("Later."))
    outcome = await agent.run()
    assert (outcome.reason, outcome.error.code) == ("limit", "output_limit")
    assert outcome.error.hint
    check_messages(agent.conversation.messages)
    await agent.run("Go on.", previous="limit")
    check(agent)


async def test_cut_with_nothing_written_is_asked_to_go_on() -> None:
    unsigned = {"type": "thinking", "thinking": "half"}
    agent = agent_of(step(block(unsigned), stop="max_tokens"), say("Done."))
    assert (await agent.run()).reason == "done"
    check(agent)


async def test_refusal_ends_with_the_models_words_and_stays_out_of_the_conversation() -> None:
    agent = agent_of(
        step(say("I can"), stop="refusal", detail="It is about weapons."), say("Sure.")
    )
    outcome = await agent.run()
    assert (outcome.reason, outcome.error.code) == ("error", "refusal")
    assert "It is about weapons." in outcome.error.message and outcome.error.hint
    assert [m.role for m in agent.conversation.messages] == ["user"]
    await agent.run("Something else.", previous="error")
    check(agent)


async def test_full_context_ends_at_a_limit_and_runs_no_call() -> None:
    agent = agent_of(
        step(say("Half"), call("change", {"text": "x"}), stop="model_context_window_exceeded")
    )
    outcome = await agent.run()
    assert (outcome.reason, outcome.error.code) == ("limit", "context_full")
    assert "new session" in outcome.error.hint
    assert agent.approver.questions == []
    check(agent)


@pytest.mark.parametrize("stop", ["end_turn", "stop_sequence", "pause_turn"])
async def test_calls_run_on_tool_use_alone(stop) -> None:
    agent = agent_of(step(call("change", {"text": "x"}), stop=stop), say("Done."))
    assert (await agent.run()).reason == "done"
    assert agent.approver.questions == []
    assert "Not run" in agent.results()[0]["content"][0]["text"]
    check(agent)


async def test_model_that_never_hands_over_ends_at_a_limit() -> None:
    agent = agent_of(*[step(call("look", {"text": "x"}), stop="end_turn")] * (MAX_CUTS + 1))
    outcome = await agent.run()
    assert (outcome.reason, outcome.error.code) == ("limit", "unrun_calls")
    check(agent)


async def test_stop_reason_from_the_future_ends_with_an_error_and_a_valid_conversation() -> None:
    agent = agent_of(step(say("Hm."), call("look", {"text": ""}), stop="nap"), say("Hi."))
    outcome = await agent.run()
    assert (outcome.reason, outcome.error.code) == ("error", "unknown_stop_reason")
    assert "nap" in outcome.error.message
    await agent.run("Go on.", previous="error")
    check(agent)


async def test_empty_answer_is_said_and_leaves_no_empty_message() -> None:
    agent = agent_of(step(), say("Hi."))
    assert (await agent.run()).reason == "done"
    assert agent.sink.of(Notice)[0].code == "empty_answer"
    await agent.run("Well?", previous="done")
    check(agent)


# -- limits --------------------------------------------------------------------------------------


async def test_requests_of_a_turn_are_limited() -> None:
    agent = agent_of(
        *[[call("look", {"text": str(n)})] for n in range(3)],
        say("Later."),
        settings=replace(SETTINGS, max_requests_per_turn=3),
    )
    outcome = await agent.run()
    assert (outcome.reason, outcome.error.code) == ("limit", "request_limit")
    assert "3 requests" in outcome.error.message and "go on" in outcome.error.hint
    await agent.run("Go on.", previous="limit")
    check(agent)


async def test_call_that_keeps_failing_is_pointed_out_then_ends_the_turn() -> None:
    same = [call("broken", {"text": "x"})]
    agent = agent_of(same, same, same, same)
    outcome = await agent.run()
    assert (outcome.reason, outcome.error.code) == ("limit", "same_failure")
    texts = [r["content"][0]["text"] for r in agent.results()]
    assert "failed 3 times" not in texts[1]
    assert "failed 3 times" in texts[2]
    assert texts[3].startswith("Not run")
    check(agent)


async def test_model_that_takes_the_hint_goes_on() -> None:
    same = [call("broken", {"text": "x"})]
    agent = agent_of(same, same, same, [call("broken", {"text": "y"})], say("It cannot be done."))
    assert (await agent.run()).reason == "done"
    check(agent)


# -- notes on an unfinished turn -----------------------------------------------------------------


async def test_turn_after_a_limit_is_told_of_it() -> None:
    agent = agent_of(
        [call("look", {"text": "a"})],
        say("Hi."),
        settings=replace(SETTINGS, max_requests_per_turn=1),
    )
    await agent.run()
    await agent.run("Go on.", previous="limit")
    texts = [b["text"] for b in agent.conversation.messages[-2].content]
    assert texts[0].startswith("<note>Your previous turn was ended at a limit")
    assert texts[1] == "Go on."
    check(agent)


# -- storage -------------------------------------------------------------------------------------


async def test_full_disk_ends_the_turn_and_it_works_again_once_there_is_space() -> None:
    agent = agent_of(say("Hi."))
    agent.store.fault = OSError(28, "No space left on device")
    outcome = await agent.run()
    assert (outcome.reason, outcome.error.code) == ("error", "storage_failed")
    assert agent.provider.requests == []
    agent.store.fault = None
    assert (await agent.run("Again.", previous="error")).reason == "done"
    check(agent)


async def test_disk_that_fills_up_while_tools_run_leaves_a_valid_next_turn() -> None:
    async def fill(ctx, text, edited):
        agent.store.fault = OSError(28, "No space left on device")
        return done("full")

    tools = Toolset((simple_tool("fill", act=fill),))
    agent = agent_of([call("fill", {"text": ""})], say("Hi."), toolset=tools)
    assert (await agent.run()).error.code == "storage_failed"
    agent.store.fault = None
    assert (await agent.run("Again.", previous="error")).reason == "done"
    check(agent)


async def test_answer_that_could_not_be_saved_gets_no_results() -> None:
    class Hiccup(MemoryStore):
        async def append(self, messages) -> None:
            fails = messages[0].role == "assistant" and len(self.messages) == 1
            self.fault = OSError(5, "Input/output error") if fails else None
            await super().append(messages)

    agent = agent_of([call("change", {"text": "a"})], say("Hi."), store=Hiccup())
    assert (await agent.run()).error.code == "storage_failed"
    assert agent.approver.questions == []
    assert [m.role for m in agent.conversation.messages] == ["user"]
    await agent.run("Again.", previous="error")
    check(agent)


async def test_trail_that_cannot_be_written_ends_the_turn_with_results_kept() -> None:
    class FullSink(RecordingSink):
        async def emit(self, event) -> None:
            if event.type == "tool.finished":
                raise StorageFailed("The trail could not be written.")
            await super().emit(event)

    agent = agent_of([call("look", {"text": "a"}), call("change", {"text": "b"})], sink=FullSink())
    outcome = await agent.run()
    assert (outcome.reason, outcome.error.code) == ("error", "storage_failed")
    texts = [r["content"][0]["text"] for r in agent.results()]
    assert texts == ["a", "Not run: the turn broke off before this call began."]
    check(agent)
