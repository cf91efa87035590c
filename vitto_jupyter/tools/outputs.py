"""read_output: the rest of an output that was too long to show, in pages and by search."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from ..errors import DocumentNotFound, ToolError
from ..protocol.base import Wire
from ..protocol.tool import ToolResult
from ..workspace.base import Cell, Output, OutputPart
from ..workspace.plain_text import clip_line
from .base import Proposal, Tool, ToolContext, done, read_proposal
from .clipping import count_of
from .html_text import html_text
from .images import Images
from .long_text import LongText, matches_in, page_of
from .notebooks import our_run_of
from .output_parts import Read, fetch_from, part_reader, parts_of
from .output_view import (
    Place,
    data_of,
    full_chars,
    image_type,
    output_chars,
    output_text,
    place_of,
    text_field,
)
from .run_news import read_run
from .run_view import name_of_run, place_in_run
from .targets import cell_name, cell_of, notebook_path, open_notebook

_LISTED_LINE_CHARS = 80
_LISTED = 100


class ReadOutput(Wire):
    path: str | None = None
    cell_id: str | None = None
    run: str | None = None
    output: Annotated[int, Field(ge=1)] | None = None
    pattern: str | None = None
    start_line: Annotated[int, Field(ge=1)] = 1
    lines: Annotated[int, Field(ge=1)] = 200
    wait_s: Annotated[float, Field(ge=0, le=300)] = 0


@dataclass(frozen=True, slots=True)
class _Target:
    """Outputs to read: of a cell as the notebook has it, or of a cell of a run.

    `run_id` is that of the run that printed them, "" when that is not known.
    """

    ctx: ToolContext
    path: str
    cell_id: str
    name: str
    outputs: tuple[Output, ...]
    place: Place
    run_id: str
    metadata: dict[str, Any] = field(default_factory=dict)


async def _propose(ctx: ToolContext, args: ReadOutput) -> Proposal:
    if args.run is not None:
        run_id = args.run
        return read_proposal((), lambda: _read_run(ctx, run_id, args), waits_s=args.wait_s)
    if args.cell_id is None:
        raise ToolError("Say of which cell or run, with cell_id or run.", code="invalid_input")
    path, cell_id = notebook_path(ctx, args.path), args.cell_id
    return read_proposal((path,), lambda: _read_cell(ctx, path, cell_id, args))


# -- which outputs -------------------------------------------------------------------------------


async def _read_cell(ctx: ToolContext, path: str, cell_id: str, args: ReadOutput) -> ToolResult:
    cell = cell_of(await open_notebook(ctx, path), cell_id)
    last = our_run_of(ctx, path, cell)
    target = _Target(
        ctx,
        path,
        cell.cell_id,
        cell_name(cell),
        cell.outputs,
        place_of(path, cell.cell_id, own_path=ctx.notebook_path),
        last.run_id if last else "",
        _metadata(path, cell),
    )
    return await _read(target, args)


async def _read_run(ctx: ToolContext, run_id: str, args: ReadOutput) -> ToolResult:
    """How a run stands, or an output of one of its cells; its end is waited for in both cases."""
    result = await read_run(ctx, run_id, wait_s=args.wait_s)
    if args.output is None and args.pattern is None and args.cell_id is None:
        return result
    run = ctx.workspace.runs.find(run_id)
    cells = [run for run in (run.cells if run else ()) if run.execution and run.execution.outputs]
    if args.cell_id is not None:
        cells = [run for run in cells if run.cell.cell_id == args.cell_id]
    if len(cells) != 1 or run is None or cells[0].execution is None:
        what = "Name one of its cells with cell_id." if cells else "It has no output there."
        raise ToolError(f"{what} {result.output}", code="invalid_input")
    cell = cells[0].cell
    target = _Target(
        ctx,
        run.request.path,
        cell.cell_id,
        name_of_run(cells[0]),
        cells[0].execution.outputs,
        place_in_run(run_id, cell.cell_id),
        run_id,
        _metadata(run.request.path, cell),
    )
    return await _read(target, args)


def _metadata(path: str, cell: Cell) -> dict[str, Any]:
    known = {"path": path}
    return {**known, "cell_id": cell.cell_id, "label": cell.label} if cell.cell_id else known


# -- reading -------------------------------------------------------------------------------------


async def _read(target: _Target, args: ReadOutput) -> ToolResult:
    count = len(target.outputs)
    if not count or (args.output or 0) > count:
        has = count_of(count, "output") if count else "no output"
        raise DocumentNotFound(f"{target.name.capitalize()} has {has} now.")
    if args.output is None and count > 1 and args.pattern is None:
        return done(_listing(target, first=args.start_line), **target.metadata)
    numbers = range(1, count + 1) if args.output is None else (args.output,)
    images = Images(fetch_from(target.ctx.workspace.documents, target.path))
    parts = [await _one(target, number, args, images) for number in numbers[:_LISTED]]
    if len(numbers) > _LISTED:
        parts.append(f"[only outputs 1–{_LISTED} were searched; name one with output]")
    metadata = target.metadata | ({"images": images.items} if images.items else {})
    return done("\n".join(parts), **metadata)


def _listing(target: _Target, *, first: int) -> str:
    """A line per output, from output `first` on."""
    count = len(target.outputs)
    lines = [f"{target.name} has {count_of(count, 'output')}; output=… reads one:"]
    shown = target.outputs[first - 1 : first - 1 + _LISTED]
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


async def _one(target: _Target, number: int, args: ReadOutput, images: Images) -> str:
    """One output: the image, a page of the text, or its lines that match."""
    output = target.outputs[number - 1]
    if image_type(data_of(output)):
        if args.pattern is not None:
            return f"output {number} of {target.name}: an image"
        return await images.placed(output_text(output, images, place=target.place, number=number))
    text = await _long_text(target, number)
    if args.pattern is None:
        return await page_of(text, start_line=args.start_line, lines=args.lines)
    return await matches_in(text, args.pattern, start_line=args.start_line, lines=args.lines)


async def _long_text(target: _Target, number: int) -> LongText:
    """All text of an output, from wherever most of it is."""
    name = f"output {number} of {target.name}"
    output = target.outputs[number - 1]
    shown = output_text(output, Images())
    total, source = full_chars(output, shown), text_field(output)
    printed = await _printed(target, number) if source == "text" else None
    if printed is not None and printed[1] > max(total, len(shown)):
        return LongText(name, printed[1], lambda: parts_of(printed[0]))
    if total <= len(shown):
        return LongText(name, len(shown), lambda: _whole(shown))
    documents = target.ctx.workspace.documents
    read = part_reader(documents, target.path, target.cell_id, number - 1, source)
    if source == "text/html":
        html = "".join([part async for part in parts_of(read)])
        return LongText(name, total, lambda: _whole(html_text(html, read_chars=len(html))))
    return LongText(name, total, lambda: parts_of(read))


async def _printed(target: _Target, number: int) -> tuple[Read, int] | None:
    """What the run printed, and its length: it may be more than the notebook keeps."""
    if not target.run_id:
        return None

    async def read(start: int, count: int) -> OutputPart:
        return await target.ctx.workspace.runs.output_part(
            target.run_id, target.cell_id, number - 1, start=start, count=count
        )

    try:
        return read, (await read(0, 1)).total_chars
    except DocumentNotFound:
        return None


async def _whole(text: str) -> AsyncIterator[str]:
    yield text


READ_OUTPUT = Tool(
    name="read_output",
    description="Read a long output of a cell, or of a run by its handle, in pages of lines, or "
    "its lines that match pattern (a regular expression). Without output it lists the cell's "
    "outputs, or says how the run stands; wait_s waits for the run's end.",
    effect="read",
    input_model=ReadOutput,
    propose=_propose,
)
