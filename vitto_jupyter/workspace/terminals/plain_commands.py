"""Commands without a terminal: where there is no bash of the right age. Nobody can watch these.

Imported by jupyter_terminals only.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import suppress

from ..base import CommandResult, TextSink
from .terminal_shell import EXTRA_ENVIRONMENT
from .terminal_stream import CommandOutput

_END_STEPS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
_STEP_S = 0.6
_TELL_EVERY_S = 0.1


async def run_plain(
    command: str, *, folder: str, timeout_s: float, on_output: TextSink
) -> CommandResult:
    """Run `command` with sh; its input is empty. The result's `terminal_name` is ""."""
    started = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        "sh",
        "-c",
        command,
        cwd=folder,
        env=_environment(),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    output = CommandOutput()
    reader = asyncio.create_task(_read(process, output))
    timed_out = False
    try:
        deadline = started + timeout_s
        while not reader.done() and not timed_out:
            await asyncio.wait((reader,), timeout=min(_TELL_EVERY_S, timeout_s))
            timed_out = time.monotonic() >= deadline and not reader.done()
            if piece := output.take_live():
                await on_output(piece)
    finally:
        await asyncio.shield(_end(process, reader))
    output.end()
    if piece := output.take_live():
        await on_output(piece)
    return CommandResult(
        exit_code=_exit_code(process.returncode),
        output=output.text,
        total_chars=output.total_chars,
        seconds=time.monotonic() - started,
        terminal_name="",
        timed_out=timed_out,
    )


async def _read(process: asyncio.subprocess.Process, output: CommandOutput) -> None:
    import codecs

    assert process.stdout is not None
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    while chunk := await process.stdout.read(65_536):
        output.feed(decoder.decode(chunk))
    await process.wait()


async def _end(process: asyncio.subprocess.Process, reader: asyncio.Task[None]) -> None:
    """End what still runs, a background job that holds the output included."""
    was_over = reader.done()
    for step in _END_STEPS:
        if reader.done():
            break
        with suppress(ProcessLookupError):
            os.killpg(process.pid, step)
        await asyncio.wait((reader,), timeout=_STEP_S)
    if not was_over:
        with suppress(ProcessLookupError):  # what let go of the output, too
            os.killpg(process.pid, signal.SIGKILL)
    if not reader.done():
        reader.cancel()
    await asyncio.gather(reader, return_exceptions=True)


def _environment() -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if name not in EXTRA_ENVIRONMENT},
        **{name: value for name, value in EXTRA_ENVIRONMENT.items() if value is not None},
    }


def _exit_code(returncode: int | None) -> int | None:
    """As a shell tells it: 128 + n for signal n."""
    return 128 - returncode if returncode is not None and returncode < 0 else returncode
