"""A contents root beside things that must stay untouched, and the real adapters over it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from judged_calls import JudgedCalls
from real_workspace import NoPages, real_terminals

from vitto_jupyter.workspace.base import Kernels, Terminals, Workspace
from vitto_jupyter.workspace.jupyter_documents import JupyterDocuments
from vitto_jupyter.workspace.local_git import LocalGit
from vitto_jupyter.workspace.memory import memory_workspace


def workspace_of(
    root: Path, *, terminals: Terminals, kernels: Kernels | None = None, hidden: bool = False
) -> Workspace:
    """`hidden`: the server serves hidden files, as an administrator may allow it."""
    from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

    manager = AsyncLargeFileManager(root_dir=str(root), allow_hidden=hidden)
    return Workspace(
        root=str(root),
        documents=JupyterDocuments(manager),
        terminals=terminals,
        kernels=kernels or memory_workspace().kernels,
        front_ends=NoPages(),
        git=LocalGit(root),
    )


@dataclass
class Place:
    """The machine of the cases: `/work/proj` is `root`, `/home/u` is `home`."""

    root: Path
    home: Path
    canary: Path
    terminals: Terminals

    def calls(self, *, hidden: bool = False, root: Path | None = None) -> JudgedCalls:
        root = root or self.root
        return JudgedCalls(workspace_of(root, terminals=self.terminals, hidden=hidden))

    def here(self, text: str) -> str:
        """Text of a case with the places of this machine in it."""
        for name, path in (
            ("/work", self.root.parent),
            ("/home/u", self.home),
            ("/tmp/vitto_canary", self.canary),
        ):
            text = text.replace(name, str(path))
        return text

    def write(self, name: str, text: str = "x") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


@pytest.fixture
async def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    root, home = tmp_path / "work" / "proj", tmp_path / "home" / "u"
    root.mkdir(parents=True)
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    async with real_terminals(root) as terminals:
        yield Place(root, home, tmp_path / "vitto_canary", terminals.port)
