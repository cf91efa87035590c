"""Tools over the real adapters: contents manager, kernels and a terminal of jupyter_server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from real_workspace import NoPages, real_kernels, real_terminals
from tool_calls import ToolCalls

from vitto_jupyter.settings import Settings
from vitto_jupyter.workspace.base import Workspace
from vitto_jupyter.workspace.documents.jupyter_documents import JupyterDocuments
from vitto_jupyter.workspace.local_git import LocalGit
from vitto_jupyter.workspace.runs.output_spool import OutputSpool
from vitto_jupyter.workspace.runs.runs import Runs


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("IPYTHONDIR", str(home / ".ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(home / "runtime"))
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
async def calls(root: Path) -> AsyncIterator[ToolCalls]:
    from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

    manager = AsyncLargeFileManager(root_dir=str(root))
    async with real_kernels(root) as kernels, real_terminals(root) as terminals:
        documents = JupyterDocuments(manager)
        runs = Runs(documents, kernels.port, OutputSpool(root.parent / "outputs"))
        workspace = Workspace(
            root=str(root),
            documents=documents,
            runs=runs,
            terminals=terminals.port,
            kernels=kernels.port,
            front_ends=NoPages(),
            git=LocalGit(root),
        )
        settings = Settings(cell_wait_s=60)
        yield ToolCalls(workspace, notebook_path="n.ipynb", settings=settings)
        await runs.close()
