"""The scripted server itself: tests rest on what it refuses, so it must refuse."""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import messages_api
import pytest
from model_turns import say
from provider_turns import KEY, Serve

HEADERS = {"authorization": f"Bearer {KEY}", "anthropic-version": "2026-10-21"}
CALL = {"type": "tool_use", "id": "t1", "name": "read", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "x"}
GOOD: dict[str, Any] = {
    "model": "claude-sonnet-5-5",
    "max_tokens": 100,
    "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}],
    "tools": [{"name": "read", "description": "d", "input_schema": {"type": "object"}}],
    "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [CALL]},
        {"role": "user", "content": [RESULT]},
    ],
}


def post(server: messages_api.MessagesApi, body: dict[str, Any]) -> httpx.Response:
    return httpx.post(f"{server.base_url}/v1/messages", json=body, headers=HEADERS)


def test_a_good_request_is_answered(serve: Serve):
    server = serve(say("Hello."))
    assert post(server, GOOD).json()["content"] == [{"type": "text", "text": "Hello."}]
    assert server.rejected() == []


def _set(*path: Any, to: Any) -> Callable[[dict[str, Any]], None]:
    def change(body: dict[str, Any]) -> None:
        place: Any = body
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = to

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_set("temperature", to=1), "temperature: Extra inputs"),
        (_set("max_tokens", to=10**6), "maximum allowed number of output tokens"),
        (_set("messages", to=[]), "at least one message"),
        (_set("messages", 0, "role", to="assistant"), "first message"),
        (_set("messages", 0, "content", to=" "), "non-empty"),
        (_set("messages", 2, "content", to="no result"), "without `tool_result` blocks"),
        (_set("messages", 2, "content", 0, "tool_use_id", to="t9"), "without `tool_result`"),
        (_set("messages", 1, "content", 0, "index", to=1), "index: Extra inputs"),
        (_set("messages", 1, "content", to=[{"type": "thinking", "thinking": "x",
                                            "signature": "made up"}, CALL]), "Invalid `signature`"),
        (_set("thinking", to={"type": "enabled", "budget_tokens": 1}), "not supported"),
        (_set("tools", 0, "name", to="no spaces"), "String should match pattern"),
        (_set("tools", 0, "input_schema", to={}), "Input should be 'object'"),
        (_set("system", 0, "text", to=""), "empty text blocks"),
        (_set("messages", 2, "content", to=[RESULT] + [{"type": "text", "text": "a",
              "cache_control": {"type": "ephemeral"}}] * 4), "maximum of 4 blocks"),
    ],
)  # fmt: skip
def test_what_the_real_api_refuses_is_refused(serve: Serve, change: Any, said: str):
    server = serve(say("Hello."))
    body = copy.deepcopy(GOOD)
    change(body)
    answer = post(server, body)
    assert answer.status_code == 400
    assert said in answer.json()["error"]["message"]
    assert len(server.rejected()) == 1


def test_a_request_without_a_key_is_refused(serve: Serve):
    server = serve(say("Hello."))
    answer = httpx.post(f"{server.base_url}/v1/messages", json=GOOD)
    assert answer.json()["error"]["type"] == "authentication_error"


def test_a_changed_prefix_is_noticed(serve: Serve):
    server = serve(say("a"), say("b"), say("c"))
    post(server, GOOD)
    longer = [*GOOD["messages"], {"role": "assistant", "content": "a"}]
    longer.append({"role": "user", "content": "more"})
    post(server, {**GOOD, "messages": longer})
    assert server.stable_prefix() == 1.0
    post(server, {**GOOD, "messages": longer, "system": "another"})
    assert server.stable_prefix() == 0.5


def test_it_serves_other_processes_too(tmp_path: Path):
    script = tmp_path / "script.json"
    script.write_text('{"turns": [{"blocks": [{"type": "text", "text": "Hi."}]}]}')
    command = [sys.executable, messages_api.__file__, "--port", "0", "--script", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        base_url = process.stdout.readline().strip()
        answer = httpx.post(f"{base_url}/v1/messages", json=GOOD, headers=HEADERS)
        records = httpx.get(f"{base_url}/__fake__/requests").json()
        process.terminate()
    assert answer.json()["content"] == [{"type": "text", "text": "Hi."}]
    assert [record["status"] for record in records] == [200]
