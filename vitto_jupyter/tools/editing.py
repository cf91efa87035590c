"""edit_file: exact replacements in a text file."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ..protocol.base import Wire
from .base import Proposal, Tool, ToolContext
from .secrets import holds_secrets
from .spans import RepeatedSpan, replace_spans
from .targets import read_document, require_seen_file, text_path
from .writing import propose_write


class EditFile(Wire):
    path: str
    edits: Annotated[tuple[RepeatedSpan, ...], Field(min_length=1)]


async def _propose(ctx: ToolContext, args: EditFile) -> Proposal:
    path = text_path(ctx, args.path)
    document = await read_document(ctx, path)
    await require_seen_file(ctx, document)
    quote = not await holds_secrets(ctx.workspace.documents, path)
    content = replace_spans(document.text, args.edits, where=path, quote=quote)
    return propose_write(ctx, path, content, current=document)


EDIT_FILE = Tool(
    name="edit_file",
    description="Replace exact spans of a text file, in order. Each before must occur exactly "
    "once, unless all is true. All edits are made, or none.",
    effect="write",
    input_model=EditFile,
    propose=_propose,
    stream_input=True,
)
