"""A process of ours for work on big files: started at its first call, ended when idle.

The work must not happen in the server's process, not even in a thread: decoding 100 MB holds
the interpreter's lock in calls of 100 ms and more, and all of Jupyter waits.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Protocol

from .frame_values import BadFrame, End
from .frames import read_frame, write_frame

IDLE_S = 60.0
_CODE = "from vitto_jupyter.workspace.documents.file_process_main import main; main()"


class ProcessEnded(Exception):
    """The process ended before it had answered."""


class Request(Protocol):
    """Work to do. Small answers keep the caller's loop quick."""

    def answers(self, kept: Any) -> Iterator[Any]: ...


class FileProcess:
    """Does one request at a time."""

    def __init__(self, *, idle_s: float = IDLE_S) -> None:
        self._idle_s = idle_s
        self._turn = asyncio.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._idle: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """Of the process, None while there is none."""
        return self._child.pid if self._child else None

    @property
    def is_busy(self) -> bool:
        return self._turn.locked()

    async def call(self, request: Request) -> list[Any]:
        """All answers to the request. When the caller is cancelled, the process ends.

        Raises:
            VittoError, OSError: what the work raised.
            ProcessEnded: the next call starts another one.
        """
        async with self._turn:
            try:
                await self._end_idling()
                child = self._child = self._child or await asyncio.to_thread(_started)
                return await asyncio.to_thread(_exchange, child, request)
            except asyncio.CancelledError:
                await self._end()
                raise
            except (EOFError, BrokenPipeError) as err:
                raise ProcessEnded(_words(await self._end())) from err
            except BadFrame as err:
                await self._end()
                raise ProcessEnded(str(err)) from err
            finally:
                self._idle = asyncio.get_running_loop().create_task(self._end_when_idle())

    async def close(self) -> None:
        await self._end_idling()
        await self._end()

    async def _end(self) -> int | None:
        """End the process, which has nothing to lose. Gives its exit status."""
        child, self._child = self._child, None
        if child is None:
            return None
        child.kill()
        return await asyncio.to_thread(_gone, child)

    async def _end_when_idle(self) -> None:
        await asyncio.sleep(self._idle_s)
        async with self._turn:
            await self._end()

    async def _end_idling(self) -> None:
        idle, self._idle = self._idle, None
        if idle is not None:
            idle.cancel()
            await asyncio.wait({idle})


def _started() -> subprocess.Popen[bytes]:
    """A session of its own: Ctrl-C in the server's terminal is for the server."""
    command = [sys.executable, "-P", "-c", _CODE]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, start_new_session=True)


def _exchange(child: subprocess.Popen[bytes], request: Request) -> list[Any]:
    """Runs in a thread; ends when the child does."""
    assert child.stdin is not None and child.stdout is not None
    write_frame(child.stdin, request)
    answers: list[Any] = []
    while not isinstance(answer := read_frame(child.stdout), End):
        answers.append(answer)
    if answer.error is not None:
        raise answer.error
    return answers


def _gone(child: subprocess.Popen[bytes]) -> int:
    status = child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    return status


def _words(status: int | None) -> str:
    if status is not None and status < 0:
        return f"ended by {signal.Signals(-status).name}"
    return f"ended with exit status {status}"
