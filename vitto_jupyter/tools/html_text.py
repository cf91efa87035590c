"""HTML outputs as text: tables row by row, scripts and styles left out. Pure.

Not html.parser: that one takes quadratic time on hostile input, and outputs are anybody's.
"""

from __future__ import annotations

import html as entities
import re

_TAG = re.compile(r"(<[^<>]*>)")
_NAME = re.compile(r"</?\s*([a-zA-Z][a-zA-Z0-9]*)")
_SPAN = re.compile(r"\b(row|col)span\s*=\s*[\"']?(\d{1,4})", re.IGNORECASE)
_BLANKS = re.compile(r"[ \t\r\n]+")
_SKIPPED = frozenset({"script", "style", "head", "template", "svg"})
_BREAKS = frozenset({"p", "div", "br", "li", "h1", "h2", "h3", "h4", "pre", "caption"})
_ROW_ENDS = frozenset({"tr", "table", "thead", "tbody", "tfoot"})
_NAMED = {
    "img": "[image] ",
    "iframe": "[frame] ",
    "canvas": "[canvas] ",
    "video": "[video] ",
    "audio": "[audio] ",
}
_READ_CHARS = 400_000
# Where cells of several columns or rows are filled up: further right nobody counts columns.
_FILLED_COLUMNS = 100


def html_text(html: str, *, read_chars: int = _READ_CHARS) -> str:
    """The readable text of `html`; the cells of a table row are joined with " | "."""
    written = _Text()
    skipping = ""
    scripts = 0
    for piece in _TAG.split(_head(html, read_chars)):
        tag = _tag_of(piece)
        is_end = piece.startswith("</")
        if tag is None:
            if not skipping:
                written.text(_BLANKS.sub(" ", piece))
        elif skipping:
            skipping = "" if is_end and tag == skipping else skipping
        elif tag in _SKIPPED:
            scripts += tag == "script"
            skipping = "" if is_end or piece.endswith("/>") else tag
        else:
            written.tag(tag, piece, is_end=is_end)
    text = written.end()
    if len(html) > read_chars:
        text += f"\n[… {len(html) - read_chars:,} characters of HTML left out …]"
    if scripts:
        text += "\n[script left out]"
    return text.strip()


class _Text:
    """Collects text; `row` holds the cells of an open table row, `spans` how many rows below the
    cell in a column still reaches."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._row: list[str] | None = None
        self._cell: list[str] | None = None
        self._wide = 1
        self._spans: dict[int, int] = {}

    def text(self, text: str) -> None:
        (self._pieces if self._cell is None else self._cell).append(text)

    def tag(self, tag: str, piece: str, *, is_end: bool) -> None:
        if tag in _ROW_ENDS:
            self._end_row()
            if tag == "table":
                self._spans = {}
        elif tag in ("td", "th"):
            self._end_cell()
            if not is_end:
                self._begin_cell(piece)
        elif tag in _BREAKS:
            self.text("\n" if self._cell is None else " ")
        elif tag in _NAMED and not is_end:
            self.text(_NAMED[tag])

    def end(self) -> str:
        self._end_row()
        lines = (
            entities.unescape(_BLANKS.sub(" ", line)).rstrip(" |").strip()
            for line in "".join(self._pieces).split("\n")
        )
        return "\n".join(line for line in lines if line)

    def _begin_cell(self, piece: str) -> None:
        if self._row is None:
            self._row = []
        self._fill()
        spans = {name.lower(): int(number) for name, number in _SPAN.findall(piece)}
        at = len(self._row)
        wide = max(min(spans.get("col", 1), _FILLED_COLUMNS - at), 1)
        if spans.get("row", 1) > 1 and at < _FILLED_COLUMNS:
            self._spans |= {column: spans["row"] - 1 for column in range(at, at + wide)}
        self._cell, self._wide = [], wide

    def _fill(self) -> None:
        """Empty cells where one from a row above reaches down."""
        assert self._row is not None
        while self._spans.get(len(self._row), 0) > 0:
            self._spans[len(self._row)] -= 1
            self._row.append("")

    def _end_cell(self) -> None:
        if self._cell is not None and self._row is not None:
            self._row += ["".join(self._cell).strip(), *[""] * (self._wide - 1)]
        self._cell = None

    def _end_row(self) -> None:
        self._end_cell()
        if self._row:
            self._pieces.append(f"\n{' | '.join(self._row)}\n")
        elif self._row is None:
            self._pieces.append("\n")
        self._row = None


def _head(html: str, read_chars: int) -> str:
    """The part that is read; a tag that would be cut through is left out."""
    if len(html) <= read_chars:
        return html
    head = html[:read_chars]
    return head[: head.rfind("<")] if head.rfind("<") > head.rfind(">") else head


def _tag_of(piece: str) -> str | None:
    """The lower-case name of a tag, "" for a comment or the like, None for text."""
    if not (piece.startswith("<") and piece.endswith(">")):
        return None
    name = _NAME.match(piece)
    return name[1].lower() if name else ""
