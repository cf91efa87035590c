"""How cells and outputs look to the model: an outline, whole cells, capped outputs. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..protocol.base import JsonObject
from ..workspace.base import Cell, Notebook, Output
from .clipping import clip, clip_line, count_of, failure_lines, plain
from .html_text import html_text
from .images import MEDIA_TYPES, Images

WHOLE_CHARS = 8_000
CALL_CHARS = 40_000
SOURCE_CHARS = 30_000
OUTPUT_CHARS = 6_000
OUTLINE_COUNT = 100
_TEXT_TYPES = ("text/markdown", "text/plain", "text/latex")
_SCRIPT_TYPES = ("application/javascript", "text/javascript")
# "<pandas.io.formats.style.Styler at 0x7f…>": says nothing that the HTML does not
_NAME_ONLY = re.compile(r"<[\w. ]+(?: at 0x[0-9a-fA-F]+)?>")
_WIDGET = "application/vnd.jupyter.widget-view+json"


@dataclass(frozen=True, slots=True)
class View:
    """A rendering. `whole` holds the cells whose full source is in `text`."""

    text: str
    images: tuple[JsonObject, ...] = ()
    whole: tuple[Cell, ...] = ()


# -- outline -------------------------------------------------------------------------------------


def heading(notebook: Notebook) -> str:
    """The first line of every view of a notebook."""
    kernel = notebook.kernel_name or "no kernel named"
    state = ", unsaved edits included" if notebook.dirty else ""
    return f"{notebook.path}: {count_of(len(notebook.cells), 'cell')}, kernel {kernel}{state}"


def outline(notebook: Notebook, *, start: int = 1, count: int = OUTLINE_COUNT) -> View:
    """One line per cell for `count` cells from position `start` (1-based)."""
    cells = notebook.cells[start - 1 : start - 1 + count]
    lines = [heading(notebook), *(outline_line(cell) for cell in cells)]
    rest = len(notebook.cells) - (start - 1 + len(cells))
    if rest > 0:
        lines.append(f"[{count_of(rest, 'more cell')}: start={start + len(cells)}]")
    whole = tuple(cell for cell in cells if _fits_outline(cell))
    return View("\n".join(lines), whole=whole)


def outline_line(cell: Cell) -> str:
    """Label, id, kind, sizes and the first line; `|` is followed by source text."""
    facts = [f"cell {cell.label} (id {cell.cell_id}) {cell.cell_type}"]
    if cell.execution_count is not None:
        facts.append(f"[{cell.execution_count}]")
    facts.append(count_of(cell.source.count("\n") + 1, "line"))
    facts.extend(_output_facts(cell.outputs))
    return f"{', '.join(facts)} | {clip_line(_first_line(cell.source), 80)}"


def _output_facts(outputs: Sequence[Output]) -> list[str]:
    facts = []
    size = outputs_chars(outputs)
    if size:
        facts.append(f"output {size:,} chars")
    images = sum(1 for output in outputs if _image_type(_data(output)))
    if images:
        facts.append(count_of(images, "image"))
    error = error_of(outputs)
    if error:
        facts.append(f"ERROR {clip_line(error, 60)}")
    return facts


def _first_line(source: str) -> str:
    return next((line.strip() for line in source.split("\n") if line.strip()), "")


def _fits_outline(cell: Cell) -> bool:
    return "\n" not in cell.source and len(cell.source.strip()) == len(cell.source) <= 80


# -- cells ---------------------------------------------------------------------------------------


def is_small(notebook: Notebook) -> bool:
    """Whether the notebook is shown whole at once."""
    size = 0
    for cell in notebook.cells:
        size += len(cell.source) + outputs_chars(cell.outputs) + 40
        if size > WHOLE_CHARS:
            return False
    return True


def whole_cells(cells: Sequence[Cell], *, outputs: bool, top: str) -> View:
    """Cells in full below the line `top`; what does not fit into one call is named."""
    images = Images()
    parts, size, shown = [top], len(top), []
    limit = max(OUTPUT_CHARS, CALL_CHARS // 2 // max(len(cells), 1))
    for cell in cells:
        text = cell_text(cell, images, outputs=outputs, limit=limit)
        if shown and size + len(text) > CALL_CHARS:
            break
        parts.append(text)
        shown.append(cell)
        size += len(text)
    rest = cells[len(shown) :]
    if rest:
        ids = ", ".join(f'"{cell.cell_id}"' for cell in rest[:50])
        parts.append(f"[{count_of(len(rest), 'cell')} left out for length; ask for cells=[{ids}]]")
    return View("\n".join(parts), tuple(images.items), tuple(shown))


def cell_text(cell: Cell, images: Images, *, outputs: bool, limit: int = OUTPUT_CHARS) -> str:
    count = f" [{cell.execution_count}]" if cell.execution_count is not None else ""
    parts = [f"--- cell {cell.label} (id {cell.cell_id}) {cell.cell_type}{count}"]
    parts.append(clip(cell.source, SOURCE_CHARS))
    if cell.outputs and outputs:
        parts += ["--- output", outputs_text(cell.outputs, images, limit=limit)]
    elif cell.outputs:
        parts.append(f"--- output left out: {outputs_chars(cell.outputs):,} characters")
    return "\n".join(parts)


# -- outputs -------------------------------------------------------------------------------------


def outputs_text(outputs: Sequence[Output], images: Images, *, limit: int = OUTPUT_CHARS) -> str:
    """All outputs of a cell as text of about `limit` characters; images go to `images`."""
    texts = [text for output in outputs if (text := _output_text(output, images))]
    if not texts:
        return "(no output)"
    fits = sum(len(text) for text in texts) <= limit
    # The share keeps a small result readable next to a huge one: the small ones are not cut.
    share = limit if fits else _share([len(text) for text in texts], limit)
    return clip("\n".join(clip(text, share) for text in texts), limit * 2)


def outputs_chars(outputs: Sequence[Output]) -> int:
    """The length of the outputs' text, images not counted."""
    return sum(_output_chars(output) for output in outputs)


