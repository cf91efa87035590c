"""How much of each request is ours, and how much of a turn's input comes from the cache."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from messages_api import MessagesApi
from model_turns import say
from provider_turns import KEY, MODEL, provider_for

from vitto_jupyter.agent.prompts import system_prompt
from vitto_jupyter.testing.turns import Agent
from vitto_jupyter.tools.toolset import builtin_toolset
from vitto_jupyter.workspace.memory import memory_workspace

pytestmark = pytest.mark.bench
STEPS = 6
LIMIT_CHARS = 14_000


def steps() -> list[dict[str, Any]]:
    look = [
        {"type": "thinking", "thinking": "I look at the next part. " * 8},
        {"type": "tool_use", "name": "read_file", "input": {"path": "part.py"}},
    ]
    return [{"blocks": look} for _ in range(STEPS)] + [say("That is all of it. " * 10)]


def share(calls: list[dict[str, Any]]) -> float:
    usage = [call["response"]["usage"] for call in calls]
    read = sum(u["cache_read_input_tokens"] for u in usage)
    fresh = sum(u["input_tokens"] + u["cache_creation_input_tokens"] for u in usage)
    return read / (read + fresh)


def write(*lines: str, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        sys.stdout.write("\n".join(["", *lines, ""]))


def test_size_of_system_prompt_and_tools(capsys: pytest.CaptureFixture[str]) -> None:
    specs = builtin_toolset().specs
    tools = {
        spec.name: len(json.dumps([spec.name, spec.description, spec.input_schema]))
        for spec in specs
    }
    system, total = len(system_prompt()), len(system_prompt()) + sum(tools.values())
    rows = [f"{size:7,} {name}" for name, size in sorted(tools.items(), key=lambda t: -t[1])]
    write(
        f"System prompt {system:,} + {len(tools)} tools {sum(tools.values()):,} "
        f"= {total:,} characters (limit {LIMIT_CHARS:,})",
        *rows,
        capsys=capsys,
    )
    assert total <= LIMIT_CHARS


async def test_cache_share_of_a_six_step_turn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    workspace = memory_workspace({"part.py": "x = 1  # a line of code\n" * 40})
    with MessagesApi({"turns": [*steps(), *steps()]}) as server:
        provider = provider_for(server)
        agent = Agent(
            provider=provider, model=MODEL, toolset=builtin_toolset(), workspace=workspace
        )
        for _ in range(2):
            assert (await agent.run("Look at all of it.")).reason == "done"
        await provider.close()
        calls = server.calls()
        first, second = calls[: STEPS + 1], calls[STEPS + 1 :]
        write(
            f"Cache share of {STEPS} steps: whole first turn {share(first):.2f}, "
            f"from its second request on {share(first[1:]):.2f}, "
            f"whole second turn {share(second):.2f}; stable prefix {server.stable_prefix():.2f}, "
            f"refused {len(server.rejected())}",
            capsys=capsys,
        )
        assert server.rejected() == []
        assert server.stable_prefix() == 1.0
        assert share(first[1:]) >= 0.85
        assert share(second) >= 0.85
