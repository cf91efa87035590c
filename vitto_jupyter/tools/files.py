"""read_file, write_file and show_diff."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from ..errors import DocumentNotFound, ToolError
from ..protocol.base import Wire
from ..protocol.tool import ToolResult
from ..workspace.base import TextDocument
from ..workspace.paths import is_notebook, parent_of, shown
from ..workspace.plain_text import clip_line
from .base import Proposal, Tool, ToolContext, done, read_proposal
from .notebooks import view_notebook
from .secrets import holds_secrets, without_values
from .spans import normalised, unified
from .targets import (
    file_path,
    read_document,
    require_seen_file,
    saw_file,
    text_path,
)
from .writing import propose_write

_MAX_LINES = 2000
_MAX_CHARS = 40_000
_MAX_LINE_CHARS = 4000
_RAW_TEXT = (
    "This is its raw text, to look at: notebooks are not edited as text. To mend it, write a "
    "repaired copy under a new name with code or a command, and let the user compare."
)


class ReadFile(Wire):
    path: str
    start_line: Annotated[int, Field(ge=1)] = 1
    line_count: Annotated[int, Field(ge=1)] | None = None


class WriteFile(Wire):
    path: str
    content: str
    create_if_missing: bool = False


class ShowDiff(Wire):
    path: str
    content: str


# -- read_file -----------------------------------------------------------------------------------


async def _propose_read(ctx: ToolContext, args: ReadFile) -> Proposal:
    path = file_path(ctx, args.path)
    return read_proposal((path,), lambda: _read(ctx, path, args))


async def _read(ctx: ToolContext, path: str, args: ReadFile) -> ToolResult:
    if is_notebook(path):
        return await _read_notebook(ctx, path, args)
    document = await read_document(ctx, path)
    secret = await holds_secrets(ctx.workspace.documents, path)
    saw_file(ctx, document, secret=secret)
    if secret:
        document = replace(document, text=without_values(document.text))
    return _page(document, args.start_line, args.line_count or _MAX_LINES)


async def _read_notebook(ctx: ToolContext, path: str, args: ReadFile) -> ToolResult:
    """The notebook's cells; its raw text, to look at only, when they cannot be told apart."""
    try:
        return await view_notebook(ctx, path)
    except ToolError as err:
        if err.code != "bad_notebook":
            raise
        raw = await ctx.workspace.documents.raw_text(path)
        result = _page(raw, args.start_line, args.line_count or _MAX_LINES)
        lead = f"{err.message} {_RAW_TEXT}"
        return result.model_copy(update={"output": f"{lead}\n{result.output}"})


def _page(document: TextDocument, start: int, count: int) -> ToolResult:
    """The lines asked for, as many as fit."""
    if not document.text:
        return done(f"{document.path} is empty.", path=document.path, count=0)
    lines = document.text.removesuffix("\n").split("\n")
    page, size = [], 0
    for line in lines[start - 1 : start - 1 + min(count, _MAX_LINES)]:
        line = _short(line)
        size += len(line) + 1
        if page and size > _MAX_CHARS:
            break
        page.append(line)
    end = start - 1 + len(page)
    head = f"{document.path}, lines {start} to {end} of {len(lines)}{_state(document)}"
    if not page:
        head = f"{document.path} has {len(lines)} lines; there is no line {start}."
    elif end < len(lines):
        head += f"; go on with start_line={end + 1}"
    return done("\n".join([head, *page]), path=document.path, count=len(page))


def _short(line: str) -> str:
    if len(line) <= _MAX_LINE_CHARS:
        return line
    return f"{line[:_MAX_LINE_CHARS]} [… {len(line) - _MAX_LINE_CHARS:,} more characters]"


def _state(document: TextDocument) -> str:
    parts = ["open in an editor"] if document.held else []
    if document.also_open:
        parts.append(document.also_open.rstrip("."))
    if document.newline == "\r\n":
        parts.append("CRLF line ends")
    if document.encoding.lower().replace("-", "") not in ("utf8", "ascii"):
        parts.append(document.encoding)
    if not document.text.endswith("\n"):
        parts.append("no line end at the end")
    return f" ({', '.join(parts)})" if parts else ""


# -- write_file ----------------------------------------------------------------------------------


async def _propose_write(ctx: ToolContext, args: WriteFile) -> Proposal:
    path = text_path(ctx, args.path)
    try:
        document = await read_document(ctx, path)
    except DocumentNotFound as err:
        if not args.create_if_missing:
            hint = f"{err.hint} To create it, set create_if_missing.".strip()
            raise DocumentNotFound(err.message, hint=hint) from err
        await _require_folder(ctx, path)
        return propose_write(ctx, path, args.content, current=None)
    if document.text != normalised(args.content):
        await require_seen_file(ctx, document)
    return propose_write(ctx, path, args.content, current=document)


async def _require_folder(ctx: ToolContext, path: str) -> None:
    folder = parent_of(path)
    hint = "Create the folder first, for example with run_command and mkdir -p."
    if not folder:
        return
    try:
        entry = await ctx.workspace.documents.entry(folder)
    except DocumentNotFound as err:
        raise DocumentNotFound(f"There is no folder {shown(folder)}.", hint=hint) from err
    if entry.type != "directory":
        raise DocumentNotFound(f"{shown(folder)} is not a folder.", hint=hint)


# -- show_diff -----------------------------------------------------------------------------------


async def _propose_diff(ctx: ToolContext, args: ShowDiff) -> Proposal:
    path = text_path(ctx, args.path)
    if await holds_secrets(ctx.workspace.documents, path):
        raise ToolError(
            f"{path} holds secrets; its text is not shown.",
            code="secret",
            hint="write_file shows the difference to the user.",
        )
    return read_proposal((path,), lambda: _diff(ctx, path, args.content))


async def _diff(ctx: ToolContext, path: str, content: str) -> ToolResult:
    try:
        before = (await read_document(ctx, path)).text
    except DocumentNotFound:
        before = ""
    diff = unified(before, normalised(content), name=clip_line(path, 200))
    return done(diff or f"No difference: {path} has exactly this text.", path=path)


READ_FILE = Tool(
    name="read_file",
    description="Read a text file (or a notebook, as read_notebook). Paths are relative to the "
    "root. Read before you edit.",
    effect="read",
    input_model=ReadFile,
    propose=_propose_read,
)
WRITE_FILE = Tool(
    name="write_file",
    description="Replace a whole text file, or create it with create_if_missing. For small "
    "changes use edit_file; not for notebooks.",
    effect="write",
    input_model=WriteFile,
    propose=_propose_write,
    stream_input=True,
)
SHOW_DIFF = Tool(
    name="show_diff",
    description="Unified diff from a file to content; writes nothing.",
    effect="read",
    input_model=ShowDiff,
    propose=_propose_diff,
)
