"""How outputs look to the model: the form of each mime bundle, and a budget for each. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..protocol.base import JsonObject
from ..workspace.base import Output
from ..workspace.plain_text import clip_line, joined, plain
from .clipping import clip, count_of
from .html_text import html_text
from .images import MEDIA_TYPES, Images

# The budget of all outputs of a cell. One that is not longer than SMALL_CHARS is never cut, and
# no more than MOST_OUTPUTS are shown where not all fit.
OUTPUT_CHARS = 6_000
SMALL_CHARS = 1_000
MOST_OUTPUTS = 24
# Of a traceback the middle are frames of libraries.
_TRACEBACK_CHARS = 4_000
_LEAST_CHARS = 400
_TEXT_TYPES = ("text/markdown", "text/latex", "text/plain")
_SCRIPT_TYPES = (
    "application/javascript",
    "text/javascript",
    "application/vnd.bokehjs_exec.v0+json",
)
_WIDGET = "application/vnd.jupyter.widget-view+json"
# "<pandas.io.formats.style.Styler at 0x7f…>": says nothing that the HTML does not
_NAME_ONLY = re.compile(r"<[\w. ]+(?: at 0x[0-9a-fA-F]+)?>")
# What a browser draws and a model cannot use: named, with its size.
_DRAWN = (
    ("application/vnd.plotly", "plotly figure"),
    ("application/vnd.vegalite", "Vega-Lite chart"),
    ("application/vnd.vega", "Vega chart"),
    ("application/vnd.bokehjs", "Bokeh chart"),
    ("application/vnd.holoviews", "HoloViews chart"),
    ("application/geo+json", "GeoJSON map"),
    ("application/pdf", "PDF"),
    ("image/", "image"),
    ("video/", "video"),
    ("audio/", "audio"),
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where outputs are. `ask` is the call that reads them there, e.g. `read_output cell_id=c1`;
    "" when nothing does."""

    cell_id: str = ""
    ask: str = ""

    def hint(self, number: int) -> str:
        """How to read output `number` (1-based) in full."""
        return f"{self.ask} output={number}" if self.ask else ""


NOWHERE = Place()


def place_of(path: str, cell_id: str, *, own_path: str | None) -> Place:
    """The outputs of a cell; the path is said when it is not that of the session's notebook."""
    where = "" if path == own_path else f"path={json.dumps(path, ensure_ascii=False)} "
    return Place(cell_id, f"read_output {where}cell_id={cell_id}")


# -- all outputs of a cell -----------------------------------------------------------------------


def outputs_text(
    outputs: Sequence[Output],
    images: Images,
    *,
    limit: int = OUTPUT_CHARS,
    place: Place = NOWHERE,
) -> str:
    """All outputs of a cell as text of about `limit` characters; images go to `images`."""
    texts = {
        number: text
        for number, output in enumerate(outputs, 1)
        if (text := output_text(output, images, place=place, number=number))
    }
    if not texts:
        return "(no output)"
    numbers = list(texts)
    if sum(map(len, texts.values())) > limit:
        numbers = _chosen(outputs, numbers)
    share = _share([len(texts[number]) for number in numbers], limit)
    parts = []
    expected = 1
    for number in numbers:
        parts += _gap(expected, number - 1, texts, place)
        parts.append(_fitted(texts[number], outputs[number - 1], share, place.hint(number)))
        expected = number + 1
    parts += _gap(expected, len(outputs), texts, place)
    return "\n".join(parts)


def _chosen(outputs: Sequence[Output], numbers: list[int]) -> list[int]:
    """The outputs to show when there are too many: the first, the last, and errors."""
    if len(numbers) <= MOST_OUTPUTS:
        return numbers
    errors = [n for n in numbers if outputs[n - 1].get("output_type") == "error"][-4:]
    half = (MOST_OUTPUTS - len(errors)) // 2
    return sorted({*numbers[:half], *errors, *numbers[-half:]})


