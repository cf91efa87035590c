"""One bash in one visible terminal of the server. Imported by jupyter_terminals only.

A tap, which terminado takes for one more browser client, sees all that is printed. Markers tell
where the shell is; the text between "runs" and "done" belongs to the command. The user may type
in the same terminal: nothing is typed unless bash is at its prompt.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal

from ..processes import of_session, signal_all
from .terminal_shell import EXTRA_ENVIRONMENT, start_file, typed
from .terminal_stream import CommandOutput, Mark, MarkParser

# starting; ready = at the prompt; sent = typed, not yet read; running = a command runs;
# unfinished = bash wants more lines; between = a command ended, the prompt is not there yet
ShellState = Literal["starting", "ready", "sent", "running", "unfinished", "between", "dead"]

_KILL_STEPS = (
    (None, 0.6),
    (signal.SIGTERM, 0.3),
    (None, 0.2),
    (signal.SIGKILL, 0.3),
    (None, 0.3),
)
_END_CHILDREN_S = 0.3


class Shell:
    """A bash in the terminal `name`. One command at a time: `send`, then wait for `ended`."""

    def __init__(self, manager: Any, name: str, *, folder: str) -> None:
        self.name = name
        self.folder = folder
        self.state: ShellState = "starting"
        self.exit_code: int | None = None
        self.closed_by_signal = False
        self._manager = manager
        self._key = secrets.token_hex(8)
        self._marks = MarkParser(self._key)
        self._output: CommandOutput | None = None
        self._changed = asyncio.Event()
        self._terminal: Any = None
        self._rc_path = ""
        self._earlier: frozenset[int] = frozenset()

    # -- life --------------------------------------------------------------------------------

    def start(self, bash: str, *, user_files: str) -> None:
        """Make the terminal. Raises OSError when the process cannot be started."""
        descriptor, self._rc_path = tempfile.mkstemp(prefix="vitto-", suffix=".bashrc")
        with os.fdopen(descriptor, "w") as file:
            file.write(start_file(self._key, user_files=user_files))
        try:
            self._manager.create(
                name=self.name,
                cwd=self.folder,
                shell_command=_obeying_ctrl_c(
                    [bash, "--noprofile", "--rcfile", self._rc_path, "-i"]
                ),
                extra_env=dict(EXTRA_ENVIRONMENT),
            )
        except BaseException:
            self._remove_rc()
            raise
        self._terminal = self._manager.terminals[self.name]
        self._terminal.clients.append(_Tap(self))

    async def wait_ready(self, timeout_s: float) -> bool:
        """Wait for the first prompt; the start-up file is gone afterwards."""
        ready = await self.wait(lambda: self.state in ("ready", "dead"), timeout_s)
        self._remove_rc()
        return ready and self.state == "ready"

    async def close(self) -> None:
        """End the shell and what runs in it."""
        self._remove_rc()
        if self._terminal is None or self.state == "dead":
            return
        self.signal_foreground(signal.SIGKILL)
        signal_all(await self.background(), signal.SIGKILL)
        await self._terminal.terminate(force=True)
        await self.wait(lambda: self.state == "dead", 2.0)
        self._manager.terminals.pop(self.name, None)

    def _remove_rc(self) -> None:
        if self._rc_path:
            with suppress(FileNotFoundError):
                os.unlink(self._rc_path)
            self._rc_path = ""

    # -- commands ----------------------------------------------------------------------------

    @property
    def idle(self) -> bool:
        """At the prompt, with nothing else in the foreground: typing reaches bash."""
        return self.state == "ready" and self._foreground() is None

    @property
    def ended(self) -> bool:
        """Whether the command that was sent has ended, with `exit_code`, or the shell with it."""
        return self.state in ("ready", "between", "dead")

    async def send(self, command: str, output: CommandOutput) -> None:
        """Type `command`. What it prints goes to `output`."""
        self._earlier = await self.background()
        self._output = output
        self.exit_code = None
        self._set("sent")
        await self._write(typed(command))

    async def background(self) -> frozenset[int]:
        """What else runs in this terminal: all but the shell."""
        shell = self._terminal.ptyproc.pid
        return await asyncio.to_thread(of_session, shell) - {shell}

    async def stop_command(self) -> None:
        """End the command with all that it has started, within some two seconds."""
        await self._end_foreground()
        for number in (signal.SIGTERM, signal.SIGKILL):
            started = await self.background() - self._earlier
            if not started:
                return
            signal_all(started, number)
            await asyncio.sleep(_END_CHILDREN_S)

    async def _end_foreground(self) -> None:
        """Ctrl-C, then the signals, then the shell itself."""
        for number, wait_s in _KILL_STEPS:
            if number is None:
                await self.press_interrupt()
            else:
                self.signal_foreground(number)
            if await self.wait(lambda: self.ended, wait_s):
                return
        self._terminal.kill(signal.SIGKILL)
        await self.wait(lambda: self.ended, 1.0)

    async def press_interrupt(self) -> None:
        await self._write("\x03")

    def signal_foreground(self, number: int) -> None:
        """Signal what runs in the foreground, never the shell."""
        group = self._foreground()
        if group is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, number)

    @property
    def terminal_fd(self) -> int:
        return int(self._terminal.ptyproc.fd)

    def is_in(self, folder: str) -> bool:
        """Whether the shell's working folder is `folder`; False when that cannot be told."""
        try:
            return os.readlink(f"/proc/{self._terminal.ptyproc.pid}/cwd") == folder
        except OSError:
            return False

    async def wait(self, reached: Callable[[], bool], timeout_s: float) -> bool:
        """Wait for a state; False when the time came first."""
        try:
            async with asyncio.timeout(timeout_s):
                while not reached():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return False
        return True

    async def _write(self, text: str) -> None:
        # In a thread: a program that does not read its input would block the whole server.
        with suppress(OSError, ValueError):  # closed meanwhile: `on_died` tells
            await asyncio.to_thread(self._terminal.ptyproc.write, text)

    def _foreground(self) -> int | None:
        """The process group in the foreground, None when that is the shell itself."""
        process = self._terminal.ptyproc
        try:
            group = os.tcgetpgrp(process.fd)
        except OSError:
            return None
        return None if group == process.pid else group

    # -- what the tap sees -------------------------------------------------------------------

    def on_read(self, text: str) -> None:
        for part in self._marks.feed(text):
            if isinstance(part, Mark):
                self._on_mark(part)
            elif self.state == "running" and self._output is not None:
                self._output.feed(part)
                self._changed.set()

    def _on_mark(self, mark: Mark) -> None:
        match mark.kind:
            case "C":
                if self.state != "sent":
                    self._output = None  # the user's own command
                self._set("running")
            case "D":
                # Without C when bash refused the line, or Ctrl-C came while it was typed.
                if self.state in ("running", "sent", "unfinished"):
                    self.exit_code = int(mark.value or 0)
                    self._end_output()
                self._set("between" if self.state != "starting" else "starting")
            case "B":
                self._set("ready" if self.state != "sent" else "sent")
            case "P":
                self._set("unfinished")

    def on_died(self) -> None:
        process = self._terminal.ptyproc
        self.exit_code = process.exitstatus
        self.closed_by_signal = process.exitstatus is None
        self._end_output()
        self._remove_rc()
        self._manager.terminals.pop(self.name, None)
        self._set("dead")

    def _end_output(self) -> None:
        if self._output is not None:
            self._output.end()
            self._output = None

    def _set(self, state: ShellState) -> None:
        self.state = state
        self._changed.set()


_RESTORE = (
    # SIGPIPE and SIGXFSZ: this Python itself has set them to be ignored
    "import os, signal, sys; "
    "[signal.signal(n, signal.SIG_DFL) for n in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ)]; "
    "os.execvp(sys.argv[1], sys.argv[1:])"
)


def _obeying_ctrl_c(command: list[str]) -> list[str]:
    """`command` with Ctrl-C as it is by default.

    A server that was started in the background (`nohup jupyter lab &`) ignores it, and so would
    everything in the terminal: that is inherited, and a shell cannot undo it.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        return command
    return [sys.executable, "-I", "-S", "-c", _RESTORE, *command]


class _Tap:
    """What terminado expects of a client; it has no size, so it does not resize the terminal."""

    size = (None, None)

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    def on_pty_read(self, text: str) -> None:
        self._shell.on_read(text)

    def on_pty_died(self) -> None:
        self._shell.on_died()
