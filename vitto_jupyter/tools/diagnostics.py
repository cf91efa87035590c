"""get_diagnostics: problems of a document, found without running anything of the workspace."""

from __future__ import annotations

import asyncio
from typing import Any

from ..protocol.base import Wire
from ..protocol.context import Diagnostic
from ..protocol.tool import ToolResult
from ..workspace.base import Notebook
from ..workspace.paths import is_notebook
from ..workspace.plain_text import clip_line
from .base import Proposal, Tool, ToolContext, done, read_proposal
from .checking import CellProblem, Problem, check_cells, check_file
from .clipping import count_of
from .python_cells import python_cells
from .targets import file_path, open_notebook, read_document

_MAX_SHOWN = 100


class GetDiagnostics(Wire):
    path: str


async def _propose(ctx: ToolContext, args: GetDiagnostics) -> Proposal:
    path = file_path(ctx, args.path)
    return read_proposal((path,), lambda: _diagnose(ctx, path))


async def _diagnose(ctx: ToolContext, path: str) -> ToolResult:
    labels: dict[str | None, str] = {None: ""}
    note = ""
    if is_notebook(path):
        notebook = await open_notebook(ctx, path)
        labels.update({cell.cell_id: cell.label for cell in notebook.cells})
        own, note = await _notebook_problems(notebook)
    else:
        own, note = await _file_problems(ctx, path)
    seen = [one for one in ctx.workspace.front_ends.seen().diagnostics if one.path == path]
    found = _merged(own, seen)
    lines = [f"{count_of(len(found), 'problem')} in {path}"]
    lines += [_line(one, labels) for one in found[:_MAX_SHOWN]]
    if len(found) > _MAX_SHOWN:
        lines.append(f"[{len(found) - _MAX_SHOWN} more]")
    if note:
        lines.append(note)
    shown: Any = [one.model_dump() for one in found[:_MAX_SHOWN]]
    return done("\n".join(lines), path=path, count=len(found), diagnostics=shown)


async def _notebook_problems(notebook: Notebook) -> tuple[list[Diagnostic], str]:
    if (notebook.language or "python").lower() not in ("python", "ipython"):
        return [], f"Only Python is checked here; this notebook is in {notebook.language}."
    # In a thread: parsing a large notebook takes a while.
    found = await asyncio.to_thread(check_cells, python_cells(notebook.cells))
    return [_of_cell(notebook.path, one) for one in found], ""


async def _file_problems(ctx: ToolContext, path: str) -> tuple[list[Diagnostic], str]:
    document = await read_document(ctx, path)
    if not path.lower().endswith((".py", ".pyi", ".pyw")):
        return [], "Only Python is checked here."
    found = await asyncio.to_thread(check_file, document.text)
    return [_diagnostic(path, None, one) for one in found], ""


def _of_cell(path: str, one: CellProblem) -> Diagnostic:
    return _diagnostic(path, one.cell.cell.cell_id, one.problem)


def _diagnostic(path: str, cell_id: str | None, one: Problem) -> Diagnostic:
    return Diagnostic(
        path=path,
        cell_id=cell_id,
        line=one.line,
        column=one.column,
        severity=one.severity,
        message=one.message,
        source=one.source,
    )


def _merged(own: list[Diagnostic], seen: list[Diagnostic]) -> list[Diagnostic]:
    """Both, without what both say: a front end may have checked with the same rules."""
    known = {(one.cell_id, one.line, one.message) for one in own}
    return [*own, *(one for one in seen if (one.cell_id, one.line, one.message) not in known)]


def _line(one: Diagnostic, labels: dict[str | None, str]) -> str:
    place = f"line {one.line}:{one.column}"
    if one.cell_id is not None:
        place = f"cell {labels.get(one.cell_id, '?')} (id {one.cell_id}) {place}"
    source = f" [{one.source}]" if one.source else ""
    return f"{place}: {one.severity}: {clip_line(one.message, 300)}{source}"


GET_DIAGNOSTICS = Tool(
    name="get_diagnostics",
    description="Syntax errors and pyflakes warnings of a Python file or notebook, plus what an "
    "open editor reports. Runs nothing.",
    effect="read",
    input_model=GetDiagnostics,
    propose=_propose,
)