def error_of(outputs: Sequence[Output]) -> str:
    """ "ename: evalue" of the last error output; "" without one."""
    for output in reversed(outputs):
        if output.get("output_type") == "error":
            return plain(f"{output.get('ename', '')}: {output.get('evalue', '')}")
    return ""


def silent_failures(outputs: Sequence[Output]) -> list[str]:
    """Lines of streams that tell of a failure although nothing was raised."""
    if error_of(outputs):
        return []
    streams = [output for output in outputs if output.get("output_type") == "stream"]
    return failure_lines(plain("\n".join(_joined(output.get("text")) for output in streams)))[:3]


def _share(sizes: Sequence[int], limit: int) -> int:
    """The largest length such that texts cut to it fit together into `limit`."""
    left = limit
    for index, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - index)
        if size > share:
            return max(share, 400)
        left -= size
    return limit


def _output_text(output: Output, images: Images) -> str:
    kind = output.get("output_type")
    if kind == "stream":
        return plain(_joined(output.get("text"))).rstrip("\n")
    if kind == "error":
        return _error_text(output)
    return _data_text(_data(output), images)


def _error_text(output: Output) -> str:
    trace = output.get("traceback")
    text = "\n".join(str(line) for line in trace) if isinstance(trace, list) else ""
    return plain(text) or plain(f"{output.get('ename', '')}: {output.get('evalue', '')}")


def _data_text(data: JsonObject, images: Images) -> str:
    """The richest form of a display that a model can use."""
    image = _image_type(data)
    if image:
        return images.add(image, _joined(data[image]))
    if _WIDGET in data:
        return f"[widget left out: {clip_line(_plain_of(data), 200)}]"
    html = _joined(data.get("text/html"))
    for kind in _TEXT_TYPES:
        text = plain(_joined(data.get(kind)))
        if text and not (html and _NAME_ONLY.fullmatch(text)):
            return text.rstrip("\n")
    if html:
        return html_text(html) or "[HTML without text left out]"
    return _other_text(data)


def _other_text(data: JsonObject) -> str:
    left_out = [kind for kind in data if kind in _SCRIPT_TYPES]
    if left_out:
        return f"[script left out: {left_out[0]}]"
    if "application/json" in data:
        return json.dumps(data["application/json"], ensure_ascii=False)
    names = ", ".join(list(data)[:5])
    return f"[output left out: {names}]" if names else ""


def _plain_of(data: JsonObject) -> str:
    return plain(_joined(data.get("text/plain"))).replace("\n", " ")


def _data(output: Output) -> JsonObject:
    data = output.get("data")
    return data if isinstance(data, dict) else {}


def _image_type(data: JsonObject) -> str | None:
    return next((kind for kind in MEDIA_TYPES if kind in data), None)


def _output_chars(output: Output) -> int:
    if output.get("output_type") == "stream":
        return len(_joined(output.get("text")))
    if output.get("output_type") == "error":
        return len(_error_text(output))
    data = _data(output)
    if _image_type(data):
        return 0
    return max((len(_joined(data.get(kind))) for kind in ("text/plain", "text/html")), default=0)


def _joined(value: object) -> str:
    """nbformat allows a text to be a list of lines."""
    if isinstance(value, list):
        return "".join(str(part) for part in value)
    return value if isinstance(value, str) else ""
