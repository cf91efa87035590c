"""inspect_variables: what a kernel's variables are, without running user code."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import KernelUnavailable
from ..protocol.base import Wire
from ..protocol.tool import ToolResult
from ..workspace.base import KernelInfo, Variable
from .base import Proposal, Tool, ToolContext, done, read_proposal
from .clipping import clip, clip_line, count_of
from .targets import notebook_path

_MAX_VARIABLES = 200
_VARIABLES_CHARS = 12_000


class InspectVariables(Wire):
    path: str | None = None
    names: tuple[str, ...] = ()


async def _propose_inspect(ctx: ToolContext, args: InspectVariables) -> Proposal:
    path = notebook_path(ctx, args.path)
    return read_proposal((path,), lambda: _inspect(ctx, path, args.names))


async def _inspect(ctx: ToolContext, path: str, names: Sequence[str]) -> ToolResult:
    kernel = await running_kernel(ctx, path)
    specs = await ctx.workspace.kernels.specs()
    language = next((spec.language for spec in specs if spec.name == kernel.name), "python")
    if language.lower() != "python":
        raise KernelUnavailable(
            f"Variables of a {language} kernel cannot be inspected.",
            hint="Print what you need with execute_code.",
        )
    found = await ctx.workspace.kernels.variables(kernel.kernel_id, names)
    missing = [name for name in names if name not in {variable.name for variable in found}]
    lines = [_variable_line(variable) for variable in found[:_MAX_VARIABLES]]
    if len(found) > _MAX_VARIABLES:
        lines.append(f"[{count_of(len(found) - _MAX_VARIABLES, 'more variable')}; ask by names]")
    if missing:
        lines.append(f"Not defined: {', '.join(missing)}")
    text = clip("\n".join(lines), _VARIABLES_CHARS) or "No variables are defined."
    return done(text, path=path, count=len(found))


def _variable_line(variable: Variable) -> str:
    return f"{variable.name}: {variable.type} = {clip_line(variable.summary, 2_000)}"


async def running_kernel(ctx: ToolContext, path: str) -> KernelInfo:
    kernel = await ctx.workspace.kernels.find(path)
    if kernel is None:
        raise KernelUnavailable(
            f"{path} has no running kernel.", hint="Running a cell of it starts one."
        )
    return kernel


INSPECT_VARIABLES = Tool(
    name="inspect_variables",
    description="Variables of the notebook's Python kernel, all or by names; runs no user code.",
    effect="read",
    input_model=InspectVariables,
    propose=_propose_inspect,
)
