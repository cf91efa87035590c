"""One tool call: whatever goes wrong becomes a result that the model can act on."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from vitto_jupyter.agent.answers import Call
from vitto_jupyter.agent.calls import CallPorts, run_call
from vitto_jupyter.agent.ports import Answered
from vitto_jupyter.errors import EditConflict, KernelUnavailable
from vitto_jupyter.policy.facts import Facts
from vitto_jupyter.protocol.approval import Change, CommandPreview, DiffPreview
from vitto_jupyter.protocol.tool import ToolResult
from vitto_jupyter.settings import Settings
from vitto_jupyter.testing.doubles import AutoApprover, RecordingSink
from vitto_jupyter.testing.tools import simple_tool
from vitto_jupyter.tools.base import Tool, ToolContext, done
from vitto_jupyter.tools.toolset import Toolset
from vitto_jupyter.workspace.memory import memory_workspace

SETTINGS = Settings(data_dir=Path("unused"))
DIFF = DiffPreview(
    path="a.py", language="python", changes=(Change(label="", cell_id=None, before="", after="x"),)
)


def ports_for(*tools: Tool, **more: object) -> CallPorts:
    settings = more.get("settings", SETTINGS)
    sink = more.get("sink") or RecordingSink()
    approver = more.get("approver") or AutoApprover(sink=sink)
    return CallPorts(
        toolset=Toolset(tools),
        make_context=lambda progress: ToolContext(
            memory_workspace(), settings, None, progress=progress, seen={}
        ),
        mode=more.get("mode", "ask"),
        approver=approver,
        sink=sink,
        settings=settings,
    )


async def run(ports: CallPorts, name: str, input: dict, **more: object) -> ToolResult:
    return await run_call(Call("a", name, input, **more), ports, on_started=lambda: None)


# -- permission ----------------------------------------------------------------------------------


async def test_read_runs_unasked() -> None:
    ports = ports_for(simple_tool("look"))
    assert (await run(ports, "look", {"text": "hi"})).output == "hi"
    assert ports.approver.questions == []
    assert ports.sink.types() == ["tool.started"]


async def test_write_asks_with_preview_and_the_digest_of_what_is_shown() -> None:
    tool = simple_tool("change", "write", preview=DIFF)
    ports = ports_for(tool)
    assert (await run(ports, "change", {"text": "x"})).success
    (question,) = ports.approver.questions
    proposal = await tool.propose(ports.make_context(None), tool.input_model(text="x"))
    assert question.digest == proposal.digest
    assert (question.title, question.preview) == ("change x", DIFF)
    assert question.reason == "It changes a document."
    assert ports.sink.types() == ["approval.requested", "approval.resolved", "tool.started"]


async def test_question_without_preview_shows_its_title_and_hashes_that() -> None:
    tool = simple_tool("run", "execute")

    async def propose(ctx, args):
        return replace(await tool.propose(ctx, args), title="", preview=None)

    ports = ports_for(replace(tool, propose=propose))
    await run(ports, "run", {"text": "x"})
    (question,) = ports.approver.questions
    assert (question.title, question.preview.text) == ("run", "run")
    bare = await propose(ports.make_context(None), tool.input_model(text="x"))
    shown = replace(bare, title=question.title, preview=question.preview)
    assert question.digest == shown.digest != bare.digest


async def test_edited_content_reaches_the_act() -> None:
    approver = AutoApprover([Answered("approve", edited_content="theirs")])
    ports = ports_for(simple_tool("change", "write"), approver=approver)
    assert (await run(ports, "change", {"text": "mine"})).output == "theirs"


async def test_comment_on_an_approval_reaches_the_model() -> None:
    approver = AutoApprover([Answered("approve", comment="but be quick")])
    ports = ports_for(simple_tool("change", "write"), approver=approver)
    result = await run(ports, "change", {"text": "x"})
    assert result.output == "x\n\nThe user approved this and says: but be quick"


async def test_rejection_runs_nothing_and_carries_the_comment() -> None:
    ran = []

    async def act(ctx, text, edited):
        ran.append(text)
        return done("")

    approver = AutoApprover([Answered("reject", comment="Use a copy.")])
    ports = ports_for(simple_tool("run", "execute", act=act), approver=approver)
    result = await run(ports, "run", {"text": "rm"})
    assert ran == [] and not result.success
    assert "Rejected by the user; nothing was changed or run. They say: Use a copy." in result.error
    assert "tool.started" not in ports.sink.types()


@pytest.mark.parametrize("effect", ["write", "execute"])
async def test_plan_mode_refuses_without_asking(effect) -> None:
    ports = ports_for(simple_tool("act", effect), mode="plan")
    result = await run(ports, "act", {"text": "x"})
    assert "Plan mode" in result.error
    assert ports.approver.questions == [] and ports.sink.events == []


async def test_what_counts_is_what_the_proposal_says_not_the_tools_label() -> None:
    """A tool labelled "read" that proposes to run code is asked about."""
    execute = simple_tool("run", "execute")
    ports = ports_for(replace(execute, effect="read"), approver=AutoApprover([Answered("reject")]))
    assert not (await run(ports, "run", {"text": "x"})).success


async def test_approver_that_fails_lets_nothing_run() -> None:
    class Broken:
        async def ask(self, **question):
            raise RuntimeError("no disk")

    ports = ports_for(simple_tool("run", "execute"), approver=Broken())
    assert not (await run(ports, "run", {"text": "x"})).success
    assert ports.sink.events == []


# -- what goes wrong -----------------------------------------------------------------------------


async def test_unknown_tool_names_those_there_are() -> None:
    result = await run(ports_for(simple_tool("look")), "lock", {})
    assert 'no tool "lock"' in result.error and "look" in result.error


@pytest.mark.parametrize("input", [{}, {"text": 3}, {"text": "x", "more": 1}])
async def test_wrong_input_is_told_in_short_words(input: dict) -> None:
    result = await run(ports_for(simple_tool("look")), "look", input)
    assert "does not fit" in result.error and "pydantic" not in result.error.lower()
    assert len(result.error) < 200


async def test_input_that_was_no_json_is_told_with_what_came() -> None:
    ports = ports_for(simple_tool("look"))
    result = await run(ports, "look", {}, invalid_input='{"text": "x' + "y" * 10**6)
    assert "not a JSON object" in result.error and '{"text": "xyy' in result.error
    assert len(result.error) < 600
    assert ports.sink.events == []


async def test_tool_error_gives_message_and_hint() -> None:
    async def act(ctx, text, edited):
        raise EditConflict("The cell changed.", hint="Read it again.")

    result = await run(ports_for(simple_tool("look", act=act)), "look", {"text": ""})
    assert result.error == "The cell changed. Read it again."


async def test_proposal_that_fails_asks_nothing() -> None:
    async def propose(ctx, args):
        raise KernelUnavailable("There is no kernel.")

    ports = ports_for(replace(simple_tool("run", "execute"), propose=propose))
    assert (await run(ports, "run", {"text": ""})).error == "There is no kernel."
    assert ports.approver.questions == [] and ports.sink.events == []


async def test_unexpected_fault_is_logged_with_traceback_and_told_without(caplog) -> None:
    async def act(ctx, text, edited):
        raise ZeroDivisionError("division by zero")

    with caplog.at_level(logging.ERROR):
        result = await run(ports_for(simple_tool("look", act=act)), "look", {"text": ""})
    assert "ZeroDivisionError: division by zero" in result.error
    assert "Traceback" not in result.error and ".py" not in result.error
    assert caplog.records[0].exc_info is not None


async def test_tool_that_returns_no_result_is_a_failed_call() -> None:
    async def act(ctx, text, edited):
        return None

    result = await run(ports_for(simple_tool("look", act=act)), "look", {"text": ""})
    assert not result.success and "fault in Vitto" in result.error


async def test_awaited_thing_that_was_cancelled_elsewhere_is_a_failed_call() -> None:
    async def act(ctx, text, edited):
        gone = asyncio.get_running_loop().create_future()
        gone.cancel()
        await gone
        return done("")

    result = await run(ports_for(simple_tool("look", act=act)), "look", {"text": ""})
    assert "was cancelled" in result.error


async def test_half_surrogate_pairs_in_output_are_replaced() -> None:
    result = await run(ports_for(simple_tool("look")), "look", {"text": "x"})
    assert result.output == "x"

    async def act(ctx, text, edited):
        return done("a\udc80")

    result = await run(ports_for(simple_tool("look", act=act)), "look", {"text": ""})
    assert result.output == "a?"


# -- deadlines and progress ----------------------------------------------------------------------


async def forever(ctx, text, edited):
    await asyncio.Event().wait()
    return done("")


async def test_read_that_does_not_end_says_how_long_it_was_waited_for() -> None:
    ports = ports_for(
        simple_tool("look", act=forever), settings=replace(SETTINGS, read_timeout_s=0.01)
    )
    result = await run(ports, "look", {"text": ""})
    assert "Stopped after 0.01 s: look was at work and had not ended." in result.error


async def test_run_that_does_not_end_meets_the_outer_deadline(monkeypatch) -> None:
    monkeypatch.setattr("vitto_jupyter.agent.calls._GRACE_S", 0.01)
    short = replace(SETTINGS, cell_timeout_s=0.01, command_timeout_s=0.0, read_timeout_s=60)
    ports = ports_for(simple_tool("run", "execute", act=forever), settings=short)
    result = await run(ports, "run", {"text": ""})
    assert "Stopped after 0.02 s" in result.error and "look at what is there" in result.error


async def test_proposal_that_does_not_end_is_stopped_too() -> None:
    async def propose(ctx, args):
        await asyncio.Event().wait()

    ports = ports_for(
        replace(simple_tool("run", "execute"), propose=propose),
        settings=replace(SETTINGS, read_timeout_s=0.01),
    )
    assert "run was looking" in (await run(ports, "run", {"text": ""})).error


async def test_timeout_of_the_tool_itself_is_not_taken_for_the_deadline() -> None:
    async def act(ctx, text, edited):
        raise TimeoutError("socket")

    result = await run(ports_for(simple_tool("look", act=act)), "look", {"text": ""})
    assert "TimeoutError: socket" in result.error


async def test_waiting_for_the_user_has_no_deadline() -> None:
    gate = asyncio.Event()

    class Slow:
        async def ask(self, **question):
            await gate.wait()
            return Answered("approve")

    tiny = replace(SETTINGS, read_timeout_s=0.01, cell_timeout_s=0.01, command_timeout_s=0.01)
    ports = ports_for(simple_tool("change", "write"), approver=Slow(), settings=tiny)
    task = asyncio.create_task(run(ports, "change", {"text": "x"}))
    await asyncio.wait({task}, timeout=0.1)
    assert not task.done()
    gate.set()
    assert (await task).output == "x"


async def test_live_output_is_progress_of_the_call() -> None:
    async def act(ctx, text, edited):
        for piece in ("one", "", "tw\udc80"):
            await ctx.progress(piece)
        return done("end")

    ports = ports_for(simple_tool("look", act=act))
    await run(ports, "look", {"text": ""})
    assert [(e.tool_call_id, e.text) for e in ports.sink.events[1:]] == [("a", "one"), ("a", "tw?")]


async def test_act_has_begun_only_after_it_was_shown() -> None:
    order = []

    class Sink(RecordingSink):
        async def emit(self, event) -> None:
            order.append(event.type)

    async def act(ctx, text, edited):
        order.append("act")
        return done("")

    ports = ports_for(simple_tool("look", act=act), sink=Sink())
    await run_call(
        Call("a", "look", {"text": ""}), ports, on_started=lambda: order.append("started")
    )
    assert order == ["tool.started", "started", "act"]


async def test_preview_is_kept_as_the_tool_made_it() -> None:
    preview = CommandPreview(command="ls", cwd="")
    ports = ports_for(simple_tool("run", "execute", preview=preview))
    await run(ports, "run", {"text": "ls"})
    assert ports.approver.questions[0].preview is preview


async def test_reading_a_secret_asks_in_words_for_people() -> None:
    tool = simple_tool("look")

    async def propose(ctx, args):
        return replace(await tool.propose(ctx, args), facts=Facts("read", ("a/.env",)))

    ports = ports_for(replace(tool, propose=propose))
    await run(ports, "look", {"text": "hi"})
    (question,) = ports.approver.questions
    assert question.title == "Let Vitto read a/.env?"
    assert question.reason and "values are left out" in question.preview.text