def _gap(first: int, last: int, texts: dict[int, str], place: Place) -> list[str]:
    left_out = [number for number in range(first, last + 1) if number in texts]
    if not left_out:
        return []
    size = sum(len(texts[number]) for number in left_out)
    rest = f": {place.ask} lists them" if place.ask else ""
    what = f"outputs {left_out[0]:,}–{left_out[-1]:,}, {size:,} characters"
    return [f"[… {what} left out{rest} …]"]


def _fitted(text: str, output: Output, share: int, hint: str) -> str:
    total = full_chars(output, text)
    if output.get("output_type") == "error":
        share = min(share, _TRACEBACK_CHARS)
    if len(text) > max(share, SMALL_CHARS):
        rest = f"{hint} start_line={{line}}" if hint else ""
        return clip(text, max(share, _LEAST_CHARS), total=total, rest=rest)
    if total > len(text):
        return f"{text}\n[{total:,} characters in all{f': {hint}' if hint else ''}]"
    return text


def _share(sizes: Sequence[int], limit: int) -> int:
    """The largest length such that texts cut to it fit together into `limit`."""
    left = limit
    for index, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - index)
        if size > share:
            return share
        left -= size
    return limit


# -- facts about outputs -------------------------------------------------------------------------


def outputs_chars(outputs: Sequence[Output]) -> int:
    """The full length of the outputs' text, images not counted."""
    return sum(output_chars(output) for output in outputs)


def output_chars(output: Output) -> int:
    kind = output.get("output_type")
    if kind == "stream":
        return _cut(output).get("text", len(joined(output.get("text"))))
    if kind == "error":
        return _cut(output).get("traceback", len(_error_text(output)))
    data = data_of(output)
    if image_type(data):
        return 0
    field = text_field(output)
    return _cut(output).get(field, len(joined(data.get(field)))) if field else 0


def full_chars(output: Output, text: str) -> int:
    """The length of an output whose text is `text`, before anything was cut from it."""
    field = text_field(output)
    return _cut(output).get(field, 0) if field else len(text)


def image_count(outputs: Iterable[Output]) -> int:
    return sum(1 for output in outputs if image_type(data_of(output)))


def error_of(outputs: Sequence[Output]) -> str:
    """ "ename: evalue" of the last error output; "" without one."""
    for output in reversed(outputs):
        if output.get("output_type") == "error":
            return plain(f"{output.get('ename', '')}: {output.get('evalue', '')}")
    return ""


def text_field(output: Output) -> str:
    """The field that an output's text comes from, as `Documents.output_part` names it."""
    kind = output.get("output_type")
    if kind in ("stream", "error"):
        return "text" if kind == "stream" else "traceback"
    data = data_of(output)
    return _text_type(data) or ("application/json" if "application/json" in data else "")


def _cut(output: Output) -> dict[str, int]:
    cut = output.get("cut")
    return cut if isinstance(cut, dict) else {}


# -- one output ----------------------------------------------------------------------------------


def output_text(output: Output, images: Images, *, place: Place = NOWHERE, number: int = 1) -> str:
    """The whole text of an output, as long as it is."""
    kind = output.get("output_type")
    if kind == "stream":
        return plain(joined(output.get("text"))).rstrip("\n")
    if kind == "error":
        return _error_text(output)
    data = data_of(output)
    image = image_type(data)
    if not image:
        return _data_text(data, _cut(output))
    return images.add(
        image,
        joined(data[image]),
        total=_cut(output).get(image, 0),
        cell_id=place.cell_id,
        index=number - 1,
        rest=place.hint(number),
    )


def field_text(field: str, text: str) -> str:
    """The text of a field that was read in full, as `output_text` gives it."""
    return html_text(text) if field == "text/html" else plain(text).rstrip("\n")


def _error_text(output: Output) -> str:
    trace = output.get("traceback")
    text = "\n".join(str(line) for line in trace) if isinstance(trace, list) else ""
    return plain(text) or plain(f"{output.get('ename', '')}: {output.get('evalue', '')}")


