"""Approvals: the question, drawn from stored bytes, and its answer."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from .base import Wire

DecisionKind = Literal["approve", "reject"]
Scope = Literal["once"]


class Change(Wire):
    """One before/after pair of a diff. `label` is "" for a file, a cell's label for a cell."""

    label: str
    cell_id: str | None
    before: str
    after: str


class DiffPreview(Wire):
    """A write: what changes in one document. `note` names what a diff does not show."""

    kind: Literal["diff"] = "diff"
    path: str
    language: str
    changes: tuple[Change, ...]
    note: str = ""


class CommandPreview(Wire):
    """A terminal command, exactly as it will be sent."""

    kind: Literal["command"] = "command"
    command: str
    cwd: str


class Snippet(Wire):
    """Source that will run: a cell (with id and label) or scratch code (both null)."""

    cell_id: str | None
    label: str | None
    source: str


class CodePreview(Wire):
    """Code that will run in a kernel. `path` is the notebook, null when there is none."""

    kind: Literal["code"] = "code"
    path: str | None
    language: str
    snippets: tuple[Snippet, ...]


class ActionPreview(Wire):
    """An act without source, e.g. restarting a kernel; `text` says what will happen."""

    kind: Literal["action"] = "action"
    text: str


Preview = Annotated[
    DiffPreview | CommandPreview | CodePreview | ActionPreview, Field(discriminator="kind")
]


class Decision(Wire):
    """The answer to an approval: the body of `PUT sessions/{id}/approvals/{approval_id}`.

    `digest`, when given, must equal the digest that was shown. `edited_content` replaces the
    `after` text of a diff with exactly one change; it is refused for anything else.
    """

    decision: DecisionKind
    scope: Scope = "once"
    comment: str = ""
    digest: str | None = None
    edited_content: str | None = None
