"""Context: what the user has in front of them, as front ends say it and the model reads it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .base import Wire

Severity = Literal["error", "warning", "info"]


class Selection(Wire):
    """Selected text. Lines are 1-based, within the cell when `cell_id` is set."""

    path: str
    cell_id: str | None = None
    text: str
    start_line: int
    end_line: int


class Diagnostic(Wire):
    """A problem in a document; line and column are 1-based, in the cell when `cell_id` is set."""

    path: str
    cell_id: str | None = None
    line: int
    column: int = 1
    severity: Severity
    message: str
    source: str = ""


class TurnContext(Wire):
    """What goes along with a prompt. `path` is the notebook or file in front of the user.

    `attention` is what a menu entry points at, e.g. a cell's error; plain text.
    """

    path: str | None = None
    cell_id: str | None = None
    selection: Selection | None = None
    attention: str = ""


class NotebookState(Wire):
    path: str
    cells: int
    cells_with_errors: int
    kernel_name: str
    kernel_state: str


class WorkspaceContext(Wire):
    """The answer of `GET context`: the workspace as the agent would see it."""

    root: str
    path: str | None
    notebook: NotebookState | None
    git_branch: str | None
    problems: int
    diagnostics: tuple[Diagnostic, ...] = Field(default=())
