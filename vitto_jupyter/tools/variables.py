"""inspect_variables: what a kernel's variables are, without running user code."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import KernelUnavailable, ToolError
from ..protocol.base import Wire
from ..protocol.tool import ToolResult
from ..workspace.base import KernelInfo, Variable
from ..workspace.plain_text import clip_line, plain
from .base import Proposal, Tool, ToolContext, done, read_proposal
from .clipping import clip
from .targets import notebook_path

_VARIABLES_CHARS = 12_000
_LISTED_CHARS = 500  # of each, when all are listed
_OTHER_CHARS = 3_000
_MAX_OTHER = 10


class InspectVariables(Wire):
    path: str | None = None
    names: tuple[str, ...] = ()


async def _propose_inspect(ctx: ToolContext, args: InspectVariables) -> Proposal:
    path = notebook_path(ctx, args.path)
    return read_proposal((path,), lambda: _inspect(ctx, path, args.names))


async def _inspect(ctx: ToolContext, path: str, names: Sequence[str]) -> ToolResult:
    kernel = await running_kernel(ctx, path)
    specs = await ctx.workspace.kernels.specs()
    language = next((spec.language for spec in specs if spec.name == kernel.name), "")
    try:
        if language.lower() == "python":
            return await _python(ctx, path, kernel, names)
        return await _other(ctx, path, kernel, names, language=language or kernel.name)
    except ToolError as err:
        if err.code != "kernel_busy":
            raise
        raise ToolError(f"{err.message}{_what_runs(ctx, path)}", code=err.code) from err


async def _python(
    ctx: ToolContext, path: str, kernel: KernelInfo, names: Sequence[str]
) -> ToolResult:
    usable = [name for name in names if name.isidentifier()]
    found: Sequence[Variable] = ()
    if usable or not names:
        found = await ctx.workspace.kernels.variables(kernel.kernel_id, usable)
    lines = [_line(variable, limit=2_000 if names else _LISTED_CHARS) for variable in found]
    known = {variable.name for variable in found}
    missing = [name for name in usable if name not in known]
    if missing:
        lines.append(f"Not defined: {', '.join(missing)}")
    no_names = [clip_line(repr(name), 80) for name in names if name not in usable]
    if no_names:
        lines.append(f"Not defined, no names (use execute_code): {', '.join(no_names)}")
    text = clip("\n".join(lines), _VARIABLES_CHARS, rest="ask by names")
    return done(text or "No variables are defined.", path=path, count=len(found))


def _line(variable: Variable, *, limit: int) -> str:
    summary = clip_line(variable.summary, limit)
    return f"{variable.name}: {variable.type}{f' = {summary}' if summary else ''}"


async def _other(
    ctx: ToolContext, path: str, kernel: KernelInfo, names: Sequence[str], *, language: str
) -> ToolResult:
    """What the kernel itself says; there is no such question about all of its variables."""
    hint = "Print what you need with execute_code."
    if not names:
        raise KernelUnavailable(
            f"A list of variables is not available for {language} kernels.", hint=hint
        )
    lines, known = [], 0
    for name in names[:_MAX_OTHER]:
        told = plain(await ctx.workspace.kernels.inspect(kernel.kernel_id, name)).strip()
        known += bool(told)
        lines.append(f"{name}: {clip(told, _OTHER_CHARS) if told else 'nothing told'}")
    if len(names) > _MAX_OTHER:
        lines.append(f"[only {_MAX_OTHER} names at once]")
    if not known:
        raise KernelUnavailable(
            f"This {language} kernel tells nothing about {', '.join(names)}.", hint=hint
        )
    return done("\n".join(lines), path=path, count=known)


def _what_runs(ctx: ToolContext, path: str) -> str:
    """What we run in the notebook, as a sentence; "" when it is not ours."""
    run = next((run for run in ctx.workspace.runs.open_runs() if run.path == path), None)
    if run is None:
        return ""
    what = f"cell {run.label}" if run.cell_id else "code of yours"
    return f" It runs {what} (run {run.run_id}) since {run.since}."


async def running_kernel(ctx: ToolContext, path: str) -> KernelInfo:
    kernel = await ctx.workspace.kernels.find(path)
    if kernel is None:
        raise KernelUnavailable(
            f"{path} has no running kernel.", hint="Running a cell of it starts one."
        )
    return kernel


INSPECT_VARIABLES = Tool(
    name="inspect_variables",
    description="Variables of the notebook's kernel, all or by names, with shape, types, size and "
    "a sample; runs no user code. Other kernels than Python: by names, if they tell.",
    effect="read",
    input_model=InspectVariables,
    propose=_propose_inspect,
)
