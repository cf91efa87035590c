"""read_notebook: the outline first, cells and outputs on demand."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from ..protocol.base import Wire
from ..protocol.tool import ToolResult
from ..workspace.base import Notebook
from .base import Proposal, Tool, ToolContext, done, read_proposal
from .notebook_view import OUTLINE_COUNT, View, heading, is_small, outline, whole_cells
from .targets import cell_of, notebook_path, open_notebook, saw_cells, saw_outline


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
    view = _view(notebook, args)
    saw_outline(ctx, notebook)
    saw_cells(ctx, path, view.whole)
    metadata: dict[str, Any] = {"path": path, "count": len(notebook.cells)}
    if view.images:
        metadata["images"] = list(view.images)
    return done(view.text, **metadata)


def _view(notebook: Notebook, args: ReadNotebook) -> View:
    if args.cells:
        # An id given twice is shown once.
        cells = [cell_of(notebook, cell_id) for cell_id in dict.fromkeys(args.cells)]
        return whole_cells(cells, outputs=args.outputs, top=heading(notebook))
    if is_small(notebook):
        page = notebook.cells[args.start - 1 : args.start - 1 + args.count]
        return whole_cells(page, outputs=args.outputs, top=heading(notebook))
    view = outline(notebook, start=args.start, count=min(args.count, 200))
    ask = "This is the outline; ask for cells=[ids] to read them in full."
    return View(f"{view.text}\n{ask}", whole=view.whole)


READ_NOTEBOOK = Tool(
    name="read_notebook",
    description="Read a notebook: all of a small one, else an outline (start, count page it); "
    "cells=[ids] gives these in full. path defaults to the session's notebook, here and in all "
    "notebook tools. Say “cell 4” (the label) to people; tools take the id.",
    effect="read",
    input_model=ReadNotebook,
    propose=_propose,
)
