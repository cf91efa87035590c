"""HTML outputs as text: tables row by row, scripts and styles left out. Pure.

Not html.parser: that one takes quadratic time on hostile input, and outputs are anybody's.
"""

from __future__ import annotations

import html as entities
import re

_TAG = re.compile(r"(<[^<>]*>)")
_NAME = re.compile(r"</?\s*([a-zA-Z][a-zA-Z0-9]*)")
_BLANKS = re.compile(r"[ \t\r\n]+")
_SKIPPED = frozenset({"script", "style", "head", "template", "svg"})
_BREAKS = frozenset({"p", "div", "br", "tr", "table", "li", "h1", "h2", "h3", "h4", "pre"})
_READ_CHARS = 400_000


def html_text(html: str, *, read_chars: int = _READ_CHARS) -> str:
    """The readable text of `html`; cells of a table row are joined with " | "."""
    pieces: list[str] = []
    skipping = ""
    scripts = 0
    for piece in _TAG.split(_head(html, read_chars)):
        tag = _tag_of(piece)
        if tag is None:
            if not skipping:
                pieces.append(_BLANKS.sub(" ", piece))
        elif skipping:
            skipping = "" if piece.startswith("</") and tag == skipping else skipping
        elif tag in _SKIPPED:
            scripts += tag == "script"
            skipping = "" if piece.startswith("</") or piece.endswith("/>") else tag
        else:
            pieces.append(_in_place_of(tag, is_end=piece.startswith("</")))
    text = _tidied("".join(pieces))
    if len(html) > read_chars:
        text += f"\n[… {len(html) - read_chars:,} characters of HTML left out …]"
    if scripts:
        text += "\n[script left out]"
    return text.strip()


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


def _in_place_of(tag: str, *, is_end: bool) -> str:
    if tag in _BREAKS:
        return "\n"
    if tag == "img":
        return "[image] "
    return " | " if tag in ("td", "th") and not is_end else ""


def _tidied(text: str) -> str:
    lines = (entities.unescape(_BLANKS.sub(" ", line)).strip(" |") for line in text.split("\n"))
    return "\n".join(line for line in lines if line)
