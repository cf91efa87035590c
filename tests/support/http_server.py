"""A real Jupyter server in this process, with a scripted provider, and an HTTP client for it."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from jupyter_server.serverapp import ServerApp
from lab import free_port

from vitto_jupyter.app import VittoApp
from vitto_jupyter.providers.scripted import ScriptedProvider

TOKEN = "0123456789abcdef"


@dataclass
class Server:
    """`script` is what the model says; `api` a client below `vitto/api/` with the token."""

    app: ServerApp
    root: Path
    data_dir: Path
    api: httpx.AsyncClient
    log: list[str] = field(default_factory=list)

    @property
    def vitto(self) -> VittoApp:
        return self.app.web_app.settings["vitto"]

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.app.port}{self.app.base_url}"

    def script(self, *answers: Any) -> ScriptedProvider:
        provider = ScriptedProvider(*answers)
        self.vitto.services().choice._providers["scripted"] = provider
        return provider

    def client(self, **fields: Any) -> httpx.AsyncClient:
        """A client without credentials."""
        return httpx.AsyncClient(base_url=f"{self.base}vitto/api/", timeout=20, **fields)

    @asynccontextmanager
    async def logged_in(self) -> AsyncIterator[httpx.AsyncClient]:
        """A client with the login cookie, as a browser has it, and no token."""
        async with self.client() as client:
            await client.get(f"{self.base}tree?token={TOKEN}")
            assert any(name.startswith("username-") for name in client.cookies)
            yield client

    # -- what tests do over and over ---------------------------------------------------------

    async def new_session(self, **body: Any) -> str:
        answer = await self.api.post("sessions", json=body)
        assert answer.status_code == 201, answer.text
        return answer.json()["session_id"]

    async def start_turn(self, session_id: str, prompt: str = "Go.", **body: Any) -> str:
        answer = await self.api.post(
            f"sessions/{session_id}/turns", json={"prompt": prompt, **body}
        )
        assert answer.status_code == 202, answer.text
        return answer.json()["turn_id"]

    async def events(
        self, session_id: str, query: str = "idle=close", **headers: str
    ) -> list[dict[str, Any]]:
        """The events until the stream ends by itself."""
        return [m.data async for m in self.stream(session_id, query, **headers)]

    async def stream(
        self, session_id: str, query: str = "", **headers: str
    ) -> AsyncIterator[Message]:
        url = f"sessions/{session_id}/events?{query}"
        async with self.api.stream("GET", url, headers=headers) as response:
            assert response.status_code == 200, await response.aread()
            async for message in messages(response):
                yield message

    async def wait_for(self, session_id: str, kind: str) -> dict[str, Any]:
        """The first event of a type."""
        async for message in self.stream(session_id):
            if message.event == kind:
                return message.data
        raise AssertionError(f"the stream ended without {kind}")

    async def play(self, session_id: str, prompt: str = "Go.", **body: Any) -> None:
        """A whole turn."""
        turn_id = await self.start_turn(session_id, prompt, **body)
        async for message in self.stream(session_id):
            if message.event == "turn.finished" and message.data["turn_id"] == turn_id:
                return


@dataclass
class Message:
    id: str
    event: str
    data: dict[str, Any]


async def messages(response: httpx.Response) -> AsyncIterator[Message]:
    """Server-sent events, read strictly; comments are left out."""
    fields: dict[str, str] = {}
    async for line in lines(response):
        if line == "":
            if fields:
                data = json.loads(fields["data"])
                yield Message(fields.get("id", ""), fields["event"], data)
            fields = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(": ")
            assert name in ("id", "event", "data") and name not in fields, line
            fields[name] = value


async def lines(response: httpx.Response) -> AsyncIterator[str]:
    """Lines by line feed alone, as they come."""
    rest = b""
    async for chunk in response.aiter_bytes():
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.decode()


def environment(home: Path) -> dict[str, str]:
    return {
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTER_NO_CONFIG": "1",
    }


StartServer = Callable[..., Any]


@asynccontextmanager
async def jupyter_servers(base: Path) -> AsyncIterator[StartServer]:
    """Starts servers: `await start(base_url="/x/", args=[…])`; they end with the block.

    The environment must be that of `environment(base / "home")`.
    """
    servers: list[Server] = []

    async def start(
        base_url: str = "/", args: tuple[str, ...] = (), extensions: tuple[str, ...] = ()
    ) -> Server:
        root = base / "root"
        root.mkdir(exist_ok=True)
        app = ServerApp()
        app.init_signal = lambda: None
        app.initialize(
            [
                "--no-browser",
                "--allow-root",
                f"--ServerApp.port={free_port()}",
                "--ServerApp.ip=127.0.0.1",
                f"--ServerApp.base_url={base_url}",
                f"--ServerApp.root_dir={root}",
                f"--IdentityProvider.token={TOKEN}",
                "--VittoApp.provider=scripted",
                *args,
            ],
            find_extensions=False,
            new_httpserver=True,
        )
        for extension in (*extensions, "vitto_jupyter"):
            app.extension_manager.add_extension(extension, enabled=True)
            app.extension_manager.link_extension(extension)
            app.extension_manager.load_extension(extension)
        headers = {"Authorization": f"token {TOKEN}"}
        api = httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{app.port}{base_url}vitto/api/",
            headers=headers,
            timeout=20,
        )
        server = Server(app, root, base / "home/data/vitto", api)
        servers.append(server)
        return server

    try:
        yield start
    finally:
        for server in servers:
            await server.api.aclose()
            await server.app._cleanup()
            server.app.http_server.stop()
        logging.getLogger("ServerApp").handlers.clear()
