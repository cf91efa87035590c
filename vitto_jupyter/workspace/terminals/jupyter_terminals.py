"""Commands in a terminal that the user can open and watch, on jupyter_server's terminals.

Built by the app only. The terminal is called "vitto"; when that one is taken (the user runs
something in it), the next is "vitto2". What a command leaves in the shell (exports, functions)
stays for the next one; the folder does not: each command starts in its own.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import time
from contextlib import suppress
from typing import Any, Literal

from ...errors import PathRefused, ToolError
from ..base import CommandResult, TextSink
from ..paths import api_path, shown
from ..processes import name_of
from .jupyter_shell import Shell
from .plain_commands import run_plain
from .terminal_shell import bracketed, check_command
from .terminal_stream import CommandOutput
from .tty_wait import waits_for_input

_NAME = "vitto"
_MAX_SHELLS = 4
_START_S = 15.0
_BARE_START_S = 5.0
_FOLDER_S = 5.0
_CHECK_S = 10.0
_TELL_EVERY_S = 0.1
_LOOK_EVERY_S = 1.0

_Outcome = Literal["done", "timed out", "needs input", "not complete"]


class JupyterTerminals:
    """The port `Terminals`. `terminal_manager` None: the server has terminals switched off.

    Without a bash of version 4.4 or later, commands run as plain subprocesses that nobody can
    watch; the result's `terminal_name` is "" then.
    """

    def __init__(
        self, terminal_manager: Any | None, *, root: str, idle_input_s: float = 10.0
    ) -> None:
        self._manager = terminal_manager
        self._root = os.path.realpath(root)
        self._idle_input_s = idle_input_s
        self._shells: list[Shell] = []
        self._lock = asyncio.Lock()
        self._bash: str | None = None
        self._looked_for_bash = False
        self._stopping: set[asyncio.Task[None]] = set()

    async def available(self) -> bool:
        return self._manager is not None and os.name == "posix"

    async def close(self) -> None:
        """End our shells and everything that runs in them."""
        shells, self._shells = self._shells, []
        for shell in shells:
            await shell.close()
        await asyncio.gather(*self._stopping, return_exceptions=True)

    async def run(
        self, command: str, *, cwd: str, timeout_s: float, on_output: TextSink
    ) -> CommandResult:
        if not await self.available():
            raise ToolError("Terminals are not available on this server.", code="unavailable")
        command = check_command(command)
        folder = self._folder(cwd)
        bash = await self._find_bash()
        if bash is None:
            return await run_plain(command, folder=folder, timeout_s=timeout_s, on_output=on_output)
        refusal = await _syntax_error(bash, command)
        if refusal:
            return CommandResult(2, refusal, len(refusal), 0.0, _NAME)
        async with self._lock:
            shell = await self._idle_shell(bash, folder)
            if shell is None:
                return await run_plain(
                    command, folder=folder, timeout_s=timeout_s, on_output=on_output
                )
            return await self._run_in(
                shell, command, folder=folder, timeout_s=timeout_s, on_output=on_output
            )

    async def left_running(self) -> tuple[str, ...]:
        found = []
        for shell in self._shells:
            if shell.state == "ready":
                names = sorted({name_of(pid) for pid in await shell.background()} - {""})
                found += [f"{name} in the background of terminal {shell.name}" for name in names]
        return tuple(found)

    # -- one command -------------------------------------------------------------------------

    async def _run_in(
        self, shell: Shell, command: str, *, folder: str, timeout_s: float, on_output: TextSink
    ) -> CommandResult:
        started = time.monotonic()
        output = CommandOutput()
        try:
            await _go_to(shell, folder)
            await shell.send(command, output)
            outcome = await self._watch(
                shell, output, deadline=started + timeout_s, on_output=on_output
            )
        finally:
            await self._stop(shell)
        output.end()
        if piece := output.take_live():
            await on_output(piece)
        return CommandResult(
            exit_code=2 if outcome == "not complete" else shell.exit_code,
            output=output.text,
            total_chars=output.total_chars,
            seconds=time.monotonic() - started,
            terminal_name=shell.name,
            timed_out=outcome == "timed out",
            ended=_ended(shell, outcome),
        )

    async def _watch(
        self, shell: Shell, output: CommandOutput, *, deadline: float, on_output: TextSink
    ) -> _Outcome:
        """Tell what is printed until the command ends or must be ended."""
        quiet_since = looked_at = time.monotonic()
        seen_chars = 0
        while not shell.ended:
            now = time.monotonic()
            if now >= deadline:
                return "timed out"
            if shell.state == "unfinished":
                return "not complete"
            await shell.wait(lambda: shell.ended, min(_TELL_EVERY_S, deadline - now))
            if piece := output.take_live():
                await on_output(piece)
                quiet_since = now
            if output.total_chars != seen_chars:
                seen_chars, quiet_since = output.total_chars, now
            quiet = now - quiet_since >= self._idle_input_s
            if quiet and now - looked_at >= _LOOK_EVERY_S:
                looked_at = now
                if await asyncio.to_thread(waits_for_input, shell.terminal_fd):
                    return "needs input"
        return "done"

    async def _stop(self, shell: Shell) -> None:
        """End the command if it still runs, also when this call is cancelled once more."""
        if shell.ended:
            return
        task = asyncio.create_task(shell.stop_command())
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)
        await asyncio.shield(task)

    # -- shells ------------------------------------------------------------------------------

    async def _idle_shell(self, bash: str, folder: str) -> Shell | None:
        """A shell at its prompt; None when no bash gets that far."""
        self._shells = [shell for shell in self._shells if shell.state != "dead"]
        for shell in self._shells:
            if shell.state == "unfinished":  # the user began something of several lines
                await shell.press_interrupt()
            # The prompt comes a moment after the end of a command.
            await shell.wait(lambda shell=shell: shell.state in ("ready", "dead"), 0.5)
            if shell.idle:
                return shell
        if len(self._shells) >= _MAX_SHELLS:
            raise ToolError(
                f"All {_MAX_SHELLS} terminals of Vitto are busy with other programs.",
                code="busy",
                hint="Ask the user to end them.",
            )
        return await self._new_shell(bash, folder)

    async def _new_shell(self, bash: str, folder: str) -> Shell | None:
        """A new shell with the user's start-up files, or without when these do not get through."""
        for user_files, wait_s in ((self._user_files(), _START_S), ("none", _BARE_START_S)):
            shell = Shell(self._manager, self._free_name(), folder=folder)
            shell.start(bash, user_files=user_files)
            self._shells.append(shell)
            try:
                if await shell.wait_ready(wait_s):
                    return shell
            except asyncio.CancelledError:
                self._shells.remove(shell)
                await asyncio.shield(shell.close())
                raise
            self._shells.remove(shell)
            await shell.close()
        return None

    def _user_files(self) -> str:
        """As the server's own terminals: a login shell when it was not started from a terminal."""
        command = getattr(self._manager, "shell_command", None) or []
        return "login" if "-l" in command else "interactive"

    def _free_name(self) -> str:
        names = [_NAME, *(f"{_NAME}{number}" for number in range(2, 100))]
        return next(name for name in names if name not in self._manager.terminals)

    # -- what is asked for -------------------------------------------------------------------

    def _folder(self, cwd: str) -> str:
        """The folder on disk of API path `cwd`, inside the root."""
        path = api_path(cwd, root=self._root)
        folder = os.path.realpath(os.path.join(self._root, path))
        if os.path.commonpath([folder, self._root]) != self._root:
            raise PathRefused(f"{shown(cwd)} leads out of the contents root.")
        if not os.path.isdir(folder):
            raise ToolError(f"There is no folder {shown(cwd)}.", code="not_found")
        return folder

    async def _find_bash(self) -> str | None:
        if not self._looked_for_bash:
            self._bash = await _bash_path()
            self._looked_for_bash = True
        return self._bash


