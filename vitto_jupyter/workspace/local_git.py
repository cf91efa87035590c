"""What git says about a folder, read from its files without running git or any hook of its."""

from __future__ import annotations

import asyncio
import os
import re
import stat
from pathlib import Path

_LIMIT_BYTES = 4096
_LIMIT_IGNORE_BYTES = 256 * 1024
_LIMIT_LEVELS = 64
_REF = "ref: refs/heads/"
_COMMIT = re.compile(r"^[0-9a-f]{40}([0-9a-f]{24})?$")


class LocalGit:
    """The Git port for a contents root on the local disk."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def branch(self, path: str) -> str | None:
        """The branch, "abc1234 (detached)" on a bare commit, None outside a work tree."""
        return await asyncio.to_thread(_branch, self._root.joinpath(*path.split("/")))

    async def ignore_text(self, folder: str) -> str:
        """As git, a .gitignore that is a link is not followed."""
        return await asyncio.to_thread(
            _ignore_text, self._root.joinpath(*folder.split("/"), ".gitignore")
        )


def _ignore_text(path: Path) -> str:
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return ""
        with path.open("rb") as file:
            return file.read(_LIMIT_IGNORE_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _branch(path: Path) -> str | None:
    folder = Path(os.path.realpath(path))
    for candidate in [folder, *folder.parents][:_LIMIT_LEVELS]:
        git = candidate / ".git"
        if git.is_dir():
            return _branch_of_head(git)
        if git.is_file():
            return _branch_of_link(git)
    return None


def _branch_of_link(gitfile: Path) -> str | None:
    """A worktree or submodule: `.git` is a file that names the real folder."""
    line = _first_line(gitfile)
    if line is None or not line.startswith("gitdir: "):
        return None
    return _branch_of_head(gitfile.parent / line.removeprefix("gitdir: ").strip())


def _branch_of_head(git: Path) -> str | None:
    head = git / "HEAD"
    line = f"ref: {os.readlink(head)}" if head.is_symlink() else _first_line(head)
    if line is None:
        return None
    if _COMMIT.match(line):
        return f"{line[:7]} (detached)"
    name = line.removeprefix(_REF)
    is_name = name != line and name.isprintable() and name != ".invalid"  # reftable has no HEAD
    return name if is_name and name else None


def _first_line(path: Path) -> str | None:
    """The first line of a regular file; a pipe in its place must not block."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return None
        with path.open("rb") as file:
            text = file.read(_LIMIT_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    return text.split("\n", 1)[0].strip()
