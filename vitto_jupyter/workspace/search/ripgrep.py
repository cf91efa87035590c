"""Runs ripgrep, the program that comes from PyPI with this package. Knows no workspace.

Its engine is linear in the text, it runs outside this process and can be ended at any moment.
Only the program of this installation is used, never one that a folder or PATH offers.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import sysconfig
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from importlib import metadata
from pathlib import Path

from ...errors import DeadlineExceeded, ToolError

_NAME = "rg.exe" if os.name == "nt" else "rg"
_CHUNK_BYTES = 16 * 1024  # what is made of one chunk holds the event loop
_ERROR_BYTES = 4_096
_CHECK_S = 5.0
_LIMITS = ("--regex-size-limit=10M", "--dfa-size-limit=20M")


def find_ripgrep() -> Path | None:
    """The program of this installation, None when it is not there."""
    return next((path for path in _places() if path.is_file() and os.access(path, os.X_OK)), None)


def _places() -> Iterator[Path]:
    # Not the whole of sys.path: it may hold the working folder, and so what a workspace offers.
    folders = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    for package in metadata.distributions(name="ripgrep", path=folders):
        for file in package.files or ():
            if file.name == _NAME:
                yield Path(str(package.locate_file(file))).resolve()
    yield Path(sysconfig.get_path("scripts"), _NAME)
    yield Path(sys.executable).parent / _NAME


class Ripgrep:
    """One installed ripgrep."""

    def __init__(self, program: Path) -> None:
        self._program = program

    async def refusal(self, pattern: str) -> str:
        """Why `pattern` is no regular expression of this engine, "" when it is one."""
        try:
            await self._answer(["--regexp", pattern], b"", timeout_s=_CHECK_S)
        except ToolError as err:
            return err.message
        return ""

    async def lines_of(
        self, texts: Sequence[str], patterns: Sequence[str], *, timeout_s: float
    ) -> list[list[int]]:
        """For each text the 0-based numbers of the lines in which a pattern is found.

        Raises:
            DeadlineExceeded: the time was over.
            ToolError: a pattern is refused.
        """
        arguments = ["--text", "--line-number", "--max-columns=1", "--encoding=none"]
        for pattern in patterns:
            arguments += ["--regexp", pattern]
        joined = "\n".join(texts).encode("utf-8", "replace")
        answer = await self._answer(arguments, joined, timeout_s=timeout_s)
        numbers = [int(line.partition(b":")[0]) - 1 for line in answer.split(b"\n") if line]
        return _by_text(texts, numbers)

    async def run(
        self, arguments: Sequence[str], *, folder: str, timeout_s: float
    ) -> AsyncIterator[bytes]:
        """What a search in `folder` prints, in chunks; ended when the reader stops reading.

        Raises:
            DeadlineExceeded: the time was over; what came before is good.
            ToolError: the program refuses the arguments.
        """
        child = self._start(arguments, folder=folder, stdin=subprocess.DEVNULL)
        assert child.stdout is not None and child.stderr is not None
        try:
            async with asyncio.timeout(max(timeout_s, 0.01)):
                while chunk := await asyncio.to_thread(_read, child):
                    yield chunk
                message = await asyncio.to_thread(child.stderr.read, _ERROR_BYTES)
                _check(await asyncio.to_thread(child.wait), message)
        except TimeoutError as err:
            raise DeadlineExceeded(f"stopped after {timeout_s:.0f} s") from err
        finally:
            _end(child)

    async def records(
        self, arguments: Sequence[str], *, folder: str, timeout_s: float, end: bytes, limit: int
    ) -> AsyncIterator[bytes]:
        """The records of a search, without their `end`; one longer than `limit` bytes is cut."""
        rest = b""
        skipping = False
        async with aclosing(self.run(arguments, folder=folder, timeout_s=timeout_s)) as chunks:
            async for chunk in chunks:
                *whole, rest = (rest + chunk).split(end)
                for record in whole:
                    if not skipping:
                        yield record[:limit]
                    skipping = False
                if skipping:
                    rest = b""
                elif len(rest) > limit:
                    yield rest[:limit]
                    rest, skipping = b"", True

    async def _answer(self, arguments: Sequence[str], content: bytes, *, timeout_s: float) -> bytes:
        """All that a search in `content` prints."""
        child = self._start([*arguments, "--", "-"], folder=None, stdin=subprocess.PIPE)
        try:
            async with asyncio.timeout(max(timeout_s, 0.01)):
                answer, message = await asyncio.to_thread(child.communicate, content)
        except TimeoutError as err:
            raise DeadlineExceeded("matching took too long") from err
        finally:
            _end(child)
        _check(child.returncode, message)
        return answer

    def _start(
        self, arguments: Sequence[str], *, folder: str | None, stdin: int
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [str(self._program), "--no-config", "--color=never", "--no-messages", "--no-pre",
             "--engine=default", "--crlf", *_LIMITS, *arguments],
            cwd=folder or self._program.parent,
            env=_environment(),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("RIPGREP_")}


def _read(child: subprocess.Popen[bytes]) -> bytes:
    """The next bytes; nothing at the end, also when the program was ended meanwhile."""
    assert child.stdout is not None
    try:
        return child.stdout.read1(_CHUNK_BYTES)  # type: ignore[attr-defined,no-any-return]
    except ValueError:  # closed by `_end`
        return b""


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the program; a thread that still reads from it then comes to its end by itself."""
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()


def _check(code: int, message: bytes) -> None:
    """0 found, 1 nothing found; 2 also when a single file could not be read: that is no error."""
    text = message.decode("utf-8", "replace").strip()
    if code == 2 and text:
        reason = text.removeprefix("rg: ").rsplit("error: ", 1)[-1].split("\n")[0]
        raise ToolError(f"The pattern is not a regular expression: {reason}", code="invalid_input")


def _by_text(texts: Sequence[str], numbers: Sequence[int]) -> list[list[int]]:
    """Line numbers of the joined texts as those of each text."""
    found: list[list[int]] = []
    first, at = 0, 0
    for text in texts:
        count = text.count("\n") + 1
        own: list[int] = []
        while at < len(numbers) and numbers[at] < first + count:
            own.append(numbers[at] - first)
            at += 1
        found.append(own)
        first += count
    return found
