"""A session manager over doubles: scripted provider, in-memory workspace, real files."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from vitto_jupyter.protocol.events import EVENT, AnyEvent
from vitto_jupyter.protocol.fold import fold_all
from vitto_jupyter.protocol.requests import CreateSession, StartTurn
from vitto_jupyter.protocol.session import Transcript
from vitto_jupyter.providers.base import Provider
from vitto_jupyter.providers.scripted import ScriptedProvider
from vitto_jupyter.services.clock import SystemClock
from vitto_jupyter.services.provider_choice import ProviderChoice
from vitto_jupyter.services.sessions import SessionManager, Workbench
from vitto_jupyter.settings import Settings
from vitto_jupyter.testing.tools import simple_tool
from vitto_jupyter.tools.toolset import Toolset
from vitto_jupyter.workspace.base import Workspace
from vitto_jupyter.workspace.memory import memory_workspace

TOOLS = (simple_tool("look"), simple_tool("act", "execute"))


@dataclass
class Home:
    """One data folder; `manager()` is a server on it."""

    data_dir: Path
    root: str = "/home/user/project"
    workspace: Workspace = field(default_factory=memory_workspace)
    toolset: Toolset = field(default_factory=lambda: Toolset(TOOLS))
    woken: list[str] = field(default_factory=list)
    managers: list[SessionManager] = field(default_factory=list)

    def manager(self, provider: Provider | None = None, **settings: object) -> SessionManager:
        configured = Settings(data_dir=self.data_dir, provider="scripted", **settings)
        clock = SystemClock()
        choice = ProviderChoice(
            providers={"scripted": provider or ScriptedProvider()},
            settings=configured,
            clock=clock,
        )
        manager = SessionManager(
            settings=configured,
            root=self.root,
            clock=clock,
            choice=choice,
            workbench=self.workbench,
            wake=self.woken.append,
        )
        self.managers.append(manager)
        return manager

    async def workbench(self) -> Workbench:
        return Workbench(self.workspace, self.toolset)

    def folder(self, session_id: str) -> Path:
        return self.data_dir / "sessions" / session_id

    def trail(self, session_id: str) -> list[AnyEvent]:
        """The events on disk."""
        lines = (self.folder(session_id) / "trail.jsonl").read_bytes().split(b"\n")
        return [EVENT.validate_json(line) for line in lines if line]

    def transcript(self, session_id: str) -> Transcript:
        return fold_all(session_id, self.trail(session_id))


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Home]:
    home = Home(tmp_path / "vitto")
    yield home
    for manager in home.managers:
        await manager.close()


async def new_session(manager: SessionManager, **fields: object) -> str:
    return (await manager.create(CreateSession(**fields))).session_id


@asynccontextmanager
async def watching(manager: SessionManager, session_id: str, *, after: int = 0):
    """A function that gives the first event of a type from here on, waiting for it."""
    async with manager.events(session_id, after=after) as subscription:
        left: list[AnyEvent] = []

        async def wait_for(kind: str, when: Callable[[AnyEvent], bool] = lambda _: True):
            async with asyncio.timeout(10):
                while True:
                    while left:
                        event = left.pop(0)
                        if event.type == kind and when(event):
                            return event
                    batch = await subscription.next(timeout_s=10)
                    left.extend(EVENT.validate_json(written.line) for written in batch)

        yield wait_for


async def play(manager: SessionManager, session_id: str, prompt: str = "Go.", **fields) -> str:
    """A whole turn."""
    after = await manager.last_seq(session_id)
    turn_id = await manager.start_turn(session_id, StartTurn(prompt=prompt, **fields))
    async with watching(manager, session_id, after=after) as wait_for:
        await wait_for("turn.finished")
    return turn_id
