"""The one-shot form, as a thin client uses it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from vitto_jupyter.protocol.tool import ToolResult
from vitto_jupyter.providers.scripted import call, hold, say, think
from vitto_jupyter.testing.requests import check_requests
from vitto_jupyter.testing.tools import simple_tool
from vitto_jupyter.tools.base import done
from vitto_jupyter.tools.toolset import Toolset
from vitto_jupyter.workspace.base import Question

from .conftest import messages

WRITE = {"path": "a.txt", "content": "x", "create_if_missing": True}
OWN = {
    "name": "open_tab",
    "description": "Opens a tab.",
    "input_schema": {
        "type": "object",
        "properties": {"url": {"$ref": "#/definitions/url"}},
        "definitions": {"url": {"type": "string"}},
    },
}


@asynccontextmanager
async def one_shot(server, **body):
    async with server.api.stream("POST", "agent-session", json=body) as response:
        assert response.status_code == 200, await response.aread()
        assert response.headers["Content-Type"] == "text/event-stream"
        yield messages(response)


async def told(server, **body) -> list[dict]:
    async with one_shot(server, **body) as stream:
        return [message.data async for message in stream]


async def test_one_post_tells_the_whole_turn(server) -> None:
    server.script(
        [think("Hm."), say("I ", "look."), call("list_files", {"pattern": "*"})], say("Nothing.")
    )
    story = await told(server, message="What is here?", source="test")
    kinds = [entry["type"] for entry in story]
    assert kinds[0] == "thinking"
    assert "".join(e["content"] for e in story if e["type"] == "text") == "I look.Nothing."
    after = kinds.index("tool_use")
    assert kinds[after:] == ["tool_use", "tool_start", "tool_result", "text", "done"]
    use, start, result = story[after : after + 3]
    assert (use["name"], use["input"]) == ("list_files", {"pattern": "*"})
    assert (start["id"], start["name"], start["input"]) == (use["id"], use["name"], use["input"])
    assert (result["id"], result["name"], result["result"]["success"]) == (
        use["id"],
        "list_files",
        True,
    )
    assert story[-1]["summary"] == "Nothing."


async def test_the_event_name_is_the_type_and_pieces_are_live(server) -> None:
    gate = asyncio.Event()
    server.script([say("first"), hold(gate), say("second")])
    async with one_shot(server, message="Go.") as stream:
        message = await anext(stream)
        assert (message.event, message.data["content"]) == ("text", "first")
        gate.set()
        assert (await anext(stream)).data["content"] == "second"


async def test_a_session_can_be_continued(server) -> None:
    provider = server.script(say("One."), say("Two."))
    first = await told(server, message="One?")
    second = await told(server, message="Two?", session_id=first[-1]["session_id"])
    assert second[-1]["summary"] == "Two."
    check_requests(provider.requests)


async def test_tools_of_the_client_are_run_by_the_client(server) -> None:
    provider = server.script(call("open_tab", {"url": "x", "more": 1}), say("Opened."))
    async with one_shot(server, message="Open x.", tools=[OWN]) as stream:
        use = (await anext(stream)).data
        assert (use["type"], use["name"], use["input"]) == (
            "tool_use",
            "open_tab",
            {"url": "x", "more": 1},
        )
        url = f"agent-session/{use['session_id']}/tool-result"
        body = {"tool_use_id": use["id"], "result": "tab 3"}
        assert (await server.api.post(url, json=body)).status_code == 200
        rest = [message.data async for message in stream]
    assert [entry["type"] for entry in rest] == ["tool_result", "text", "done"]
    assert rest[0]["result"]["output"] == "tab 3"
    assert "tab 3" in str(provider.requests[1].messages[-1])
    (spec,) = [tool for tool in provider.requests[0].tools if tool.name == "open_tab"]
    assert spec.input_schema == OWN["input_schema"]


async def test_an_error_of_the_client_is_a_failed_result(server) -> None:
    server.script(call("open_tab", {"url": "x"}), say("Sorry."))
    async with one_shot(server, message="Open x.", tools=[OWN]) as stream:
        use = (await anext(stream)).data
        url = f"agent-session/{use['session_id']}/tool-result"
        body = {"tool_use_id": use["id"], "error": "no window"}
        await server.api.post(url, json=body)
        result = (await anext(stream)).data
    assert (result["result"]["success"], result["result"]["error"]) == (False, "no window")


async def test_our_tools_are_taken_over_by_name(server) -> None:
    (server.root / "a.txt").write_text("on the server")
    server.script(call("read_file", {"path": "a.txt"}), say("Read."))
    async with one_shot(server, message="Read.", tools=["read_file"]) as stream:
        use = (await anext(stream)).data
        assert (use["type"], use["name"]) == ("tool_use", "read_file")
        url = f"agent-session/{use['session_id']}/tool-result"
        body = {"tool_use_id": use["id"], "result": {"success": True, "output": "at the client"}}
        await server.api.post(url, json=body)
        result = (await anext(stream)).data
    assert result["result"]["output"] == "at the client"


async def test_plan_mode_lowers_what_the_client_may_run(server) -> None:
    server.script(call("open_tab", {"url": "x"}), say("I may not."))
    story = await told(server, message="Open x.", tools=[OWN], autonomy_level="plan")
    assert [entry["type"] for entry in story] == ["tool_result", "text", "done"]
    assert story[0]["result"]["success"] is False


async def test_tools_of_the_server_still_ask(server) -> None:
    server.script(call("write_file", WRITE), say("Done."))
    async with one_shot(server, message="Write.") as stream:
        use, question = (await anext(stream)).data, (await anext(stream)).data
        assert (use["type"], question["type"]) == ("tool_use", "approval")
        assert not (server.root / "a.txt").exists()
        url = f"sessions/{question['session_id']}/approvals/{question['approval_id']}"
        await server.api.put(url, json={"decision": "reject", "comment": "No."})
        rest = [message.data async for message in stream]
    assert [entry["type"] for entry in rest] == ["tool_result", "text", "done"]
    assert not (server.root / "a.txt").exists()


async def test_a_question_of_a_call_is_told_and_answered(server) -> None:
    async def act(ctx: Any, text: str, edited: str | None) -> ToolResult:
        choices = (("python3", "Python 3"), ("bash", "Bash"))
        return done(await ctx.ask(Question("Which kernel?", choices=choices)) or "none")

    bench = await server.vitto.services().workbench()
    server.vitto.services()._workbench = replace(
        bench, toolset=Toolset((simple_tool("choose", act=act),))
    )
    server.script(call("choose", {"text": "x"}), say("Done."))
    async with one_shot(server, message="Choose.") as stream:
        told = [(await anext(stream)).data for _ in range(3)]
        question = told[-1]
        assert (question["type"], question["prompt"]) == ("question", "Which kernel?")
        assert question["choices"][1] == {"value": "bash", "label": "Bash"}
        url = f"sessions/{question['session_id']}/questions/{question['question_id']}"
        assert (await server.api.put(url, json={"answer": "bash"})).status_code == 200
        result = (await anext(stream)).data
    assert result["result"]["output"] == "bash"


async def test_a_client_that_does_not_answer_is_not_waited_for_for_ever(start_server) -> None:
    server = await start_server(args=("--VittoApp.command_timeout_s=0.2",))
    server.script(call("open_tab", {"url": "x"}), say("It did not."))
    story = await told(server, message="Open x.", tools=[OWN])
    assert [entry["type"] for entry in story] == ["tool_use", "tool_result", "text", "done"]
    assert "0.2 s" in story[1]["result"]["error"]


async def test_cancel_ends_the_stream(server) -> None:
    server.script([say("a"), hold(asyncio.Event())])
    async with one_shot(server, message="Go.") as stream:
        session_id = (await anext(stream)).data["session_id"]
        stopped = await server.api.post(f"agent-session/{session_id}/cancel")
        assert stopped.json()["cancelled"] is True
        rest = [message.data["type"] async for message in stream]
    assert rest == ["cancelled"]


async def test_the_turn_outlives_a_client_that_leaves(server) -> None:
    gate = asyncio.Event()
    server.script([say("a"), hold(gate), say("b")])
    async with one_shot(server, message="Go.") as stream:
        session_id = (await anext(stream)).data["session_id"]
    gate.set()
    assert (await server.wait_for(session_id, "turn.finished"))["reason"] == "done"


async def test_a_fault_is_told_as_an_error(server) -> None:
    server.script(lambda request: 1 / 0)
    story = await told(server, message="Go.")
    assert [entry["type"] for entry in story] == ["error"]
    assert story[0]["message"]
    assert "division" not in story[0]["message"]


@pytest.mark.parametrize(
    ("tools", "code"),
    [
        (["no_such_tool"], "unknown_tool"),
        (["read_file", "read_file"], "bad_request"),
        ([{"name": "bad name"}], "invalid_body"),
    ],
)
async def test_tools_that_make_no_sense_are_refused(server, tools, code: str) -> None:
    answer = await server.api.post("agent-session", json={"message": "x", "tools": tools})
    assert (answer.status_code, answer.json()["code"]) == (400, code)


async def test_a_second_one_shot_on_a_busy_session_is_refused(server) -> None:
    server.script(call("open_tab", {"url": "x"}), say("Opened."))
    async with one_shot(server, message="Open x.", tools=[OWN]) as stream:
        use = (await anext(stream)).data
        body = {"message": "Me too.", "tools": [OWN], "session_id": use["session_id"]}
        assert (await server.api.post("agent-session", json=body)).status_code == 409
        url = f"agent-session/{use['session_id']}/tool-result"
        answer = {"tool_use_id": use["id"], "result": "ok"}
        assert (await server.api.post(url, json=answer)).status_code == 200
        rest = [message.data["type"] async for message in stream]
    assert rest[-1] == "done"


async def test_other_tools_need_another_session(server) -> None:
    server.script(say("One."))
    first = await told(server, message="One?")
    story = await told(server, message="Two?", session_id=first[-1]["session_id"], tools=[OWN])
    assert [(e["type"], e["code"]) for e in story] == [("error", "tools_changed")]


async def test_a_result_for_a_call_that_is_over_is_refused(server) -> None:
    server.script(call("open_tab", {"url": "x"}), [say("a"), hold(asyncio.Event())])
    async with one_shot(server, message="Open x.", tools=[OWN]) as stream:
        use = (await anext(stream)).data
        url = f"agent-session/{use['session_id']}/tool-result"
        body = {"tool_use_id": use["id"], "result": "one"}
        assert (await server.api.post(url, json=body)).status_code == 200
        assert (await server.api.post(url, json=body)).status_code == 200
        other = await server.api.post(url, json={**body, "result": "two"})
        assert (other.status_code, other.json()["code"]) == (409, "already_answered")
        unknown = await server.api.post(url, json={**body, "tool_use_id": "call_99"})
        assert unknown.status_code == 404
