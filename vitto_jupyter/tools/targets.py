"""What a call is about: paths, notebooks and cells, and what the model has seen of them."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from ..errors import DocumentNotFound, EditConflict, NotText, ToolError, WriteFailed
from ..workspace.base import Cell, Documents, Notebook, TextDocument
from ..workspace.paths import api_path, is_notebook, joined, name_of, parent_of, shown
from .base import ToolContext
from .differences import difference
from .notebook_view import SOURCE_CHARS, outline
from .secrets import holds_secrets
from .seen import cell_key

_RETURNED_CHARS = 20_000
_LANGUAGES = {
    "css": "css",
    "html": "html",
    "ipynb": "python",
    "jl": "julia",
    "js": "javascript",
    "json": "json",
    "md": "markdown",
    "py": "python",
    "r": "r",
    "sh": "shell",
    "sql": "sql",
    "toml": "toml",
    "ts": "typescript",
    "yaml": "yaml",
    "yml": "yaml",
}


def language_of(path: str) -> str:
    """The language of a file by its name; "" when unknown."""
    return _LANGUAGES.get(path.rsplit(".", 1)[-1].lower(), "")


# -- paths ---------------------------------------------------------------------------------------


def file_path(ctx: ToolContext, path: str) -> str:
    """The API path of a file that is meant; refuses what cannot be one."""
    resolved = api_path(path, root=ctx.workspace.root)
    if not resolved:
        raise NotText("This is the root folder, not a file.", hint="Use list_files.")
    return resolved


def text_path(ctx: ToolContext, path: str) -> str:
    """As `file_path`, for tools that write text: a notebook is never edited as text."""
    resolved = file_path(ctx, path)
    if is_notebook(resolved):
        raise NotText(
            f"{resolved} is a notebook and is not written as text.",
            hint="Use edit_cell, insert_cells or delete_cells; insert_cells with "
            "create_if_missing creates a notebook.",
        )
    return resolved


def notebook_path(ctx: ToolContext, path: str | None) -> str:
    """The notebook that is meant: `path`, or the session's own."""
    if path is None and ctx.notebook_path is None:
        raise ToolError(
            "This session has no notebook of its own.",
            code="no_notebook",
            hint="Give the path of a notebook; insert_cells with create_if_missing creates one.",
        )
    resolved = file_path(ctx, path if path is not None else str(ctx.notebook_path))
    if not is_notebook(resolved):
        raise NotText(f"{resolved} is not a notebook.", hint="Use read_file or edit_file.")
    return resolved


# -- documents -----------------------------------------------------------------------------------


async def read_document(ctx: ToolContext, path: str) -> TextDocument:
    """A text file; the errors say what to use instead."""
    documents = ctx.workspace.documents
    try:
        return await documents.read_text(path)
    except DocumentNotFound as err:
        raise DocumentNotFound(err.message, hint=await _nearby(documents, path)) from err
    except NotText as err:
        if await _is_folder(documents, path):
            hint = f'Use list_files with the pattern "{path}/*".'
            raise NotText(f"{path} is a folder.", hint=hint) from err
        hint = "It is no text that can be shown; look at it with code in a kernel or a command."
        raise NotText(err.message, hint=hint) from err


async def _is_folder(documents: Documents, path: str) -> bool:
    try:
        return (await documents.entry(path)).type == "directory"
    except ToolError:
        return False


async def open_notebook(ctx: ToolContext, path: str) -> Notebook:
    try:
        return await ctx.workspace.documents.read_notebook(path)
    except DocumentNotFound as err:
        hint = await _nearby(ctx.workspace.documents, path)
        raise DocumentNotFound(err.message, hint=hint) from err


async def editable_notebook(ctx: ToolContext, path: str) -> Notebook:
    """A notebook that may be edited.

    Raises:
        ToolError: code `read_only`, with the reason.
    """
    notebook = await open_notebook(ctx, path)
    if notebook.read_only:
        raise ToolError(
            f"{path} cannot be edited: {notebook.read_only.rstrip('.')}. Nothing was changed.",
            code="read_only",
            hint="Tell the user; or put the cells into a new notebook with insert_cells and "
            "create_if_missing.",
        )
    return notebook


async def read_back(ctx: ToolContext, path: str) -> Notebook:
    """The notebook after an edit that was made.

    Raises:
        WriteFailed: it cannot be read now; the edit was made all the same.
    """
    try:
        return await ctx.workspace.documents.read_notebook(path)
    except ToolError as err:
        raise WriteFailed(
            f"{path} was edited, but could not be read back after that ({err.code}).",
            hint="Read it before any other edit.",
        ) from err


def elsewhere(document: TextDocument | Notebook) -> str:
    """The end of a result: what other pages have of the document; "" when nothing else."""
    return f"\n{document.also_open}" if document.also_open else ""


async def _nearby(documents: Documents, path: str) -> str:
    """A hint with names like the one that is missing."""
    folder = parent_of(path)
    try:
        entries = await documents.entries(folder)
    except ToolError:
        return f"There is no folder {shown(folder)} either; list_files shows what is there."
    names = [name_of(entry.path) for entry in entries]
    close = difflib.get_close_matches(name_of(path), names, n=3)
    if close:
        return f"Did you mean {' or '.join(joined(folder, name) for name in close)}?"
    return "list_files shows what is there."


