"""Kernels and terminals of jupyter_server, each test with a home of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from real_workspace import RealKernels, RealTerminals, real_kernels, real_terminals


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without start-up files, history or Jupyter settings."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("IPYTHONDIR", str(folder / ".ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(folder / "runtime"))
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
async def kernels(home: Path, root: Path) -> AsyncIterator[RealKernels]:
    async with real_kernels(root) as real:
        yield real


@pytest.fixture
async def terminals(home: Path, root: Path) -> AsyncIterator[RealTerminals]:
    async with real_terminals(root) as real:
        yield real
