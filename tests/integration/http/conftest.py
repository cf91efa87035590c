"""A real Jupyter server in this process, with a scripted provider, and an HTTP client for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from http_server import TOKEN as TOKEN
from http_server import Server, StartServer, environment, jupyter_servers
from http_server import lines as lines
from http_server import messages as messages


@pytest.fixture
async def start_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[StartServer]:
    """Starts servers: `await start_server(base_url="/x/", args=[…])`; they end with the test."""
    for name, value in environment(tmp_path / "home").items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    async with jupyter_servers(tmp_path) as start:
        yield start


@pytest.fixture
async def server(start_server: StartServer) -> Server:
    return await start_server()
