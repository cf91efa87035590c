"""A contents root beside things that must stay untouched, and the real adapters over it."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from http_server import Server, environment, jupyter_servers
from judged_calls import JudgedCalls
from real_workspace import NoPages, RealKernels, real_kernels, real_terminals

from vitto_jupyter.agent.guard import Guard, Mask, secret_values
from vitto_jupyter.workspace.base import Kernels, Terminals, Workspace
from vitto_jupyter.workspace.documents.jupyter_documents import JupyterDocuments
from vitto_jupyter.workspace.local_git import LocalGit
from vitto_jupyter.workspace.memory import memory_workspace
from vitto_jupyter.workspace.runs.runs import Runs
from vitto_jupyter.workspace.search.jupyter_search import local_search


def workspace_of(
    root: Path, *, terminals: Terminals, kernels: Kernels | None = None, hidden: bool = False
) -> Workspace:
    """`hidden`: the server serves hidden files, as an administrator may allow it."""
    from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

    manager = AsyncLargeFileManager(root_dir=str(root), allow_hidden=hidden)
    documents = JupyterDocuments(manager)
    kernels = kernels or memory_workspace().kernels
    return Workspace(
        root=str(root),
        documents=documents,
        terminals=terminals,
        kernels=kernels,
        runs=Runs(documents, kernels),
        front_ends=NoPages(),
        git=LocalGit(root),
        search=local_search(manager, private=root / ".vitto"),
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


@dataclass
class Desk:
    """A root with a live kernel behind it; one for all cases of a module."""

    root: Path
    home: Path
    canary: Path
    kernels: RealKernels
    terminals: Terminals

    def calls(self, path: str = "n.ipynb") -> JudgedCalls:
        workspace = workspace_of(self.root, terminals=self.terminals, kernels=self.kernels.port)
        guard = Guard(mask=Mask(secret_values(os.environ)))
        return JudgedCalls(workspace, notebook_path=path, guard=guard)

    def notebook(self, name: str, *cells: dict[str, Any]) -> Path:
        """Cells are given by what they have beyond a plain code cell."""
        plain = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
        made = [
            {**plain, "id": f"c{number}", "source": "", **cell}
            for number, cell in enumerate(cells, 1)
        ]
        spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        content = {"cells": made, "metadata": {"kernelspec": spec}, "nbformat": 4}
        path = self.root / name
        path.write_text(json.dumps({**content, "nbformat_minor": 5}))
        return path

    def contents(self) -> Any:
        """What JupyterLab would get, trust included."""
        from jupyter_server.services.contents.largefilemanager import LargeFileManager

        return LargeFileManager(root_dir=str(self.root))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    base = tmp_path_factory.mktemp("desk")
    root, home = base / "root", base / "home"
    root.mkdir()
    home.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.setenv("IPYTHONDIR", str(home / ".ipython"))
        patch.setenv("JUPYTER_DATA_DIR", str(home / "data"))
        patch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789-abcdef")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfi")
        async with real_kernels(root) as kernels, real_terminals(root) as terminals:
            yield Desk(root, home, base / "vitto_canary", kernels, terminals.port)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Server]:
    """One Jupyter server for all cases of a module."""
    base = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment(base / "home").items():
            patch.setenv(name, value)
        patch.delenv("ANTHROPIC_API_KEY", raising=False)
        async with jupyter_servers(base) as start:
            yield await start(extensions=("jupyter_server_terminals",))
