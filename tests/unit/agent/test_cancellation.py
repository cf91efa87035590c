"""Stop, in every phase: no call goes on, every call has a result, the next turn works."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from vitto_jupyter.errors import ProviderError
from vitto_jupyter.protocol.events import (
    ApprovalRequested,
    ModelRequested,
    Notice,
    TextDelta,
    ToolFinished,
    ToolInputDelta,
    ToolStarted,
)
from vitto_jupyter.providers.scripted import ScriptedProvider, call, fail, hold, say, think
from vitto_jupyter.settings import Settings
from vitto_jupyter.testing.doubles import AutoApprover, FakeClock, MemoryStore, RecordingSink
from vitto_jupyter.testing.requests import check_messages, check_requests
from vitto_jupyter.testing.tools import simple_tool
from vitto_jupyter.testing.turns import Agent
from vitto_jupyter.tools.base import done
from vitto_jupyter.tools.toolset import Toolset

SETTINGS = Settings(data_dir=Path("unused"))


async def forever(ctx, text, edited):
    await asyncio.Event().wait()
    return done("")


TOOLS = Toolset(
    (
        simple_tool("look"),
        simple_tool("wait", act=forever),
        simple_tool("run", "execute", act=forever),
        simple_tool("change", "write"),
    )
)


def agent_of(*script, **more) -> Agent:
    provider = ScriptedProvider(*script, say("Next answer."))
    return Agent(provider, toolset=more.pop("toolset", TOOLS), settings=SETTINGS, **more)


async def stop(task: asyncio.Task) -> None:
    task.cancel()
    async with asyncio.timeout(2):
        with pytest.raises(asyncio.CancelledError):
            await task


async def check_next_turn(agent: Agent) -> None:
    """The next turn works, is told of the stop, and every request was valid."""
    check_messages(agent.conversation.messages)
    assert agent.store.messages == list(agent.conversation.messages)
    assert (await agent.run("Next.", previous="cancelled")).reason == "done"
    assert "The user stopped" in agent.conversation.messages[-2].content[0]["text"]
    agent.provider.assert_finished()
    check_requests(agent.provider.requests)


def texts(agent: Agent) -> list[str]:
    return [result["content"][0]["text"] for result in agent.results()]


async def test_stop_while_waiting_for_the_model() -> None:
    agent = agent_of([hold(asyncio.Event()), say("Late.")])
    task = agent.start()
    await agent.sink.wait_for(ModelRequested)
    await stop(task)
    assert [m.role for m in agent.conversation.messages] == ["user"]
    await check_next_turn(agent)


async def test_stop_while_text_streams_drops_the_partial_answer() -> None:
    agent = agent_of([think("Hm."), say("Half"), hold(asyncio.Event())])
    task = agent.start()
    await agent.sink.wait_for(TextDelta)
    await stop(task)
    assert [m.role for m in agent.conversation.messages] == ["user"]
    await check_next_turn(agent)


async def test_stop_while_an_input_streams_runs_nothing() -> None:
    agent = agent_of([call("look", {"text": "a"}), hold(asyncio.Event())])
    task = agent.start()
    await agent.sink.wait_for(ToolInputDelta)
    await stop(task)
    assert "tool.requested" not in agent.sink.types()
    await check_next_turn(agent)


async def test_stop_closes_the_connection_to_the_model() -> None:
    closed = []

    class Closing(ScriptedProvider):
        async def stream(self, request):
            try:
                async for piece in super().stream(request):
                    yield piece
            finally:
                closed.append(True)

    agent = agent_of()
    agent.provider = Closing([say("Half"), hold(asyncio.Event())])
    task = agent.start()
    await agent.sink.wait_for(TextDelta)
    await stop(task)
    assert closed == [True]


async def test_stop_while_a_retry_is_waited_for() -> None:
    class SlowClock(FakeClock):
        async def sleep(self, seconds: float) -> None:
            await asyncio.Event().wait()

    agent = agent_of(fail(ProviderError("Overloaded.", retryable=True)), clock=SlowClock())
    task = agent.start()
    await agent.sink.wait_for(Notice)
    await stop(task)
    await check_next_turn(agent)


async def test_stop_while_the_user_is_asked_runs_nothing() -> None:
    class Slow(AutoApprover):
        async def ask(self, **question):
            await self.sink.emit(
                ApprovalRequested(approval_id="x", **question)  # stays open
            )
            await asyncio.Event().wait()

    sink = RecordingSink()
    calls = [call("change", {"text": "a"}), call("change", {"text": "b"})]
    agent = agent_of(calls, sink=sink, approver=Slow(sink=sink))
    task = agent.start()
    await sink.wait_for(ApprovalRequested)
    await stop(task)
    assert texts(agent) == ["Not run: the user stopped the turn before this call began."] * 2
    assert "tool.started" not in sink.types()
    agent.approver = AutoApprover()
    await check_next_turn(agent)


async def test_stop_while_a_tool_runs_says_that_it_had_begun() -> None:
    agent = agent_of(
        [call("look", {"text": "a"}), call("run", {"text": "b"}), call("run", {"text": "c"})]
    )
    task = agent.start()
    await agent.sink.wait_for(ToolStarted, count=2)
    await asyncio.sleep(0)
    await stop(task)
    first, second, third = texts(agent)
    assert first == "a"
    assert second.startswith("Stopped by the user while it ran.")
    assert third.startswith("Not run")
    await check_next_turn(agent)


async def test_stopped_calls_are_shown_as_cancelled() -> None:
    agent = agent_of([call("look", {"text": "a"}), call("run", {"text": "b"})])
    task = agent.start()
    await agent.sink.wait_for(ToolStarted, count=2)
    await stop(task)
    shown = [(e.tool_call_id, e.result.metadata) for e in agent.sink.of(ToolFinished)]
    assert shown == [("call_1", {}), ("call_2", {"cancelled": True})]


async def test_stop_while_reads_run_side_by_side_keeps_what_was_there() -> None:
    calls = [call("wait", {"text": "a"}), call("look", {"text": "b"}), call("wait", {"text": "c"})]
    agent = agent_of(calls)
    task = agent.start()
    await agent.sink.wait_for(ToolFinished)
    await agent.sink.wait_for(ToolStarted, count=3)
    await stop(task)
    assert texts(agent)[1] == "b"
    assert all("Stopped by the user" in texts(agent)[n] for n in (0, 2))
    await check_next_turn(agent)


async def test_tool_is_awaited_until_it_has_cleaned_up() -> None:
    cleaned = []

    async def tidy(ctx, text, edited):
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(5):
                await asyncio.sleep(0)
            cleaned.append(True)
        return done("")

    agent = agent_of(
        [call("tidy", {"text": ""})], toolset=Toolset((simple_tool("tidy", act=tidy),))
    )
    task = agent.start()
    await agent.sink.wait_for(ToolStarted)
    await asyncio.sleep(0)
    await stop(task)
    assert cleaned == [True]
    await check_next_turn(agent)


async def test_tool_that_swallows_the_stop_does_not_keep_the_turn_alive() -> None:
    async def stubborn(ctx, text, edited):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return done("I go on.")

    tools = Toolset((simple_tool("stubborn", "execute", act=stubborn), simple_tool("look")))
    calls = [call("stubborn", {"text": ""}), call("look", {"text": "a"})]
    agent = agent_of(calls, toolset=tools)
    task = agent.start()
    await agent.sink.wait_for(ToolStarted)
    await asyncio.sleep(0)
    await stop(task)
    assert len(agent.sink.of(ToolStarted)) == 1
    assert len(texts(agent)) == 2
    await check_next_turn(agent)


async def test_two_stops_leave_one_result_for_each_call() -> None:
    gate = asyncio.Event()

    class SlowStore(MemoryStore):
        async def append(self, messages) -> None:
            if messages[0].content[0]["type"] == "tool_result":
                await gate.wait()
            await super().append(messages)

    agent = agent_of([call("run", {"text": "a"})], store=SlowStore())
    task = agent.start()
    await agent.sink.wait_for(ToolStarted)
    for _ in range(10):
        task.cancel()
        await asyncio.sleep(0)
    gate.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(texts(agent)) == 1
    await check_next_turn(agent)


@pytest.mark.parametrize("kind", ["tool_use", "tool_result"])
async def test_stop_while_the_conversation_is_written(kind: str) -> None:
    gate, reached = asyncio.Event(), asyncio.Event()

    class SlowStore(MemoryStore):
        async def append(self, messages) -> None:
            if messages[0].content[0]["type"] == kind:
                reached.set()
                await gate.wait()
            await super().append(messages)

    agent = agent_of([call("look", {"text": "a"})], store=SlowStore())
    task = agent.start()
    await reached.wait()
    task.cancel()
    await asyncio.sleep(0)
    gate.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    await check_next_turn(agent)


async def test_stop_while_a_result_is_being_shown_shows_it_once() -> None:
    gate, reached = asyncio.Event(), asyncio.Event()

    class SlowSink(RecordingSink):
        async def emit(self, event) -> None:
            if isinstance(event, ToolFinished):
                reached.set()
                await gate.wait()
            await super().emit(event)

    agent = agent_of([call("look", {"text": "a"})], sink=SlowSink())
    task = agent.start()
    await reached.wait()
    task.cancel()
    await asyncio.sleep(0)
    gate.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [e.result.output for e in agent.sink.of(ToolFinished)] == texts(agent) == ["a"]
    await check_next_turn(agent)


async def test_full_disk_while_stopping_does_not_hide_the_stop() -> None:
    agent = agent_of([call("run", {"text": "a"})])
    task = agent.start()
    await agent.sink.wait_for(ToolStarted)
    agent.store.fault = OSError(28, "No space left on device")
    await stop(task)
    agent.store.fault = None
    assert (await agent.run("Next.", previous="cancelled")).reason == "done"
    check_requests(agent.provider.requests)
    assert "may or may not have run" in texts(agent)[0]


async def test_stop_at_every_moment_leaves_a_valid_conversation() -> None:
    """Cancels after 1, 2, 3, … rounds of the event loop until the turn is too short for it."""
    rounds, finished = 0, False
    while not finished:
        rounds += 1
        agent = agent_of(
            [
                think("Hm."),
                say("I look."),
                call("look", {"text": "a"}),
                call("look", {"text": "b"}),
            ],
            [call("change", {"text": "c"}), call("look", {"text": "d"})],
            say("Done."),
        )
        task = agent.start()
        for _ in range(rounds):
            await asyncio.sleep(0)
        finished = task.done()
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled() != finished
        check_messages(agent.conversation.messages)
        assert agent.store.messages == list(agent.conversation.messages)
        shown = {e.tool_call_id for e in agent.sink.of(ToolFinished)}
        assert shown == {r["tool_use_id"] for r in agent.results()}
        check_requests(agent.provider.requests)
    assert rounds > 20