def _data_text(data: JsonObject, cut: dict[str, int]) -> str:
    """The richest form of a display that a model can use."""
    if _WIDGET in data:
        return f"[widget left out: {clip_line(_plain_of(data), 200)}]"
    drawn = _drawn(data, cut)
    if drawn:
        return drawn
    kind = _text_type(data)
    if kind == "text/html":
        html = joined(data[kind])
        size = count_of(cut.get(kind, len(html)), "character")
        return html_text(html) or f"[HTML without text left out: {size}]"
    if kind:
        return plain(joined(data[kind])).rstrip("\n")
    return _other_text(data, cut)


def _text_type(data: JsonObject) -> str:
    """The mime type whose text is shown; "" without one."""
    html = bool(joined(data.get("text/html")))
    for kind in _TEXT_TYPES:
        text = joined(data.get(kind))
        if not text.strip():
            continue
        better = html or "application/json" in data
        if better and kind == "text/plain" and len(text) < 300 and _NAME_ONLY.fullmatch(text):
            continue
        return kind
    return "text/html" if html else ""


def _drawn(data: JsonObject, cut: dict[str, int]) -> str:
    """The marker of what only a browser can draw, "" when there is nothing of that kind."""
    for kind in data:
        name = next((name for start, name in _DRAWN if kind.startswith(start)), "")
        if not name or (kind.startswith("image/") and joined(data.get("text/latex"))):
            continue
        if kind == "image/svg+xml":
            name = "SVG image"
        facts = [
            *_chart_facts(data[kind]),
            f"{kind}, {_size(data[kind], cut.get(kind)):,} characters",
        ]
        return f"[{name} left out: {', '.join(facts)}]"
    return ""


def _chart_facts(value: object) -> list[str]:
    """What a plotly or Vega-Lite specification says of itself."""
    if not isinstance(value, dict):
        return []
    facts = []
    title = value.get("title")
    layout, traces = value.get("layout"), value.get("data")
    if isinstance(layout, dict):
        title = layout.get("title", title)
    if isinstance(title, dict):
        title = title.get("text")
    if isinstance(title, str) and title:
        facts.append(f"“{clip_line(plain(title), 100)}”")
    if isinstance(traces, list):
        kinds = [str(trace.get("type", "scatter")) for trace in traces if isinstance(trace, dict)]
        shown = ", ".join(dict.fromkeys(kinds))
        facts.append(f"{count_of(len(traces), 'trace')} ({clip_line(shown, 80)})")
    mark = value.get("mark")
    mark = mark.get("type") if isinstance(mark, dict) else mark
    if isinstance(mark, str):
        facts.append(f"mark {clip_line(mark, 40)}")
    return facts


def _other_text(data: JsonObject, cut: dict[str, int]) -> str:
    script = next((kind for kind in data if kind in _SCRIPT_TYPES), "")
    if script:
        size = _size(data[script], cut.get(script))
        return f"[script left out: {script}, {size:,} characters]"
    if "application/json" in data:
        return json.dumps(data["application/json"], ensure_ascii=False)
    names = ", ".join(
        f"{clip_line(kind, 80)}, {_size(data[kind], cut.get(kind)):,} characters"
        for kind in list(data)[:5]
    )
    return f"[output left out: {names}]" if names else ""


def _size(value: object, cut_from: int | None) -> int:
    if cut_from is not None:
        return cut_from
    text = joined(value)
    return len(text) if text or not value else len(json.dumps(value, ensure_ascii=False))


def _plain_of(data: JsonObject) -> str:
    return plain(joined(data.get("text/plain"))).replace("\n", " ")


def data_of(output: Output) -> JsonObject:
    data = output.get("data")
    return data if isinstance(data, dict) else {}


def image_type(data: JsonObject) -> str:
    """The type of the image to show; "" where text says the same, as for a formula."""
    if joined(data.get("text/latex")):
        return ""
    return next((kind for kind in MEDIA_TYPES if kind in data), "")
