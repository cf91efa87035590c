"""search_code and list_files on a local folder: ripgrep finds what reading every document finds."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from real_workspace import until
from tool_calls import ToolCalls

from vitto_jupyter.settings import Settings
from vitto_jupyter.workspace.base import Notebook, Seen, TextDocument
from vitto_jupyter.workspace.documents.jupyter_documents import JupyterDocuments
from vitto_jupyter.workspace.local_git import LocalGit
from vitto_jupyter.workspace.memory import MemoryFrontEnds, memory_workspace, notebook_of
from vitto_jupyter.workspace.search.jupyter_search import local_search


class OpenDocuments(JupyterDocuments):
    """Some documents are open in a page, with other text than on disk."""

    held: dict[str, str]

    async def read_text(self, path: str) -> TextDocument:
        found = await super().read_text(path)
        return replace(found, text=self.held[path]) if path in self.held else found

    async def read_notebook(self, path: str) -> Notebook:
        if path in self.held:
            return notebook_of(self.held[path])
        return await super().read_notebook(path)


@dataclass
class Desk:
    """A folder and the tools over it, with ripgrep and without."""

    root: Path
    documents: OpenDocuments
    fast: ToolCalls
    slow: ToolCalls

    def put(self, path: str, content: str | bytes) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)

    async def hits(self, pattern: str, *, slow: bool = False, **input) -> list[str]:
        calls = self.slow if slow else self.fast
        result = await calls.call("search_code", pattern=pattern, **input)
        assert result.success, result.error
        return [line for line in result.output.split("\n")[1:] if not line.startswith("[")]

    async def both(self, pattern: str, **input) -> list[str]:
        """The hits, the same in either way but for their order."""
        found = sorted(await self.hits(pattern, **input))
        assert found == sorted(await self.hits(pattern, slow=True, **input))
        return found

    def open(self, path: str, text: str) -> None:
        self.documents.held[path] = text
        front_ends = self.fast.ctx.workspace.front_ends
        front_ends.now = Seen(open_paths=tuple(self.documents.held))


def desk_at(root: Path, **options) -> Desk:
    manager = AsyncLargeFileManager(root_dir=str(root))
    documents = OpenDocuments(manager)
    documents.held = {}
    search = local_search(manager, private=root / "records")
    assert search is not None
    slow = replace(
        memory_workspace(root=str(root)),
        documents=documents,
        git=LocalGit(root),
        front_ends=MemoryFrontEnds(),
    )
    fast = replace(slow, search=search)
    return Desk(root, documents, ToolCalls(fast, **options), ToolCalls(slow, **options))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    root = tmp_path / "root"
    root.mkdir()
    return desk_at(root)


def notebook(*sources: str, outputs: list | None = None, **how) -> str:
    cells = [
        {
            "cell_type": "code", "id": f"c{at}", "metadata": {}, "execution_count": None,
            "outputs": outputs or [], "source": source.splitlines(keepends=True),
        }
        for at, source in enumerate(sources, 1)
    ]  # fmt: skip
    value = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(value, **{"indent": 1, **how})


# -- the two ways agree --------------------------------------------------------------------------


async def test_lines_are_numbered_and_shown_as_read_file_does(desk: Desk) -> None:
    desk.put("lf.txt", "one\nneedle é\n")
    desk.put("crlf.txt", "one\r\nneedle\r\nlast")
    desk.put("mac.txt", "one\rneedle\rthree")
    desk.put("mixed.txt", "a\rb\nneedle\r\n")
    desk.put("bom.txt", b"\xef\xbb\xbfneedle\n")
    desk.put("utf16.txt", "one\nneedle ü\n".encode("utf-16"))
    desk.put("cp1252.txt", "café\nneedle\nneedle é\n".encode("cp1252"))
    desk.put("binary.dat", b"needle\0needle")
    desk.put("-rf.txt", "needle")
    desk.put("a b/c d.txt", "needle")
    found = await desk.both("needle")
    assert "mac.txt:2: needle" in found and "mixed.txt:3: needle" in found
    assert "cp1252.txt:3: needle é" in found and "utf16.txt:2: needle ü" in found
    assert not [line for line in found if line.startswith("binary")]
    assert len(found) == 10
    assert await desk.both("^needle$", regex=True) == [
        "-rf.txt:1: needle", "a b/c d.txt:1: needle", "bom.txt:1: needle",
        "cp1252.txt:2: needle", "crlf.txt:2: needle", "mac.txt:2: needle", "mixed.txt:3: needle",
    ]  # fmt: skip
    assert await desk.both("needle é") == ["cp1252.txt:3: needle é", "lf.txt:2: needle é"]
    assert await desk.both("caf.$", regex=True) == ["cp1252.txt:1: café"]


async def test_what_is_not_served_is_not_searched(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("needle")
    for path in (".env", ".git/config", "a/.hidden/x.txt", "node_modules/x.js", "records/r.txt"):
        desk.put(path, "needle")
    desk.put("credentials.json", "needle")
    desk.put("id_rsa", "needle")
    desk.put("__pycache__/x.py", "needle")
    desk.put("a/x.pyc", "needle")
    desk.put("ok.txt", "needle")
    os.symlink(tmp_path / "outside", desk.root / "out")
    os.symlink(tmp_path / "outside" / "secret.txt", desk.root / "out.txt")
    os.symlink(desk.root / ".env", desk.root / "env.txt")
    os.mkfifo(desk.root / "pipe.txt")
    assert [hit for hit in await desk.hits("needle") if "credentials" not in hit] == [
        "ok.txt:1: needle"
    ]
    listed = (await desk.fast.call("list_files", pattern="**/*.txt")).output
    assert listed.split("\n") == ["ok.txt"]


async def test_ignore_files_hold_also_outside_git_and_above_the_start(desk: Desk) -> None:
    desk.put(".gitignore", "build/\n*.log\n!keep.log\n/top.txt\nsrc/**/gen_*\n")
    desk.put("src/.gitignore", "!b.log\n/gen.py\n")
    desk.put(".ignore", "ok.txt\n")
    for path in (
        "build/x.py", "a.log", "keep.log", "top.txt", "src/top.txt", "src/b.log", "src/c.log",
        "src/gen.py", "src/deep/gen.py", "src/deep/gen_1.py", "ok.txt", "src/build/y.py",
    ):  # fmt: skip
        desk.put(path, "needle")
    found = await desk.both("needle")
    assert [hit.split(":")[0] for hit in found] == [
        "keep.log", "ok.txt", "src/b.log", "src/deep/gen.py", "src/top.txt"
    ]  # fmt: skip
    found = await desk.both("needle", path="src")
    assert [hit.split(":")[0] for hit in found] == ["src/b.log", "src/deep/gen.py", "src/top.txt"]
    assert len(await desk.both("needle", path="build")) == 1


LINES = st.lists(
    st.sampled_from(
        ["*.py", "/a", "a/", "b/**", "**/c", "!a/b.py", "!*.py", "x?.txt", "[ab].py", "a/*/c", "#x",
         "", "\\!x", "*.py ", "a/**/b.py", "!b/", "/b/*", "**"]
    ),
    max_size=4,
)  # fmt: skip


@settings(
    max_examples=20,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(top=LINES, nested=LINES)
@example(top=["a/"], nested=["!b.py"])
def test_generated_ignore_files_mean_the_same_to_both(
    tmp_path_factory: pytest.TempPathFactory, top: list[str], nested: list[str]
) -> None:
    desk = desk_at(tmp_path_factory.mktemp("tree"))
    for path in ("a/b.py", "a/c/b.py", "a/x/c/d.txt", "b/a.py", "b/c/x1.txt", "c/b.py", "x2.txt"):
        desk.put(path, "needle")
    desk.put(".gitignore", "\n".join(top))
    desk.put("a/.gitignore", "\n".join(nested))
    asyncio.run(desk.both("needle"))
    asyncio.run(desk.both("needle", path="a"))


# -- notebooks -----------------------------------------------------------------------------------


async def test_cells_are_searched_and_not_the_json(desk: Desk) -> None:
    desk.put("a/n.ipynb", notebook("x = 1\nprint('needle')", "needle = '\"\\\\é'"))
    desk.put("N.IPYNB", notebook("needle"))
    assert await desk.both("needle") == [
        "N.IPYNB cell 1 (id c1) line 1: needle",
        "a/n.ipynb cell 1 (id c1) line 2: print('needle')",
        "a/n.ipynb cell 2 (id c2) line 1: needle = '\"\\\\é'",
    ]
    assert await desk.both("cell_type") == []
    assert len(await desk.both("'\"\\\\é'")) == 1
    assert len(await desk.both("^needle$", regex=True)) == 1
    assert len(await desk.both("needle", include="a/*")) == 2


@pytest.mark.parametrize(
    "stored",
    [
        notebook("say('needle')", ensure_ascii=True, indent=None),
        notebook("say('needle')").replace("needle", "n\\u0065edle"),
        notebook("say('needle')").replace("\"say('needle')\"", '"say(\'nee", "dle\')"'),
        notebook("say('needle')").replace("\"say('needle')\"", '"say(\'nee",\n "dle\')"'),
        notebook("say('needle')").replace("\"say('needle')\"", '"say(\'nee"\n, "dle\')"'),
    ],
)
async def test_no_spelling_of_json_hides_a_match(desk: Desk, stored: str) -> None:
    desk.put("n.ipynb", stored)
    assert len(await desk.both("say('needle')")) == 1
    assert len(await desk.both("n..?edle'\\)$", regex=True)) == 1
    assert len(await desk.both("(?i)NEEDLE", regex=True)) == 1


@settings(
    max_examples=20,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    source=st.text(alphabet='ab "\\/é<\t😀\u212a.*\n', min_size=1, max_size=12),
    data=st.data(),
    ascii_only=st.booleans(),
    indent=st.sampled_from([None, 1]),
)
def test_whatever_a_source_holds_is_found(
    tmp_path_factory: pytest.TempPathFactory,
    source: str,
    data: st.DataObject,
    ascii_only: bool,
    indent: int | None,
) -> None:
    line = data.draw(
        st.sampled_from([line for line in source.split("\n") if line.strip()] or ["a"])
    )
    desk = desk_at(tmp_path_factory.mktemp("tree"))
    desk.put("n.ipynb", notebook(source, ensure_ascii=ascii_only, indent=indent))
    found = asyncio.run(desk.both(line))
    assert bool(found) == (line in source)


async def test_outputs_are_searched_on_request_only(desk: Desk) -> None:
    outputs = [
        {"output_type": "stream", "name": "stdout", 
         "text": ["one\n", "nee\u001b[31mdle\u001b[0m\n"]},
        {"output_type": "execute_result", "execution_count": 1, "metadata": {},
         "data": {"text/plain": "a needle", "text/html": "<b>needle</b>"}},
        {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["x", "needle"]},
    ]  # fmt: skip
    desk.put("n.ipynb", notebook("x", outputs=outputs))
    assert await desk.both("needle") == []
    assert await desk.both("needle", outputs=True) == [
        "n.ipynb cell 1 (id c1) output 1 line 2: needle",
        "n.ipynb cell 1 (id c1) output 2 line 1: a needle",
        "n.ipynb cell 1 (id c1) output 3 line 2: needle",
    ]


async def test_open_documents_are_searched_as_the_page_has_them(desk: Desk) -> None:
    desk.put("a.txt", "needle on disk")
    desk.put("n.ipynb", notebook("needle on disk"))
    desk.put(".gitignore", "ignored.txt")
    for path in ("b.txt", "ignored.txt"):
        desk.put(path, "")
        desk.open(path, "x\nneedle typed")
    desk.open("a.txt", "not any more")
    desk.open("n.ipynb", "x = 1\nneedle typed")
    assert sorted(await desk.hits("needle")) == [
        "b.txt:2: needle typed",
        "n.ipynb cell 1 (id c1) line 2: needle typed",
    ]


# -- patterns, bounds and ends -------------------------------------------------------------------


async def test_expressions_of_either_engine_are_found(desk: Desk) -> None:
    desk.put("a.txt", "foobar\nfoobaz\nÄÖ\n")
    desk.put("n.ipynb", notebook("foobar"))
    assert len(await desk.hits("foo(?!baz)", regex=True)) == 2  # only Python has it
    assert await desk.hits(r"^\p{Lu}+$", regex=True) == ["a.txt:3: ÄÖ"]  # only ripgrep has it
    refused = await desk.fast.call("search_code", pattern="(", regex=True)
    assert not refused.success and "not a regular expression" in refused.error


async def test_a_pathological_pattern_is_quick(desk: Desk) -> None:
    desk.put("a.txt", "a" * 5_000 + "!\n")
    desk.put("n.ipynb", notebook("a" * 5_000 + "!"))
    began = time.monotonic()
    assert await desk.hits("(a+)+$", regex=True) == []
    assert time.monotonic() - began < 5


async def test_a_pattern_that_looks_like_an_option_is_a_pattern(desk: Desk) -> None:
    desk.put("a.txt", "--pre=touch x\n")
    assert len(await desk.both("--pre=touch")) == 1
    assert len(await desk.both("--pre=", regex=True)) == 1


async def test_nothing_of_the_workspace_is_run_or_configures(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = desk.root / "canary"
    desk.put("rg", f"#!{sys.executable}\nopen({str(canary)!r}, 'w')\n")
    (desk.root / "rg").chmod(0o755)
    desk.put("rc", f"--pre={desk.root / 'rg'}\n--hidden\n")
    desk.put(".env", "needle")
    desk.put("a.txt", "needle")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(desk.root / "rc"))
    monkeypatch.setenv("PATH", str(desk.root), prepend=os.pathsep)
    monkeypatch.syspath_prepend(str(desk.root))
    again = desk_at(desk.root)
    assert await again.hits("needle") == ["a.txt:1: needle"]
    assert not canary.exists()


async def test_endless_matches_and_huge_lines_cost_little(desk: Desk) -> None:
    desk.put("many.txt", "needle\n" * 2_000_000)
    desk.put("long.js", "x" * 2_000_000 + "needle" + "y" * 2_000_000)
    desk.put("wide.txt", "x" * 5_000 + "needle" + "y" * 5_000)
    began = time.monotonic()
    result = await desk.fast.call("search_code", pattern="needle", max_results=20)
    assert time.monotonic() - began < 5
    assert result.metadata["count"] == 20 and "there may be more" in result.output
    (hit,) = await desk.hits("needle", include="long.js")
    assert hit.startswith("long.js:1: xxx") and len(hit) < 300
    (hit,) = await desk.hits("needle", include="wide.txt")
    assert "xneedley" in hit and len(hit) < 300


async def test_a_stopped_search_leaves_no_process(desk: Desk) -> None:
    for number in range(50):
        desk.put(f"{number}.txt", "x" * 1_000_000)
    search = desk.fast.ctx.workspace.search
    assert search is not None
    threads = threading.active_count()
    before = set(_children())

    async def look() -> None:
        async for _ in search.lines("", "needle", only="", most=5, timeout_s=60):
            pass

    task = asyncio.create_task(look())
    await until(lambda: not before.issuperset(_children()))
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled() and before.issuperset(_children())
    assert threading.active_count() <= threads + 2


def _children() -> Iterator[str]:
    for entry in Path("/proc/self/task").iterdir():
        yield from (entry / "children").read_text().split()


async def test_a_search_that_is_out_of_time_says_so(desk: Desk) -> None:
    desk.put("a.txt", "needle")
    calls = ToolCalls(desk.fast.ctx.workspace, settings=Settings(read_timeout_s=0.000_1))
    result = await calls.call("search_code", pattern="needle")
    assert not result.success and "stopped after" in result.error


# -- list_files ----------------------------------------------------------------------------------


async def test_both_ways_list_the_same_files(desk: Desk) -> None:
    for path in ("a.csv", "d/b.csv", "d/e/c.csv", "d/n.ipynb", ".h/x.csv", "z.txt"):
        desk.put(path, "")
    desk.put(".gitignore", "e/\n")
    for pattern in ("*.csv", "d/**", "**", "**/*.{csv,txt}", "*", "d/*", "nothing*"):
        fast = (await desk.fast.call("list_files", pattern=pattern)).output
        slow = (await desk.slow.call("list_files", pattern=pattern)).output
        assert sorted(fast.split("\n")) == sorted(slow.split("\n"))
    missing = await desk.fast.call("list_files", pattern="nope/**/*.py")
    assert missing.error.startswith('There is no folder "nope".')


async def test_a_link_to_a_file_in_the_root_is_listed(desk: Desk) -> None:
    desk.put("runs/1.csv", "x")
    desk.put(".gitignore", "scratch.csv")
    for name in ("latest.csv", "scratch.csv"):
        os.symlink("1.csv", desk.root / "runs" / name)
    os.symlink("/etc/passwd", desk.root / "runs" / "outside.csv")
    listed = (await desk.fast.call("list_files", pattern="**/*.csv")).output
    assert listed.split("\n") == ["runs/1.csv", "runs/latest.csv"]
