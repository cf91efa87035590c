"""read_notebook: the outline first, cells and outputs on demand."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from pydantic import Field

from ..errors import ToolError
from ..protocol.base import Wire
from ..protocol.tool import ToolResult
from ..workspace.base import Cell, Notebook
from ..workspace.runs.run_reports import LastRun
from .base import Proposal, Tool, ToolContext, done, read_proposal
from .cell_flags import NO_FLAGS, Flags, flags_of
from .images import Images
from .notebook_view import (
    OUTLINE_COUNT,
    Look,
    View,
    is_small,
    outline,
    source_page,
    whole_cells,
)
from .output_parts import fetch_from
from .targets import cell_of, notebook_path, open_notebook, saw_cells, saw_outline

_KERNEL_WAIT_S = 2.0
_MAX_COUNT = 200


class ReadNotebook(Wire):
    path: str | None = None
    cells: tuple[str, ...] | None = None
    outputs: bool = True
    start: Annotated[int, Field(ge=1)] = 1
    count: Annotated[int, Field(ge=1)] = OUTLINE_COUNT


async def _propose(ctx: ToolContext, args: ReadNotebook) -> Proposal:
    path = notebook_path(ctx, args.path)
    return read_proposal((path,), lambda: _read(ctx, path, args))


async def view_notebook(ctx: ToolContext, path: str) -> ToolResult:
    """The first view of a notebook, as read_notebook gives it."""
    return await _read(ctx, path, ReadNotebook())


async def _read(ctx: ToolContext, path: str, args: ReadNotebook) -> ToolResult:
    notebook = await open_notebook(ctx, path)
    images = Images(fetch_from(ctx.workspace.documents, path))
    flags = await _flags(ctx, notebook)
    look = Look(notebook, flags, ctx.notebook_path)
    # In a thread: a page of a big notebook is megabytes of text to look through.
    view = await asyncio.to_thread(_view, look, args, images)
    text = await images.placed(view.text)
    saw_outline(ctx, notebook)
    saw_cells(ctx, path, view.whole)
    metadata: dict[str, Any] = {"path": path, "count": len(notebook.cells)}
    if images.items:
        metadata["images"] = images.items
    return done(text, **metadata)


def _view(look: Look, args: ReadNotebook, images: Images) -> View:
    notebook = look.notebook
    if args.cells:
        # An id given twice is shown once.
        cells = [cell_of(notebook, cell_id) for cell_id in dict.fromkeys(args.cells)]
        if len(cells) == 1 and args.start > 1:
            return source_page(look, cells[0], start=args.start)
        return whole_cells(look, cells, outputs=args.outputs, images=images)
    if is_small(notebook):
        page = notebook.cells[args.start - 1 : args.start - 1 + args.count]
        return whole_cells(look, page, outputs=args.outputs, images=images)
    view = outline(look, start=args.start, count=min(args.count, _MAX_COUNT))
    ask = "This is the outline ([n]: run as number n); ask for cells=[ids] to read them in full."
    return View(f"{view.text}\n{ask}", whole=view.whole)


# -- what else is known of a notebook ------------------------------------------------------------


async def _flags(ctx: ToolContext, notebook: Notebook) -> Flags:
    """A notebook is never unreadable because of its kernel: then nothing is said of it."""
    try:
        async with asyncio.timeout(_KERNEL_WAIT_S):
            kernel = await ctx.workspace.kernels.find(notebook.path)
    except (ToolError, TimeoutError):
        return NO_FLAGS

    def run_of(cell: Cell) -> LastRun | None:
        return our_run_of(ctx, notebook.path, cell)

    return await asyncio.to_thread(flags_of, notebook, kernel=kernel, run_of=run_of)


def our_run_of(ctx: ToolContext, path: str, cell: Cell) -> LastRun | None:
    """Our run of the cell, unless its count tells that somebody ran it since."""
    runs = ctx.workspace.runs
    last = runs.last_run(path, cell.cell_id)
    run = runs.find(last.run_id) if last else None
    ran = next((c for c in run.cells if c.cell.cell_id == cell.cell_id), None) if run else None
    if ran is None or ran.execution is None or not cell.outputs:
        return None
    return last if ran.execution.execution_count == cell.execution_count else None


READ_NOTEBOOK = Tool(
    name="read_notebook",
    description="Read a notebook: all of a small one, else an outline (start, count page it); "
    "cells=[ids] gives these in full (start: from that line of one). path defaults to the "
    "session's notebook, here and in all notebook tools. Say “cell 4” (the label) to people; "
    "tools take the id.",
    effect="read",
    input_model=ReadNotebook,
    propose=_propose,
)
