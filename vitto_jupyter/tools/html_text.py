"""HTML outputs as text: tables row by row, scripts and styles left out. Pure."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_SKIPPED = frozenset({"script", "style", "head", "template", "svg"})
_BREAKS = frozenset({"p", "div", "br", "tr", "table", "li", "h1", "h2", "h3", "h4", "pre"})
_PARSED_CHARS = 400_000


def html_text(html: str) -> str:
    """The readable text of `html`; cells of a table row are joined with " | "."""
    parser = _Reader()
    parser.feed(html[:_PARSED_CHARS])
    parser.close()
    lines = (re.sub(r"[ \t]+", " ", line).strip(" |") for line in parser.text().split("\n"))
    text = "\n".join(line for line in lines if line)
    if len(html) > _PARSED_CHARS:
        text += f"\n[… {len(html) - _PARSED_CHARS:,} characters of HTML left out …]"
    if parser.scripts:
        text += "\n[script left out]"
    return text.strip()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.scripts = 0
        self._pieces: list[str] = []
        self._skipping: list[str] = []

    def text(self) -> str:
        return "".join(self._pieces)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SKIPPED:
            self.scripts += tag == "script"
            self._skipping.append(tag)
        elif tag in _BREAKS:
            self._pieces.append("\n")
        elif tag in ("td", "th"):
            self._pieces.append(" | ")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._skipping:
            while self._skipping.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not self._skipping:
            self._pieces.append(data.replace("\n", " "))
