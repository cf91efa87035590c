"""A scripted server, and a provider that talks to it through the real SDK."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from messages_api import MessagesApi
from provider_turns import KEY, Serve, opened


@pytest.fixture(autouse=True)
def only_a_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The environment holds one API key and nothing else that the SDK would look at."""
    for name in [n for n in os.environ if n.startswith("ANTHROPIC_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts scripted servers: `serve(turn, turn, …, **options of ScriptedModel)`."""
    with ExitStack() as stack:

        def start(*turns: dict[str, Any], **options: Any) -> MessagesApi:
            return stack.enter_context(MessagesApi({"turns": list(turns)}, **options))

        yield start


@pytest.fixture(autouse=True)
async def close_providers() -> AsyncIterator[None]:
    yield
    while opened:
        await opened.pop().close()