async def _go_to(shell: Shell, folder: str) -> None:
    """Change the folder first, as a command of its own that the user sees."""
    if shell.is_in(folder):
        return
    await shell.send(f"builtin cd -- {shlex.quote(folder)}", CommandOutput())
    arrived = await shell.wait(lambda: shell.state in ("ready", "dead"), _FOLDER_S)
    if not arrived or shell.exit_code != 0:
        raise ToolError("The terminal could not change to the folder of the command.")


def _ended(shell: Shell, outcome: _Outcome) -> str:
    if shell.state == "dead":
        if outcome != "done":
            return "the shell had to be ended; the next command gets a new one"
        if shell.closed_by_signal:
            return "the terminal was closed"
        return "the shell exited; the next command gets a new one"
    if outcome == "needs input":
        return "it waited for input at the terminal, which nobody gives; it was ended"
    if outcome == "not complete":
        return "the command is not complete: bash asked for more lines"
    return ""


async def _bash_path() -> str | None:
    """A bash that knows PS0 (4.4), None without one."""
    path = shutil.which("bash")
    if path is None:
        return None
    code, printed = await _output_of(path, "--norc", "-c", 'echo "${BASH_VERSINFO[*]:0:2}"')
    with suppress(ValueError):
        major, minor = map(int, printed.split())
        if code == 0 and (major, minor) >= (4, 4):
            return path
    return None


async def _syntax_error(bash: str, command: str) -> str:
    """What bash has against the command, "" when it parses. Nothing is run.

    Unclosed quotes and the like would leave the terminal waiting for more lines.
    """
    for text in dict.fromkeys((command, bracketed(command))):
        code, printed = await _output_of(bash, "--norc", "-n", "-c", "--", text)
        if code != 0 or "here-document" in printed:
            return printed or "bash: the command is not complete\n"
    return ""


async def _output_of(*command: str) -> tuple[int, str]:
    environment = {name: value for name, value in os.environ.items() if name != "BASH_ENV"}
    process = await asyncio.create_subprocess_exec(
        *command,
        env={**environment, "LC_ALL": "C"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(_CHECK_S):
            printed, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, printed.decode(errors="replace")
