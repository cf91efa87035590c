"""How a notebook looks to the model: a heading, an outline, whole cells, flags. Pure."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..workspace.base import Cell, Notebook
from ..workspace.notebooks.failures import silent_failures
from ..workspace.plain_text import clip_line, plain
from .cell_flags import NO_FLAGS, Flags
from .clipping import clip, count_of
from .images import Images
from .output_view import (
    OUTPUT_CHARS,
    error_of,
    image_count,
    outputs_chars,
    outputs_text,
    place_of,
)

WHOLE_CHARS = 8_000
CALL_CHARS = 40_000
# No view of a notebook is longer: one cell can be, beyond CALL_CHARS.
VIEW_CHARS = 58_000
SOURCE_CHARS = 30_000
OUTLINE_COUNT = 100
_FIRST_LINE_CHARS = 80
_REASON_CHARS = 500
_MUCH_CHARS = 10_000


@dataclass(frozen=True, slots=True)
class View:
    """A rendering. `whole` holds the cells whose source is in `text` (of a very long one as much
    as fits); `images` are those that its tokens stand for."""

    text: str
    images: Images = field(default_factory=Images)
    whole: tuple[Cell, ...] = ()


@dataclass(frozen=True, slots=True)
class Look:
    """A notebook with all that is known of its state. `own_path` is that of the session's."""

    notebook: Notebook
    flags: Flags = NO_FLAGS
    own_path: str | None = None


# -- heading -------------------------------------------------------------------------------------


def heading(look: Look) -> str:
    """The first lines of every view of a notebook."""
    notebook = look.notebook
    facts = [count_of(len(notebook.cells), "cell"), look.flags.kernel or _named_kernel(notebook)]
    if notebook.dirty:
        facts.append("unsaved edits included")
    lines = [f"{notebook.path}: {', '.join(facts)}"]
    if notebook.also_open:
        lines.append(clip_line(plain(notebook.also_open), _REASON_CHARS))
    if notebook.read_only:
        lines.append(f"Read-only: {clip_line(plain(notebook.read_only), _REASON_CHARS)}")
    return "\n".join([*lines, *(f"FLAG {flag}" for flag in look.flags.notebook)])


def _named_kernel(notebook: Notebook) -> str:
    return f"kernel {notebook.kernel_name}" if notebook.kernel_name else "no kernel named"


# -- outline -------------------------------------------------------------------------------------


def outline(look: Look | Notebook, *, start: int = 1, count: int = OUTLINE_COUNT) -> View:
    """One line per cell for `count` cells from position `start` (1-based), as many as fit."""
    look = look if isinstance(look, Look) else Look(look)
    every = look.notebook.cells
    lines, shown, size = [heading(look)], [], 0
    for cell in every[start - 1 : start - 1 + count]:
        line = outline_line(cell, look.flags.cells)
        size += len(line) + 1
        if shown and size > CALL_CHARS:
            break
        lines.append(line)
        shown.append(cell)
        _give_way(cell)
    following = start + len(shown)
    rest = len(every) - following + 1
    if rest > 0:
        lines.append(f"[{count_of(rest, 'more cell')}: start={following}]")
    elif not shown and every:
        lines.append(f"[the last cell is cell {len(every)}]")
    return View("\n".join(lines), whole=tuple(cell for cell in shown if _fits_outline(cell)))


def _give_way(cell: Cell) -> None:
    """After a cell with much to look through: the views of big notebooks are made in a thread,
    and the server's own thread would otherwise wait 5 ms for the interpreter again and again."""
    if len(cell.outputs) and outputs_chars(cell.outputs) > _MUCH_CHARS:
        time.sleep(0.0001)


def outline_line(cell: Cell, flags: Mapping[str, Sequence[str]]) -> str:
    """Label, id, kind, sizes and the first line; `|` is followed by source text."""
    facts = [f"cell {cell.label} (id {cell.cell_id}) {cell.cell_type}"]
    if cell.execution_count is not None:
        facts.append(f"[{cell.execution_count}]")
    facts.append(count_of(cell.source.count("\n") + 1, "line"))
    facts.extend(_output_facts(cell))
    facts.extend(f"FLAG {clip_line(flag, 120)}" for flag in cell_flags(cell, flags))
    return f"{', '.join(facts)} | {clip_line(first_line(cell.source), _FIRST_LINE_CHARS)}"


