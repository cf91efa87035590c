"""run_command: a command in a terminal that the user can see."""

from __future__ import annotations

import unicodedata
from typing import Annotated

from pydantic import Field

from ..errors import DocumentNotFound, ToolError
from ..policy.facts import Facts
from ..protocol.approval import CommandPreview
from ..protocol.base import Wire
from ..protocol.tool import ToolResult
from ..workspace.base import CommandResult
from ..workspace.paths import api_path, shown
from ..workspace.plain_text import plain
from .base import Grant, Proposal, Tool, ToolContext, done, failed
from .clipping import clip
from .run_view import seconds_of
from .running import Progress

_OUTPUT_CHARS = 16_000
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


class RunCommand(Wire):
    command: str
    cwd: str = ""
    timeout_s: Annotated[float, Field(gt=0)] | None = None


async def _propose(ctx: ToolContext, args: RunCommand) -> Proposal:
    _check(args.command)
    cwd = await _folder(ctx, args.cwd)
    if not await ctx.workspace.terminals.available():
        raise ToolError("Terminals are not available on this server.", code="no_terminal")
    preview = CommandPreview(command=args.command, cwd=cwd)
    facts = Facts("execute", (cwd,), command=args.command)
    timeout_s = _allowed_s(ctx, args.timeout_s)

    async def apply(grant: Grant) -> ToolResult:
        result = await ctx.workspace.terminals.run(
            args.command,
            cwd=cwd,
            timeout_s=timeout_s,
            on_output=Progress(ctx.progress).say,
        )
        return _report(result)

    return Proposal(facts, apply, title="Run this command?", preview=preview)


def _check(command: str) -> None:
    """What is shown must be what a shell reads: a terminal acts on control characters."""
    if not command.strip():
        raise ToolError("The command is empty.", code="invalid_input")
    bad = {c for c in command if c not in "\n\t" and unicodedata.category(c) in _UNSEEN}
    if bad:
        names = ", ".join(sorted(f"U+{ord(char):04X}" for char in bad)[:8])
        raise ToolError(
            f"The command contains characters that cannot be seen ({names}); it was not run.",
            code="control_characters",
            hint="Write them as escapes, for example with printf or $'…'.",
        )


async def _folder(ctx: ToolContext, cwd: str) -> str:
    path = api_path(cwd, root=ctx.workspace.root)
    if not path:
        return path
    try:
        entry = await ctx.workspace.documents.entry(path)
    except DocumentNotFound as err:
        raise DocumentNotFound(f"There is no folder {shown(path)}.") from err
    if entry.type != "directory":
        raise ToolError(f"{shown(path)} is not a folder.", code="not_a_folder")
    return path


def _allowed_s(ctx: ToolContext, wanted_s: float | None) -> float:
    settings = ctx.settings
    if wanted_s is None:
        return settings.command_timeout_s
    return min(wanted_s, max(settings.command_timeout_s, settings.cell_timeout_s))


def _report(result: CommandResult) -> ToolResult:
    output = clip(plain(result.output).rstrip("\n"), _OUTPUT_CHARS)
    took = seconds_of(result.seconds)
    if result.total_chars > len(result.output):
        took += f", {result.total_chars:,} characters of output in all"
    metadata = {
        "terminal": result.terminal_name,
        "exit_code": result.exit_code,
        "seconds": round(result.seconds, 3),
    }
    if not result.terminal_name:
        took += ", without a visible terminal"
    because = f" ({result.ended})" if result.ended else ""
    text = f"exit code {result.exit_code}, {took}{because}\n{output or '(no output)'}"
    if result.timed_out:
        error = f"Time-out after {took}: the command had not ended and was stopped."
        return failed(error, output=output, state="timed_out", **metadata)
    if result.exit_code is None:
        error = f"The shell itself ended: {result.ended or 'no exit code came'}."
        return failed(error, output=output, state="ended", **metadata)
    if result.exit_code != 0:
        error = f"Exit code {result.exit_code}, {took}{because}."
        return failed(error, output=output, **metadata)
    return done(text, **metadata)


RUN_COMMAND = Tool(
    name="run_command",
    description="Run a shell command in Vitto's visible terminal. cwd is relative to the root.",
    effect="execute",
    input_model=RunCommand,
    propose=_propose,
)