# -- cells ---------------------------------------------------------------------------------------


def cell_of(notebook: Notebook, cell_id: str) -> Cell:
    """The cell with this id.

    Raises:
        ToolError: unknown (the message lists what is there) or not unique.
    """
    found = [cell for cell in notebook.cells if cell.cell_id == cell_id]
    if len(found) == 1:
        return found[0]
    # Where a file gives one id to several cells, they are named <id>~1, <id>~2, ...
    found += [cell for cell in notebook.cells if cell.cell_id.rpartition("~")[0] == cell_id]
    if found:
        labels = ", ".join(cell.label for cell in found)
        raise ToolError(
            f"Several cells (positions {labels}) have the id {shown(cell_id)}; nothing was done.",
            code="ambiguous_cell",
            hint="read_notebook gives ids that tell them apart. Saving the notebook in JupyterLab "
            "gives every cell its own id.",
        )
    listing = outline(notebook, count=60).text
    raise ToolError(
        f"There is no cell with the id {shown(cell_id)}. What is there:\n{listing}",
        code="unknown_cell",
    )


def cell_name(cell: Cell) -> str:
    """How results name a cell: the label for people, the id for the model."""
    return f"cell {cell.label} (id {cell.cell_id})"


# -- what was seen -------------------------------------------------------------------------------


def saw_file(ctx: ToolContext, document: TextDocument, *, secret: bool = False) -> None:
    """The model has seen the file; what holds secrets is remembered by its revision only."""
    if secret:
        ctx.seen[document.path] = document.revision
    else:
        ctx.seen.note(document.path, document.revision, document.text)


def saw_cells(ctx: ToolContext, path: str, cells: Sequence[Cell]) -> None:
    """The model has seen these cells in full."""
    for cell in cells:
        ctx.seen.note(cell_key(path, cell.cell_id), cell.revision, cell.source)


def saw_outline(ctx: ToolContext, notebook: Notebook) -> None:
    """The model has seen which cells there are, though not all of their text."""
    ctx.seen.note_order(notebook.path, [cell.cell_id for cell in notebook.cells])


def changed_outline(ctx: ToolContext, notebook: Notebook, *, made: Sequence[str] = ()) -> None:
    """The model changed which cells there are; those of others it still has not seen."""
    known = {*ctx.seen.order(notebook.path), *made}
    now = [cell.cell_id for cell in notebook.cells]
    if ctx.seen.order(notebook.path) or known.issuperset(now):
        ctx.seen.note_order(notebook.path, [cell_id for cell_id in now if cell_id in known])


async def require_seen_file(ctx: ToolContext, document: TextDocument) -> None:
    """Refuse an edit of a text that the model has not seen as it is now; the error shows it."""
    known = ctx.seen.get(document.path)
    if known == document.revision:
        return
    what = "has not been read yet" if known is None else "has changed since it was read"
    raise EditConflict(
        f"{document.path} {what}; nothing was written. {await show_now(ctx, document)}"
    )


async def show_now(ctx: ToolContext, document: TextDocument) -> str:
    """What changed since the model saw the text, and the text as it is now.

    It counts as read when it is shown whole.
    """
    path = document.path
    if await holds_secrets(ctx.workspace.documents, path):
        ctx.seen.pop(path, None)
        return "It holds secrets: use read_file, which asks the user, then try again."
    changed = _changed(ctx.seen.text(path), document.text, name=path)
    if len(document.text) > _RETURNED_CHARS:
        ctx.seen.pop(path, None)
        return f"{changed}It is too long to repeat here: use read_file, then try again."
    saw_file(ctx, document)
    return f"{changed}Its text is now:\n{document.text}"


def require_seen_cell(ctx: ToolContext, path: str, cell: Cell) -> None:
    """As `require_seen_file`, for one cell."""
    known = ctx.seen.get(cell_key(path, cell.cell_id))
    if known == cell.revision:
        return
    what = "has not been read yet" if known is None else "has changed since it was read"
    raise EditConflict(
        f"{cell_name(cell).capitalize()} {what}; nothing was written. "
        + show_cell_now(ctx, path, cell)
    )


def show_cell_now(ctx: ToolContext, path: str, cell: Cell) -> str:
    """As `show_now`, for one cell."""
    key = cell_key(path, cell.cell_id)
    changed = _changed(ctx.seen.text(key), cell.source, name=f"cell {cell.label}")
    if len(cell.source) > SOURCE_CHARS:
        ctx.seen.pop(key, None)
        return f"{changed}It is too long to repeat here: use read_notebook, then try again."
    saw_cells(ctx, path, (cell,))
    return f"{changed}Its source is now:\n{cell.source}"


def _changed(before: str | None, now: str, *, name: str) -> str:
    diff = difference(before, now, name=name)
    return f"What changed since you saw it:\n{diff}\n" if diff else ""
