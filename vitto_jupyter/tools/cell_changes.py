"""What all changes of cells share: the proposal, the kernel for a run, and the result after it."""

from __future__ import annotations

from typing import Literal

from ..errors import ToolError
from ..policy.facts import Facts
from ..protocol.approval import DiffPreview
from ..protocol.tool import ToolResult
from ..workspace.base import (
    Cell,
    CellType,
    Notebook,
)
from .base import Apply, Proposal, ToolContext, done, failed
from .run_view import run_result
from .running import kernel_name_for, run_in_order


def language_of_cell(notebook: Notebook, cell_type: CellType) -> str:
    return (notebook.language or "python") if cell_type == "code" else cell_type


def change_proposal(
    path: str, apply: Apply, title: str, preview: DiffPreview, *, run: bool
) -> Proposal:
    """A change of cells; with `run` it is judged by the code that will run."""
    effect: Literal["write", "execute"] = "execute" if run else "write"
    code = "\n\n".join(change.after for change in preview.changes) if run else None
    return Proposal(Facts(effect, (path,), code=code), apply, title=title, preview=preview)


async def kernel_for_run(ctx: ToolContext, notebook: Notebook, types: tuple[CellType, ...]) -> str:
    if "code" not in types:
        raise ToolError("There is no code to run in this cell.", hint="Leave out run.")
    return await kernel_name_for(ctx, notebook)


async def finished(
    ctx: ToolContext,
    path: str,
    cells: tuple[Cell, ...],
    lead: str,
    *,
    kernel_name: str | None,
    trusted: bool = False,
    **metadata: str | int,
) -> ToolResult:
    """The result of a change, after the run that was allowed with it."""
    if kernel_name is None:
        return done(lead, path=path, **metadata)
    code_cells = [cell for cell in cells if cell.cell_type == "code"]
    try:
        report = await run_in_order(ctx, path, code_cells, kernel_name=kernel_name, trusted=trusted)
    except ToolError as err:
        return failed(f"{lead} Not run: {err.message} {err.hint}".strip(), path=path, **metadata)
    result = await run_result(report, lead=lead)
    return result.model_copy(update={"metadata": {**metadata, **result.metadata}})
