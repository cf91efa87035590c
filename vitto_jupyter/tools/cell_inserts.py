"""insert_cells: new cells at a place that is named, never assumed."""

from __future__ import annotations

import secrets
from typing import Annotated

from pydantic import Field

from ..errors import DocumentNotFound, EditConflict, WriteFailed
from ..protocol.approval import Change, DiffPreview
from ..protocol.base import Wire
from ..protocol.tool import ToolResult
from ..workspace.base import (
    Cell,
    CellType,
    InsertCells,
    NewCell,
    Notebook,
)
from ..workspace.paths import name_of
from .base import Grant, Proposal, Tool, ToolContext, failed
from .cell_changes import change_proposal, finished, kernel_for_run, language_of_cell
from .clipping import count_of
from .notebook_view import outline
from .running import default_kernel
from .spans import invisible_changes, normalised
from .targets import (
    cell_name,
    cell_of,
    changed_outline,
    editable_notebook,
    elsewhere,
    notebook_path,
    read_back,
    saw_cells,
)


class InsertedCell(Wire):
    cell_type: CellType = "code"
    source: str


class InsertCellsInput(Wire):
    path: str | None = None
    after: Annotated[str, Field(description='cell id, "start" or "end"')]
    cells: Annotated[tuple[InsertedCell, ...], Field(min_length=1)]
    run: bool = False
    create_if_missing: bool = False


async def _propose_insert(ctx: ToolContext, args: InsertCellsInput) -> Proposal:
    path = notebook_path(ctx, args.path)
    notebook, is_new = await _notebook_or_new(ctx, path, args)
    anchor = args.after if args.after in ("start", "end") else ""
    at = _position(notebook, args.after)
    cells = _new_cells(notebook, args.cells)
    types = tuple(cell.cell_type for cell in cells)
    kernel_name = await kernel_for_run(ctx, notebook, types) if args.run else None
    where = anchor or f"cell {cell_of(notebook, args.after).label}"
    preview = DiffPreview(
        path=path,
        language=language_of_cell(notebook, types[0]),
        changes=tuple(
            Change(label=str(at + number), cell_id=cell.cell_id, before="", after=cell.source)
            for number, cell in enumerate(cells, start=1)
        ),
        note=_insert_note(where, cells),
    )

    async def apply(grant: Grant) -> ToolResult:
        chosen = cells if grant.edited is None else (_resourced(cells[0], grant.edited),)
        create = notebook if is_new else None
        return await _insert(
            ctx,
            path,
            args.after,
            chosen,
            create=create,
            kernel_name=kernel_name,
            trusted=grant.by_user,
        )

    title = _insert_title(path, len(cells), run=args.run, is_new=is_new)
    return change_proposal(path, apply, title, preview, run=args.run)


async def _notebook_or_new(
    ctx: ToolContext, path: str, args: InsertCellsInput
) -> tuple[Notebook, bool]:
    """The notebook, or the one that would be created."""
    try:
        return await editable_notebook(ctx, path), False
    except DocumentNotFound as err:
        if not args.create_if_missing:
            hint = f"{err.hint} To create it, set create_if_missing.".strip()
            raise DocumentNotFound(err.message, hint=hint) from err
    specs = await ctx.workspace.kernels.specs()
    name = default_kernel(specs) or (specs[0].name if specs else "")
    language = next((spec.language for spec in specs if spec.name == name), "")
    return Notebook(path, (), name, language), True


def _position(notebook: Notebook, after: str) -> int:
    """How many cells stand before the new ones."""
    if after == "start":
        return 0
    if after == "end":
        return len(notebook.cells)
    return notebook.cells.index(cell_of(notebook, after)) + 1


def _new_cells(notebook: Notebook, wanted: tuple[InsertedCell, ...]) -> tuple[NewCell, ...]:
    taken = {cell.cell_id for cell in notebook.cells}
    cells = []
    for cell in wanted:
        cell_id = secrets.token_hex(4)
        while cell_id in taken:
            cell_id = secrets.token_hex(4)
        taken.add(cell_id)
        cells.append(NewCell(cell.cell_type, normalised(cell.source), cell_id))
    return tuple(cells)


def _resourced(cell: NewCell, source: str) -> NewCell:
    return NewCell(cell.cell_type, normalised(source), cell.cell_id)


def _insert_note(where: str, cells: tuple[NewCell, ...]) -> str:
    places = {"start": "New at the start.", "end": "New at the end."}
    notes = [places.get(where, f"New after {where}.")]
    kinds = {cell.cell_type for cell in cells}
    if kinds != {"code"}:
        names = ", ".join(cell.cell_type for cell in cells[:20])
        notes.append(f"Cell types: {names}.")
    hidden = invisible_changes("", "\n".join(cell.source for cell in cells))
    return " ".join([*notes, hidden]).strip()


def _insert_title(path: str, count: int, *, run: bool, is_new: bool) -> str:
    cells = "a cell" if count == 1 else count_of(count, "cell")
    if is_new:
        return f"Create {path} with {cells}{' and run' if run else ''}?"
    return f"Insert {'and run ' if run else ''}{cells} in {name_of(path)}?"


async def _insert(
    ctx: ToolContext,
    path: str,
    after: str,
    cells: tuple[NewCell, ...],
    *,
    create: Notebook | None,
    kernel_name: str | None,
    trusted: bool,
) -> ToolResult:
    documents = ctx.workspace.documents
    try:
        if create:
            await documents.create_notebook(
                path, kernel_name=create.kernel_name, language=create.language
            )
        await documents.edit_notebook(path, (InsertCells(after, cells),))
    except EditConflict as err:
        text = f"The notebook changed meanwhile: {err.message}"
        return failed(text, output=outline(await documents.read_notebook(path), count=60).text)
    now = await read_back(ctx, path)
    made = _verified(now, cells)
    changed_outline(ctx, now, made=[cell.cell_id for cell in made])
    saw_cells(ctx, path, made)
    names = ", ".join(cell_name(cell) for cell in made)
    lead = f"{'Created' if create else 'Inserted into'} {path}: {names}.{elsewhere(now)}"
    return await finished(
        ctx,
        path,
        made,
        lead,
        kernel_name=kernel_name,
        trusted=trusted,
        cell_id=made[0].cell_id,
        label=made[0].label,
    )


def _verified(notebook: Notebook, cells: tuple[NewCell, ...]) -> tuple[Cell, ...]:
    """The new cells as they are there now, one after the other in the order wanted."""
    ids = [cell.cell_id for cell in notebook.cells]
    at = ids.index(cells[0].cell_id) if cells[0].cell_id in ids else len(ids)
    made = notebook.cells[at : at + len(cells)]
    if [(cell.cell_id, cell.source) for cell in made] != [(c.cell_id, c.source) for c in cells]:
        raise WriteFailed(
            f"The cells were written to {notebook.path}, but are not there as they were sent.",
            hint="Read the notebook again.",
        )
    return made


INSERT_CELLS = Tool(
    name="insert_cells",
    description="Insert cells in order; run executes them after. create_if_missing makes a new "
    "notebook.",
    effect="write",
    input_model=InsertCellsInput,
    propose=_propose_insert,
    stream_input=True,
)
