"""A Jupyter server whose agent is busy, and readers of what it streams, each its own process.

python busy_server.py serve FOLDER      prints the address of the server, runs until it is ended
python busy_server.py read ADDRESS ID…  reads the events of these sessions, prints "." per tool
python busy_server.py parse FILE        parses a notebook again and again, beside the server
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
from http_server import TOKEN, environment, jupyter_servers

from vitto_jupyter.providers.base import Availability, ModelInfo, ModelRequest, Piece, TextPiece
from vitto_jupyter.providers.scripted import ScriptedProvider, call
from vitto_jupyter.workspace.notebooks import notebook_json

DELTAS_PER_S = 30
BIG = "big.ipynb"


class BusyProvider:
    """Talks without end; asked to "read", it reads the big notebook again and again."""

    name = "scripted"
    label = "Busy"

    def __init__(self) -> None:
        self._numbers = itertools.count()

    async def availability(self) -> Availability:
        return Availability(available=True)

    async def models(self) -> tuple[ModelInfo, ...]:
        return (ModelInfo(id="scripted", label="Busy"),)

    async def stream(self, request: ModelRequest) -> AsyncIterator[Piece]:
        if "read the notebook" in str(request.messages[0]):
            tool_call_id = f"call_{next(self._numbers)}"
            answer = call("read_notebook", {"path": BIG}, tool_call_id=tool_call_id)
            async for piece in ScriptedProvider([answer]).stream(request):
                yield piece
            return
        while True:
            yield TextPiece("some words ")
            await asyncio.sleep(1 / DELTAS_PER_S)


async def serve(folder: Path) -> None:
    os.environ.update(environment(folder / "home"))
    async with jupyter_servers(folder) as start:
        server = await start(args=("--VittoApp.max_requests_per_turn=1000000",))
        server.app.web_app.settings["vitto_providers"] = {"scripted": BusyProvider()}
        print(server.base, flush=True)
        await asyncio.Event().wait()


async def read(address: str, session_ids: list[str]) -> None:
    headers = {"Authorization": f"token {TOKEN}"}
    limits = httpx.Limits(max_connections=None)
    async with (
        httpx.AsyncClient(base_url=address, headers=headers, timeout=None, limits=limits) as client,
        asyncio.TaskGroup() as tasks,
    ):
        for session_id in session_ids:
            tasks.create_task(_read_one(client, session_id))


async def _read_one(client: httpx.AsyncClient, session_id: str) -> None:
    async with client.stream("GET", f"vitto/api/sessions/{session_id}/events") as response:
        async for line in response.aiter_lines():
            if line == "event: tool.finished":
                print(".", end="", flush=True)


def parse(file: Path) -> None:
    while True:
        notebook_json.parse(file.read_bytes(), name=file.name)


if __name__ == "__main__":
    action, target, *rest = sys.argv[1:]
    if action == "parse":
        parse(Path(target))
    asyncio.run(serve(Path(target)) if action == "serve" else read(target, rest))
