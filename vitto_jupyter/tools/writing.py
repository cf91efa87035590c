"""Writing a text file: the shared second half of write_file and edit_file."""

from __future__ import annotations

from ..errors import EditConflict, WriteFailed
from ..policy.facts import Facts
from ..protocol.approval import Change, DiffPreview
from ..protocol.tool import ToolResult
from ..workspace.base import TextDocument
from .base import Grant, Proposal, ToolContext, done, failed, read_proposal
from .clipping import count_of
from .secrets import holds_secrets
from .spans import invisible_changes, line_counts, normalised, unified
from .targets import elsewhere, language_of, read_document, saw_file, show_now


def propose_write(
    ctx: ToolContext, path: str, content: str, *, current: TextDocument | None
) -> Proposal:
    """The proposal to make `content` the text of `path`; `current` None creates it."""
    before = current.text if current else ""
    after = normalised(content)
    if current and before == after:
        return read_proposal((path,), lambda: _nothing_to_do(path))
    preview = DiffPreview(
        path=path,
        language=language_of(path),
        changes=(Change(label="", cell_id=None, before=before, after=after),),
        note=invisible_changes(before, content, newline=current.newline if current else "\n"),
    )

    async def apply(grant: Grant) -> ToolResult:
        return await _write(ctx, path, grant.edited, shown=preview.changes[0], current=current)

    verb = "Edit" if current else "Create"
    return Proposal(Facts("write", (path,)), apply, title=f"{verb} {path}?", preview=preview)


async def _nothing_to_do(path: str) -> ToolResult:
    return done(f"{path} has exactly this text already; nothing was written.", path=path)


async def _write(
    ctx: ToolContext, path: str, edited: str | None, *, shown: Change, current: TextDocument | None
) -> ToolResult:
    text = shown.after if edited is None else normalised(edited)
    base = current.revision if current else None
    try:
        document = await ctx.workspace.documents.write_text(path, text, base=base)
    except EditConflict:
        return await _conflict(ctx, path, created=current is None)
    secret = await holds_secrets(ctx.workspace.documents, path)
    saw_file(ctx, document, secret=secret)
    if document.text != text:
        raise WriteFailed(
            f"{path} was written, but what is there now is not what was sent.",
            hint="Read it again before the next edit.",
        )
    return _report(document, shown, created=current is None)


async def _conflict(ctx: ToolContext, path: str, *, created: bool) -> ToolResult:
    shown_now = await show_now(ctx, await read_document(ctx, path))
    what = "was created by somebody else" if created else "was changed after the diff was shown"
    return failed(f"{path} {what}; nothing was written.", output=shown_now, path=path)


def _report(document: TextDocument, shown: Change, *, created: bool) -> ToolResult:
    """What is there now, from what was read back."""
    path, text = document.path, document.text
    added, removed = line_counts(shown.before, text)
    size = count_of(text.count("\n") + (not text.endswith("\n") and text != ""), "line")
    parts = [f"{'Created' if created else 'Wrote'} {path}: {size}, +{added} −{removed}."]
    if document.dirty:
        parts.append(
            "It is open in an editor with unsaved changes of the user's: the edit is there too, "
            "not saved to disk yet."
        )
    if text != shown.after:
        diff = unified(shown.after, text, name=path)
        parts.append(f"The user changed your text before allowing it:\n{diff}")
    return done("\n".join(parts) + elsewhere(document), path=path, added=added, removed=removed)
