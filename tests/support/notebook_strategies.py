"""Hypothesis strategies for notebook files in all the ways that JSON can be written."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

# Number tokens that a parser may read and write back in another way.
NUMBERS = ("1.0", "1E5", "1e-7", "-0.0", "0", "12345678901234567890123", "3.1400", "1e400")
_LETTERS = st.sampled_from([*"ab =#'\"\\/{}[],:\t", "é", "λ", "😀", "\u2028", "\x1b", "\ud83d"])
_LINES = st.lists(_LETTERS, max_size=6).map("".join)
_ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])


@dataclass(frozen=True)
class Token:
    """A number as it is written."""

    text: str


class Members(list[tuple[str, Any]]):
    """An object as pairs, so that a name can come twice."""


@dataclass(frozen=True)
class Layout:
    """How a file is written. `gap` is extra space between items of the list of cells."""

    indent: str | None
    newline: str
    colon: str
    spell: Callable[[str], str]
    bom: bytes
    tail: str


@dataclass(frozen=True)
class Written:
    """A notebook file, and the exact text of each of its cells."""

    content: bytes
    cells: tuple[str, ...]

    @property
    def value(self) -> dict[str, Any]:
        return json.loads(self.content.removeprefix(codecs.BOM_UTF8))


sources = st.lists(st.tuples(_LINES, st.just("\n")), max_size=4).map(
    lambda lines: "".join(line + end for line, end in lines).removesuffix("\n")
)
_raw_sources = st.builds(
    lambda lines, last: "".join(line + end for line, end in lines) + last,
    st.lists(st.tuples(_LINES, _ENDS), max_size=4),
    _LINES,
)
_unknown = st.recursive(
    st.sampled_from([*map(Token, NUMBERS), "x", None, True]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.lists(st.tuples(st.sampled_from(["a", "b/c", "é", ""]), inner), max_size=2).map(
            Members
        )
    ),
    max_leaves=4,
)


def _escaped(text: str) -> str:
    """Every character as an escape: legal, and what no usual writer does."""
    units = text.encode("utf-16-be", "surrogatepass")
    numbers = [units[at] << 8 | units[at + 1] for at in range(0, len(units), 2)]
    return '"' + "".join(f"\\u{number:04X}" for number in numbers) + '"'


def _literal(text: str) -> str:
    written = json.dumps(text, ensure_ascii=False)
    return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in written)


_SPELLINGS: list[Callable[[str], str]] = [
    _literal,
    json.dumps,
    lambda text: json.dumps(text).replace("/", "\\/"),
    lambda text: _escaped(text) if len(text) % 3 == 2 else _literal(text),
]


def _write(value: Any, layout: Layout, depth: int) -> str:
    if isinstance(value, Token):
        return value.text
    if isinstance(value, str):
        return layout.spell(value)
    if isinstance(value, Members):
        name = "{}" + layout.colon + "{}"
        parts = [
            name.format(layout.spell(key), _write(item, layout, depth + 1)) for key, item in value
        ]
        return _joined("{", parts, "}", layout, depth)
    if isinstance(value, list):
        return _joined("[", [_write(item, layout, depth + 1) for item in value], "]", layout, depth)
    return json.dumps(value)


def _joined(start: str, parts: list[str], end: str, layout: Layout, depth: int) -> str:
    if not parts:
        return start + end
    if layout.indent is None:
        comma = ", " if layout.colon == ": " else ","
        return start + comma.join(parts) + end
    inner = layout.newline + layout.indent * (depth + 1)
    return start + inner + f",{inner}".join(parts) + layout.newline + layout.indent * depth + end


layouts = st.builds(
    Layout,
    indent=st.sampled_from([None, "", " ", "  ", "    ", "\t"]),
    newline=st.sampled_from(["\n", "\r\n"]),
    colon=st.sampled_from([": ", ":"]),
    spell=st.sampled_from(_SPELLINGS),
    bom=st.sampled_from([b"", codecs.BOM_UTF8]),
    tail=st.sampled_from(["", "\n", "\r\n\n"]),
)


@st.composite
def _source(draw: st.DrawFn) -> Any:
    text = draw(_raw_sources)
    form = draw(st.sampled_from(["lines", "lines", "text", "odd"]))
    if form == "text":
        return text
    if form == "lines":
        return text.splitlines(keepends=True)
    cut = draw(st.integers(0, len(text)))
    return [text[:cut], text[cut:]]


def _outputs(text: str) -> list[Any]:
    stream = Members([("text", [text, "\n"]), ("output_type", "stream"), ("name", "stdout")])
    data = Members([("text/plain", text), ("application/json", Token("1E5"))])
    display = Members([("output_type", "display_data"), ("data", data), ("metadata", Members())])
    return [stream, display]


@st.composite
def _cell(draw: st.DrawFn, number: int, minor: int) -> Members:
    kind = draw(st.sampled_from(["code", "code", "markdown", "raw"]))
    metadata = Members(draw(st.lists(st.tuples(st.just("unknown"), _unknown), max_size=1)))
    pairs = [("cell_type", kind), ("metadata", metadata), ("source", draw(_source()))]
    if kind == "code":
        outputs = draw(st.just([]) | _LINES.map(_outputs))
        count = draw(st.sampled_from([None, Token("3")]))
        pairs += [("outputs", outputs), ("execution_count", count)]
    elif draw(st.booleans()):
        image = Members([("image/png", "AA=="), ("text/plain", ["a\n", "b"])])
        pairs.append(("attachments", Members([("a.png", image)])))
    if minor >= 5 and draw(st.integers(0, 4)):
        pairs.append(("id", draw(st.sampled_from(["same", f"cell-{number}", f"c_{number}"]))))
    pairs = draw(st.permutations(pairs))
    if draw(st.integers(0, 9)) == 0:
        pairs.insert(0, ("source", "a ghost: the last of equal names counts"))
    return Members(pairs)


@st.composite
def notebooks(draw: st.DrawFn) -> Written:
    """A valid notebook of format 4.0 to 4.5, at times with missing or repeated cell ids."""
    layout = draw(layouts)
    minor = draw(st.integers(0, 5))
    cells = [draw(_cell(number, minor)) for number in range(draw(st.integers(0, 5)))]
    metadata = Members([("unknown", draw(_unknown))])
    fields = [
        ("metadata", metadata),
        ("nbformat", Token("4")),
        ("nbformat_minor", Token(str(minor))),
        ("cells", cells),
    ]
    fields += draw(st.sampled_from([[], [("from_a_tool", Token("1E5"))]]))
    top = Members(draw(st.permutations(fields)))
    text = _write(top, layout, 0) + layout.tail
    written = tuple(_write(cell, layout, 2) for cell in cells)
    return Written(layout.bom + text.encode(), written)
