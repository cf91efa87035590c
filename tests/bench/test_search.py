"""How long a search of a large tree takes, with ripgrep and by reading every document."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from tool_calls import ToolCalls

from vitto_jupyter.workspace.base import Workspace
from vitto_jupyter.workspace.documents.jupyter_documents import JupyterDocuments
from vitto_jupyter.workspace.local_git import LocalGit
from vitto_jupyter.workspace.memory import memory_workspace
from vitto_jupyter.workspace.search.jupyter_search import local_search

pytestmark = pytest.mark.bench
FOLDERS, FILES, NOTEBOOKS = 40, 50, 5
LIMIT_S = 5.0


def tree(root: Path) -> None:
    """2,000 files and 200 notebooks; one line in each 100th file and each 20th notebook matches."""
    for folder in range(FOLDERS):
        place = root / f"d{folder:02}"
        place.mkdir(parents=True)
        for number in range(FILES):
            needle = "needle\n" if (folder * FILES + number) % 100 == 0 else ""
            (place / f"f{number}.py").write_text("x = 1  # a line of code\n" * 200 + needle)
        for number in range(NOTEBOOKS):
            source = "needle" if (folder * NOTEBOOKS + number) % 20 == 0 else "x = 1"
            cell = {
                "cell_type": "code", "id": "c", "metadata": {}, "execution_count": 1,
                "source": source,
                "outputs": [{"output_type": "stream", "name": "stdout", "text": "o\n" * 20_000}],
            }  # fmt: skip
            value = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
            (place / f"n{number}.ipynb").write_text(json.dumps(value, indent=1))


def workspaces(root: Path) -> tuple[Workspace, Workspace]:
    """Without ripgrep and with it."""
    manager = AsyncLargeFileManager(root_dir=str(root))
    slow = replace(
        memory_workspace(root=str(root)),
        documents=JupyterDocuments(manager),
        git=LocalGit(root),
    )
    return slow, replace(slow, search=local_search(manager, private=root / ".vitto"))


async def timed(act: Callable[[], Awaitable[object]]) -> tuple[object, float, float]:
    """What it gives, how long it takes, and the longest time that the event loop was not free."""
    longest, ended = 0.0, asyncio.Event()

    async def watch() -> None:
        nonlocal longest
        while not ended.is_set():
            before = time.perf_counter()
            await asyncio.sleep(0)
            await asyncio.sleep(0.001)
            longest = max(longest, time.perf_counter() - before - 0.001)

    watching = asyncio.create_task(watch())
    began = time.perf_counter()
    found = await act()
    took = time.perf_counter() - began
    ended.set()
    await watching
    return found, took, longest


async def test_a_tree_of_2000_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "root"
    tree(root)
    slow, fast = workspaces(root)
    literal = {"pattern": "needle", "max_results": 100}
    acts = [
        ("documents", slow, "search_code", literal, None),
        ("ripgrep", fast, "search_code", literal, 30),
        ("ripgrep", fast, "search_code", {"pattern": "^nee.le$", "regex": True}, 30),
        ("ripgrep", fast, "search_code", {"pattern": "not there at all"}, 0),
        ("documents", slow, "list_files", {"pattern": "**/*.py", "max_results": 2000}, 2000),
        ("ripgrep", fast, "list_files", {"pattern": "**/*.py", "max_results": 2000}, 2000),
    ]
    rows = []
    for how, workspace, tool, input, count in acts:
        calls = ToolCalls(workspace)
        result, seconds, stall = await timed(lambda c=calls, t=tool, i=input: c.call(t, **i))
        rows.append(
            f"{how:10} {tool:12} {input['pattern']:18} {seconds:7.3f} s, "
            f"loop held {stall * 1e3:6.1f} ms"
        )
        assert count is None or result.metadata["count"] == count  # type: ignore[attr-defined]
        assert how == "documents" or seconds < LIMIT_S, rows
    with capsys.disabled():
        sys.stdout.write("\n".join(["", *rows, ""]))


async def test_a_notebook_of_100_mb_does_not_hold_the_loop(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from big_notebooks import hundred_megabytes

    root = tmp_path / "root"
    root.mkdir()
    (root / "big.ipynb").write_bytes(hundred_megabytes())
    (root / "a.py").write_text("needle = 1\n")
    calls = ToolCalls(workspaces(root)[1])
    rows = []
    for pattern in ("needle = 1", "cell"):
        result, seconds, stall = await timed(lambda p=pattern: calls.call("search_code", pattern=p))
        assert result.success, result.error  # type: ignore[attr-defined]
        rows.append(f"100 MB notebook, {pattern!r}: {seconds:.2f} s, held {stall * 1e3:.1f} ms")
    with capsys.disabled():
        sys.stdout.write("\n".join(["", *rows, ""]))