def cell_flags(cell: Cell, flags: Mapping[str, Sequence[str]]) -> list[str]:
    """What the reader should be wary of in this cell."""
    failed = silent_failures(cell.outputs) if cell.failures is None else cell.failures
    return [*flags.get(cell.cell_id, ()), *failed]


def _output_facts(cell: Cell) -> list[str]:
    facts = []
    size = outputs_chars(cell.outputs)
    if size:
        facts.append(f"output {size:,} chars")
    images = image_count(cell.outputs)
    if images:
        facts.append(count_of(images, "image"))
    error = error_of(cell.outputs)
    if error:
        facts.append(f"ERROR {clip_line(error, 60)}")
    return facts


def first_line(source: str) -> str:
    return next((line.strip() for line in source.split("\n") if line.strip()), "")


def _fits_outline(cell: Cell) -> bool:
    source = cell.source
    return "\n" not in source and len(source.strip()) == len(source) <= _FIRST_LINE_CHARS


# -- cells ---------------------------------------------------------------------------------------


def is_small(notebook: Notebook) -> bool:
    """Whether the notebook is shown whole at once."""
    size = 0
    for cell in notebook.cells:
        size += len(cell.source) + outputs_chars(cell.outputs) + 40
        if size > WHOLE_CHARS:
            return False
    return True


def whole_cells(look: Look, cells: Sequence[Cell], *, outputs: bool, images: Images) -> View:
    """Cells in full below the heading; what does not fit into one call is named."""
    top = heading(look)
    parts, size, shown = [top], len(top), []
    limit = max(OUTPUT_CHARS, CALL_CHARS // 2 // max(len(cells), 1))
    for cell in cells:
        text = _cell_text(look, cell, images, outputs=outputs, limit=limit)
        if shown and size + len(text) > CALL_CHARS:
            break
        parts.append(text)
        shown.append(cell)
        size += len(text)
    rest = cells[len(shown) :]
    if rest:
        ids = ", ".join(f'"{cell.cell_id}"' for cell in rest[:50])
        parts.append(f"[{count_of(len(rest), 'cell')} left out for length; ask for cells=[{ids}]]")
    return View("\n".join(parts), images, tuple(shown))


def source_page(look: Look, cell: Cell, *, start: int) -> View:
    """The source of one cell from line `start` (1-based), as much as fits."""
    lines = cell.source.split("\n")
    page, size = [], 0
    for line in lines[start - 1 :]:
        size += len(line) + 1
        if page and size > SOURCE_CHARS:
            break
        page.append(clip(line, SOURCE_CHARS))
    following = start + len(page)
    parts = [heading(look), f"--- cell {cell.label} (id {cell.cell_id}), from line {start}", *page]
    rest = len(lines) - following + 1
    if rest > 0:
        parts.append(f"[{count_of(rest, 'more line')}: start={following}]")
    elif not page:
        parts.append(f"[the last line is line {len(lines)}]")
    return View("\n".join(parts))


def _cell_text(look: Look, cell: Cell, images: Images, *, outputs: bool, limit: int) -> str:
    count = f" [{cell.execution_count}]" if cell.execution_count is not None else ""
    parts = [f"--- cell {cell.label} (id {cell.cell_id}) {cell.cell_type}{count}"]
    place = place_of(look.notebook.path, cell.cell_id, own_path=look.own_path)
    rest = f'read_notebook cells=["{cell.cell_id}"] start={{line}}'
    parts.append(clip(cell.source, SOURCE_CHARS, rest=rest))
    flags = [f"FLAG {flag}" for flag in cell_flags(cell, look.flags.cells)]
    if cell.outputs and not outputs:
        parts += [f"--- output left out: {outputs_chars(cell.outputs):,} characters", *flags]
    elif cell.outputs or flags:
        text = outputs_text(cell.outputs, images, limit=limit, place=place)
        parts += ["--- output", *flags, text]
    return "\n".join(parts)
