"""move_cells: cells go elsewhere in their notebook, with their outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from ..errors import EditConflict, ToolError, WriteFailed
from ..policy.facts import Facts
from ..protocol.approval import ActionPreview
from ..protocol.base import Wire
from ..protocol.tool import ToolResult
from ..workspace.base import Cell, MoveCells, Notebook
from ..workspace.paths import name_of
from ..workspace.plain_text import clip_line
from .base import Grant, Proposal, Tool, ToolContext, done, failed, read_proposal
from .clipping import count_of
from .notebook_view import first_line, outline
from .targets import cell_name, cell_of, changed_outline, notebook_path, open_notebook

_PREVIEW_LINE_CHARS = 100


class Move(Wire):
    path: str | None = None
    cell_ids: Annotated[tuple[str, ...], Field(min_length=1)]
    after: str


async def _propose(ctx: ToolContext, args: Move) -> Proposal:
    path = notebook_path(ctx, args.path)
    notebook = await open_notebook(ctx, path)
    cells = [cell_of(notebook, cell_id) for cell_id in dict.fromkeys(args.cell_ids)]
    ids = [cell.cell_id for cell in cells]
    if args.after in ids:
        raise ToolError("after names one of the cells that move.", code="invalid_input")
    if args.after not in ("start", "end"):
        cell_of(notebook, args.after)
    if order_after(notebook, ids, args.after) == [cell.cell_id for cell in notebook.cells]:
        return read_proposal((path,), lambda: _nothing_to_do(path, cells))
    what = f"cell {cells[0].label}" if len(cells) == 1 else count_of(len(cells), "cell")
    preview = ActionPreview(text=_preview(notebook, cells, args.after))

    async def apply(grant: Grant) -> ToolResult:
        return await _move(ctx, path, cells, args.after)

    title = f"Move {what} of {name_of(path)}?"
    return Proposal(Facts("write", (path,)), apply, title=title, preview=preview)


def order_after(notebook: Notebook, moved: Sequence[str], after: str) -> list[str]:
    """The ids of all cells in the order that the move makes."""
    others = [cell.cell_id for cell in notebook.cells if cell.cell_id not in moved]
    if after == "start":
        at = 0
    elif after == "end":
        at = len(others)
    else:
        at = others.index(after) + 1
    return [*others[:at], *moved, *others[at:]]


def _preview(notebook: Notebook, cells: Sequence[Cell], after: str) -> str:
    """What people see: the cells, where they go, and which numbers they will have."""
    order = order_after(notebook, [cell.cell_id for cell in cells], after)
    lines = [f"{'These cells move' if len(cells) > 1 else 'This cell moves'}:"]
    for cell in cells:
        number = order.index(cell.cell_id) + 1
        becomes = f", becomes cell {number}" if str(number) != cell.label else ""
        lines.append(f"  cell {cell.label}{becomes}: {_named(cell)}")
    target = notebook.cell(after)
    if target is None:
        lines.append("to the top of the notebook" if after == "start" else "to the end")
    else:
        lines.append(f"to right below cell {target.label}: {_named(target)}")
    return "\n".join(lines)


def _named(cell: Cell) -> str:
    return clip_line(first_line(cell.source), _PREVIEW_LINE_CHARS) or f"(empty {cell.cell_type})"


async def _nothing_to_do(path: str, cells: Sequence[Cell]) -> ToolResult:
    return done("The cells are there already; nothing was moved.", path=path, cells=_rows(cells))


async def _move(ctx: ToolContext, path: str, cells: Sequence[Cell], after: str) -> ToolResult:
    documents = ctx.workspace.documents
    ids = tuple(cell.cell_id for cell in cells)
    try:
        await documents.edit_notebook(path, (MoveCells(ids, after),))
    except EditConflict as err:
        now = await documents.read_notebook(path)
        return failed(
            f"{err.message} No cell was moved.", output=outline(now, count=60).text, path=path
        )
    now = await documents.read_notebook(path)
    at = {cell.cell_id: index for index, cell in enumerate(now.cells)}
    places = [at.get(cell_id, -1) for cell_id in ids]
    if -1 in places or places != list(range(places[0], places[0] + len(ids))):
        raise WriteFailed("The cells were moved, but are not where they were sent.")
    changed_outline(ctx, now)
    moved = [now.cells[place] for place in places]
    pairs = zip(cells, moved, strict=True)
    names = ", ".join(f"cell {old.label} is now {cell_name(new)}" for old, new in pairs)
    return done(f"Moved in {path}: {names}.", path=path, cells=_rows(moved))


def _rows(cells: Sequence[Cell]) -> list[dict[str, str]]:
    return [{"cell_id": cell.cell_id, "label": cell.label} for cell in cells]


MOVE_CELLS = Tool(
    name="move_cells",
    description="Move cells, in the given order, to right behind after: a cell id, start or end.",
    effect="write",
    input_model=Move,
    propose=_propose,
)
