"""The branch is read from .git alone, wherever it really is."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from vitto_jupyter.workspace.local_git import LocalGit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def make_git(folder: Path, head: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "HEAD").write_text(head)
    return folder


async def branch(root: Path, path: str = "") -> str | None:
    return await LocalGit(root).branch(path)


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("ref: refs/heads/main\n", "main"),
        ("ref: refs/heads/feature/ü\n", "feature/ü"),
        (f"{COMMIT}\n", "0123456 (detached)"),
        ("ref: refs/heads/.invalid\n", None),
        ("ref: refs/heads/\x1b[31m\n", None),
        ("secret=1\n", None),
        ("", None),
    ],
)
async def test_head_names_the_branch(tmp_path: Path, head: str, expected: str | None) -> None:
    make_git(tmp_path / ".git", head)
    (tmp_path / "sub/deep").mkdir(parents=True)
    assert await branch(tmp_path) == expected
    assert await branch(tmp_path, "sub/deep/a.py") == expected


async def test_no_repository_is_no_branch(tmp_path: Path) -> None:
    assert await branch(tmp_path, "a/b.py") is None


async def test_a_repository_may_begin_above_the_root(tmp_path: Path) -> None:
    make_git(tmp_path / ".git", "ref: refs/heads/up\n")
    (tmp_path / "root").mkdir()
    assert await branch(tmp_path / "root", "a.py") == "up"


async def test_the_innermost_repository_counts(tmp_path: Path) -> None:
    make_git(tmp_path / ".git", "ref: refs/heads/outer\n")
    make_git(tmp_path / "sub/.git", "ref: refs/heads/inner\n")
    assert (await branch(tmp_path, "sub/a.py"), await branch(tmp_path, "a.py")) == (
        "inner",
        "outer",
    )


async def test_a_worktree_is_followed_to_its_own_head(tmp_path: Path) -> None:
    make_git(tmp_path / "main/.git/worktrees/w", "ref: refs/heads/side\n")
    (tmp_path / "w").mkdir()
    (tmp_path / "w/.git").write_text("gitdir: ../main/.git/worktrees/w\n")
    assert await branch(tmp_path / "w") == "side"
    (tmp_path / "w/.git").write_text("something else\n")
    assert await branch(tmp_path / "w") is None


async def test_a_pipe_instead_of_head_does_not_block(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".git/HEAD")
    async with asyncio.timeout(2):
        assert await branch(tmp_path) is None


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_it_agrees_with_git(tmp_path: Path) -> None:
    def git(*args: str) -> None:
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
        subprocess.run(["git", *identity, *args], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q", "-b", "trunk", ".")
    git("commit", "-q", "--allow-empty", "-m", "m")
    git("worktree", "add", "-q", "-b", "side", "tree")
    assert asyncio.run(branch(tmp_path)) == "trunk"
    assert asyncio.run(branch(tmp_path, "tree/a.py")) == "side"
    git("checkout", "-q", "--detach")
    assert asyncio.run(branch(tmp_path)) is not None


async def test_ignore_text_is_that_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / ".gitignore").write_text("*.log\n")
    git = LocalGit(tmp_path)
    assert await git.ignore_text("") == "*.log\n"
    assert await git.ignore_text("sub") == ""
    assert await git.ignore_text("gone") == ""


async def test_an_ignore_file_that_is_a_link_or_a_pipe_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "rules").write_text("*.log\n")
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / ".gitignore").symlink_to(tmp_path / "rules")
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / ".gitignore")
    git = LocalGit(tmp_path)
    assert await git.ignore_text("link") == ""
    assert await git.ignore_text("pipe") == ""
