"""Text files in any encoding and with any line ends: an edit changes the lines it names."""

from __future__ import annotations

import codecs

from hypothesis import given, settings
from hypothesis import strategies as st

from vitto_jupyter.errors import NotText
from vitto_jupyter.tools.spans import Span, replace_spans
from vitto_jupyter.workspace.text_codec import decode, encode

ENCODINGS = [
    (b"", "utf-8"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"", "cp1252"),
]
bounded = settings(derandomize=True, max_examples=200, deadline=None)
_line = st.lists(st.sampled_from([*"ab \t", "é", "€", "\x0c"]), max_size=5).map("".join)
_end = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def files(draw: st.DrawFn) -> tuple[list[tuple[str, str]], bytes, str]:
    """Lines with their ends (the last "" or one), the byte order mark, the encoding."""
    lines = draw(st.lists(_line, min_size=1, max_size=8))
    ends = draw(st.lists(_end, min_size=len(lines), max_size=len(lines)))
    if draw(st.booleans()):
        ends = [ends[0]] * len(lines)
    if draw(st.booleans()):
        ends[-1] = ""
    for at in range(1, len(lines)):
        if ends[at - 1] == "\r" and not lines[at] and ends[at] == "\n":
            lines[at] = "x"  # else the two would be one line end
    bom, codec = draw(st.sampled_from(ENCODINGS))
    if codec == "cp1252":
        # Enough plain text for the encoding to be told, and a byte that is no UTF-8.
        lines[0] = "plain text to go by, \u00e9 and on and on and on and on, " + lines[0]
    return list(zip(lines, ends, strict=True)), bom, codec


def bytes_of(lines: list[tuple[str, str]], bom: bytes, codec: str) -> bytes:
    return bom + "".join(line + end for line, end in lines).encode(codec)


@bounded
@given(files())
def test_what_is_not_edited_is_the_same_bytes(
    written: tuple[list[tuple[str, str]], bytes, str],
) -> None:
    content = bytes_of(*written)
    file = decode(content, name="f")
    assert "\r" not in file.text
    assert encode(file, file.text) == content


@bounded
@given(files(), st.data())
def test_an_edited_line_keeps_its_end_and_all_others_their_bytes(
    written: tuple[list[tuple[str, str]], bytes, str], data: st.DataObject
) -> None:
    lines, bom, codec = written
    at = data.draw(st.integers(1 if codec == "cp1252" and len(lines) > 1 else 0, len(lines) - 1))
    # A line that is there once, so that the span is unique, and a new text that is nowhere else.
    lines[at] = ("the one line", lines[at][1])
    new = data.draw(st.sampled_from(["changed", "chang\u00e9d"]))
    content = bytes_of(lines, bom, codec)
    file = decode(content, name="f")
    text = replace_spans(file.text, (Span(before="the one line", after=new),), where="f")
    lines[at] = (new, lines[at][1])
    assert encode(file, text) == bytes_of(lines, bom, file.codec)


@bounded
@given(files(), st.data())
def test_any_new_text_is_there_when_it_is_read_again(
    written: tuple[list[tuple[str, str]], bytes, str], data: st.DataObject
) -> None:
    file = decode(bytes_of(*written), name="f")
    new = "\n".join(data.draw(st.lists(_line, max_size=8)))
    again = encode(file, new)
    assert (
        again.removeprefix(file.bom).decode(file.codec).replace("\r\n", "\n").replace("\r", "\n")
        == new
    )


@bounded
@given(st.binary(max_size=60))
def test_bytes_are_refused_or_kept(content: bytes) -> None:
    try:
        file = decode(content, name="f")
    except NotText as refused:
        assert refused.message.startswith("f ")
        return
    assert "\0" not in file.text
    assert encode(file, file.text) == content
