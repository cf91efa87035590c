"""edit_cell and delete_cells. Cells are named by id, never by index."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ..errors import EditConflict, ToolError, WriteFailed
from ..protocol.approval import Change, DiffPreview
from ..protocol.base import Wire
from ..protocol.tool import ToolResult
from ..workspace.base import (
    Cell,
    DeleteCell,
    ReplaceSource,
)
from ..workspace.paths import name_of
from .base import Grant, Proposal, Tool, ToolContext, done, failed, read_proposal
from .cell_changes import change_proposal, finished, kernel_for_run, language_of_cell
from .clipping import count_of
from .notebook_view import outline
from .seen import cell_key
from .spans import Span, invisible_changes, line_counts, normalised, replace_spans, unified
from .targets import (
    cell_name,
    cell_of,
    changed_outline,
    editable_notebook,
    elsewhere,
    notebook_path,
    read_back,
    require_seen_cell,
    saw_cells,
    show_cell_now,
)


class EditCell(Wire):
    path: str | None = None
    cell_id: str
    edits: tuple[Span, ...] | None = None
    source: str | None = None
    run: bool = False


class DeleteCells(Wire):
    path: str | None = None
    cell_ids: Annotated[tuple[str, ...], Field(min_length=1)]


# -- edit_cell -----------------------------------------------------------------------------------


async def _propose_edit(ctx: ToolContext, args: EditCell) -> Proposal:
    path = notebook_path(ctx, args.path)
    notebook = await editable_notebook(ctx, path)
    cell = cell_of(notebook, args.cell_id)
    require_seen_cell(ctx, path, cell)
    source = _new_source(cell, args)
    if source == cell.source and not args.run:
        return read_proposal((path,), lambda: _nothing_to_do(path, cell))
    kernel_name = await kernel_for_run(ctx, notebook, (cell.cell_type,)) if args.run else None
    before, after = cell.source, source
    preview = DiffPreview(
        path=path,
        language=language_of_cell(notebook, cell.cell_type),
        changes=(Change(label=cell.label, cell_id=cell.cell_id, before=before, after=after),),
        note=invisible_changes(before, after),
    )

    async def apply(grant: Grant) -> ToolResult:
        text = source if grant.edited is None else normalised(grant.edited)
        return await _edit(
            ctx,
            path,
            cell,
            text,
            proposed=source,
            kernel_name=kernel_name,
            trusted=grant.by_user,
        )

    verb = "Edit and run" if args.run else "Edit"
    return change_proposal(
        path, apply, f"{verb} cell {cell.label} of {name_of(path)}?", preview, run=args.run
    )


def _new_source(cell: Cell, args: EditCell) -> str:
    if (args.edits is None) == (args.source is None):
        raise ToolError("Give either edits or source.", code="invalid_input")
    if args.source is not None:
        return normalised(args.source)
    return replace_spans(cell.source, args.edits or (), where=cell_name(cell))


async def _nothing_to_do(path: str, cell: Cell) -> ToolResult:
    text = f"{cell_name(cell)} has exactly this source already; nothing was written."
    return done(text, path=path, cell_id=cell.cell_id, label=cell.label)


async def _edit(
    ctx: ToolContext,
    path: str,
    cell: Cell,
    text: str,
    *,
    proposed: str,
    kernel_name: str | None,
    trusted: bool,
) -> ToolResult:
    try:
        edit = ReplaceSource(cell.cell_id, cell.revision, text)
        await ctx.workspace.documents.edit_notebook(path, (edit,))
    except EditConflict as err:
        return await _cell_conflict(ctx, path, cell.cell_id, err)
    notebook = await read_back(ctx, path)
    now = notebook.cell(cell.cell_id)
    if now is None or now.source != text:
        raise WriteFailed(f"{cell_name(cell)} was written, but is not there as it was sent.")
    saw_cells(ctx, path, (now,))
    added, removed = line_counts(cell.source, text)
    lead = f"Edited {cell_name(now)} of {path}: +{added} −{removed} lines.{elsewhere(notebook)}"
    if text != proposed:
        diff = unified(proposed, text, name=f"cell {now.label}")
        lead += f"\nThe user changed your text before allowing it:\n{diff}"
    return await finished(
        ctx,
        path,
        (now,),
        lead,
        kernel_name=kernel_name,
        trusted=trusted,
        cell_id=now.cell_id,
        label=now.label,
        added=added,
        removed=removed,
    )


async def _cell_conflict(
    ctx: ToolContext, path: str, cell_id: str, err: EditConflict
) -> ToolResult:
    notebook = await ctx.workspace.documents.read_notebook(path)
    now = notebook.cell(cell_id)
    if now is None:
        text = "The cell was deleted meanwhile; nothing was written."
        return failed(text, output=outline(notebook, count=60).text, path=path)
    text = f"{cell_name(now)} was changed after the diff was shown; nothing was written."
    if err.code != EditConflict.code:
        text = err.message
    return failed(text, output=show_cell_now(ctx, path, now), path=path, cell_id=cell_id)


# -- delete_cells --------------------------------------------------------------------------------


async def _propose_delete(ctx: ToolContext, args: DeleteCells) -> Proposal:
    path = notebook_path(ctx, args.path)
    notebook = await editable_notebook(ctx, path)
    cells = [cell_of(notebook, cell_id) for cell_id in dict.fromkeys(args.cell_ids)]
    for cell in cells:
        require_seen_cell(ctx, path, cell)
    preview = DiffPreview(
        path=path,
        language=language_of_cell(notebook, cells[0].cell_type),
        changes=tuple(
            Change(label=cell.label, cell_id=cell.cell_id, before=cell.source, after="")
            for cell in cells
        ),
        note="Deleted with their outputs." if any(cell.outputs for cell in cells) else "Deleted.",
    )

    async def apply(grant: Grant) -> ToolResult:
        if grant.edited:
            return failed("The user changed the text of a deletion; nothing was deleted.")
        return await _delete(ctx, path, cells)

    what = f"cell {cells[0].label}" if len(cells) == 1 else count_of(len(cells), "cell")
    return change_proposal(path, apply, f"Delete {what} of {name_of(path)}?", preview, run=False)


async def _delete(ctx: ToolContext, path: str, cells: list[Cell]) -> ToolResult:
    documents = ctx.workspace.documents
    try:
        edits = tuple(DeleteCell(cell.cell_id, cell.revision) for cell in cells)
        await documents.edit_notebook(path, edits)
    except EditConflict as err:
        text = f"{err.message} No cell was deleted."
        return failed(text, output=outline(await documents.read_notebook(path), count=60).text)
    now = await read_back(ctx, path)
    left = [cell for cell in cells if now.cell(cell.cell_id)]
    if left:
        raise WriteFailed(f"{cell_name(left[0]).capitalize()} is still there after deleting it.")
    for cell in cells:
        ctx.seen.pop(cell_key(path, cell.cell_id), None)
    changed_outline(ctx, now)
    names = ", ".join(cell_name(cell) for cell in cells)
    text = f"Deleted from {path}: {names}. {count_of(len(now.cells), 'cell')} left.{elsewhere(now)}"
    return done(text, path=path, count=len(cells))


EDIT_CELL = Tool(
    name="edit_cell",
    description="Change one cell: edits (each before exactly once) or a whole new source; run "
    "executes it after.",
    effect="write",
    input_model=EditCell,
    propose=_propose_edit,
    stream_input=True,
)
DELETE_CELLS = Tool(
    name="delete_cells",
    description="Delete cells.",
    effect="write",
    input_model=DeleteCells,
    propose=_propose_delete,
)
