"""read_output: the rest of an output that was too long to show, in pages and by search."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

from pydantic import Field

from ..errors import DocumentNotFound, ToolError
from ..protocol.base import Wire
from ..protocol.tool import ToolResult
from ..workspace.base import Cell, Output, OutputPart
from .base import Proposal, Tool, ToolContext, done, read_proposal
from .clipping import clip_line, count_of
from .html_text import html_text
from .images import Images
from .long_text import LongText, matches_in, page_of
from .notebooks import our_run_of
from .output_parts import Read, fetch_from, part_reader, parts_of
from .output_view import (
    data_of,
    full_chars,
    image_type,
    output_chars,
    output_text,
    place_of,
    text_field,
)
from .targets import cell_name, cell_of, notebook_path, open_notebook

_LISTED_LINE_CHARS = 80
_LISTED = 100


class ReadOutput(Wire):
    path: str | None = None
    cell_id: str | None = None
    output: Annotated[int, Field(ge=1)] | None = None
    pattern: str | None = None
    start_line: Annotated[int, Field(ge=1)] = 1
    lines: Annotated[int, Field(ge=1)] = 200


async def _propose(ctx: ToolContext, args: ReadOutput) -> Proposal:
    if args.cell_id is None:
        raise ToolError("Say of which cell, with cell_id.", code="invalid_input")
    path, cell_id = notebook_path(ctx, args.path), args.cell_id
    return read_proposal((path,), lambda: _read_cell(ctx, path, cell_id, args))


# -- outputs of a cell ---------------------------------------------------------------------------


async def _read_cell(ctx: ToolContext, path: str, cell_id: str, args: ReadOutput) -> ToolResult:
    cell = cell_of(await open_notebook(ctx, path), cell_id)
    count = len(cell.outputs)
    if (args.output is not None and args.output > count) or not count:
        has = count_of(count, "output") if count else "no output"
        raise DocumentNotFound(f"{cell_name(cell).capitalize()} has {has} now.")
    metadata: dict[str, Any] = {"path": path, "cell_id": cell.cell_id, "label": cell.label}
    if args.output is None and count > 1 and args.pattern is None:
        return done(_listing(cell, first=args.start_line), **metadata)
    numbers = (args.output,) if args.output else range(1, count + 1)
    images = Images(fetch_from(ctx.workspace.documents, path))
    parts = [await _one(ctx, path, cell, number, args, images) for number in numbers[:_LISTED]]
    if len(numbers) > _LISTED:
        parts.append(f"[only outputs 1–{_LISTED} were searched; name one with output]")
    if images.items:
        metadata["images"] = images.items
    return done("\n".join(parts), **metadata)


def _listing(cell: Cell, *, first: int) -> str:
    """A line per output, from output `first` on."""
    count = len(cell.outputs)
    lines = [f"{cell_name(cell)} has {count_of(count, 'output')}; output=… reads one:"]
    shown = cell.outputs[first - 1 : first - 1 + _LISTED]
    lines += [_listed(output, number) for number, output in enumerate(shown, first)]
    if first - 1 + len(shown) < count:
        lines.append(f"[more: start_line={first + len(shown)}]")
    return "\n".join(lines)


def _listed(output: Output, number: int) -> str:
    kind = str(output.get("name") or output.get("output_type") or "output")
    image = image_type(data_of(output))
    if image:
        return f"{number}: {image}"
    text = output_text(output, Images()).strip().split("\n")[0]
    size = f"{output_chars(output):,} chars"
    return f"{number}: {clip_line(kind, 40)}, {size} | {clip_line(text, _LISTED_LINE_CHARS)}"


async def _one(
    ctx: ToolContext, path: str, cell: Cell, number: int, args: ReadOutput, images: Images
) -> str:
    """One output: the image, a page of the text, or its lines that match."""
    output = cell.outputs[number - 1]
    if image_type(data_of(output)):
        if args.pattern is not None:
            return f"Output {number} is an image."
        place = place_of(path, cell.cell_id, own_path=ctx.notebook_path)
        return await images.placed(output_text(output, images, place=place, number=number))
    text = await _long_text(ctx, path, cell, number)
    if args.pattern is None:
        return await page_of(text, start_line=args.start_line, lines=args.lines)
    return await matches_in(text, args.pattern, start_line=args.start_line, lines=args.lines)


async def _long_text(ctx: ToolContext, path: str, cell: Cell, number: int) -> LongText:
    """All text of an output, from wherever most of it is."""
    name = f"output {number} of {cell_name(cell)}"
    output = cell.outputs[number - 1]
    shown = output_text(output, Images())
    total, field = full_chars(output, shown), text_field(output)
    printed = await _printed(ctx, path, cell, number)
    if printed is not None and printed[1] > max(total, len(shown)):
        return LongText(name, printed[1], lambda: parts_of(printed[0]))
    if total <= len(shown):
        return LongText(name, len(shown), lambda: _whole(shown))
    read = part_reader(ctx.workspace.documents, path, cell.cell_id, number - 1, field)
    if field == "text/html":
        html = "".join([part async for part in parts_of(read)])
        return LongText(name, total, lambda: _whole(html_text(html, read_chars=len(html))))
    return LongText(name, total, lambda: parts_of(read))


async def _printed(ctx: ToolContext, path: str, cell: Cell, number: int) -> tuple[Read, int] | None:
    """What our run of the cell printed, and its length: may be more than the notebook keeps."""
    last = our_run_of(ctx, path, cell)
    if last is None:
        return None

    async def read(start: int, count: int) -> OutputPart:
        return await ctx.workspace.runs.output_part(
            last.run_id, cell.cell_id, number - 1, start=start, count=count
        )

    try:
        return read, (await read(0, 1)).total_chars
    except DocumentNotFound:
        return None


async def _whole(text: str) -> AsyncIterator[str]:
    yield text


READ_OUTPUT = Tool(
    name="read_output",
    description="Read a long output of a cell in pages of lines, or its lines that match pattern "
    "(a regular expression). Without output it lists the cell's outputs.",
    effect="read",
    input_model=ReadOutput,
    propose=_propose,
)
