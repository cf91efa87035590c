"""Markers, clean text and what is kept of it, however the stream is cut into chunks."""

from __future__ import annotations

import pytest

from vitto_jupyter.workspace.terminals.terminal_stream import (
    CleanText,
    CommandOutput,
    HeadTail,
    Mark,
    MarkParser,
)

KEY = "00ff"


def mark(kind: str, value: str = "", key: str = KEY) -> str:
    return f"\x1b]633;{kind};{key}{';' + value if value else ''}\x07"


def parsed(text: str, *, chunk: int) -> list[str | Mark]:
    """The parts, with neighbouring texts joined."""
    parser = MarkParser(KEY)
    joined: list[str | Mark] = []
    for at in range(0, len(text), chunk):
        for part in parser.feed(text[at : at + chunk]):
            if joined and isinstance(part, str) and isinstance(joined[-1], str):
                joined[-1] += part
            else:
                joined.append(part)
    return joined


def cleaned(text: str, *, chunk: int = 10_000) -> str:
    clean = CleanText()
    finished = [clean.feed(text[at : at + chunk]) for at in range(0, len(text), chunk)]
    return "".join(finished) + clean.end()


@pytest.mark.parametrize("chunk", [1, 2, 7, 1000])
def test_markers_are_found_wherever_the_stream_is_cut(chunk: int) -> None:
    text = f"$ {mark('C')}out\x1b[31mred\x1b[0m{mark('D', '37')}end."
    assert parsed(text, chunk=chunk) == [
        "$ ",
        Mark("C", ""),
        "out\x1b[31mred\x1b[0m",
        Mark("D", "37"),
        "end.",
    ]


def test_a_marker_with_another_key_is_text() -> None:
    forged = mark("D", "0", key="dead")
    assert parsed(f"a{forged}b", chunk=3) == [f"a{forged}b"]


@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 10_000])
@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("a\r\nb\r\n", "a\nb\n"),
        ("a\r\r\nb", "a\nb"),
        ("\x1b[1;31mred\x1b[0m\r\n", "red\n"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq data\x1b\\x", "x"),
        ("\x1b(Bx\x1b=y\x1b>z", "xyz"),
        ("1%\r2%\r100%\r\n", "100%\n"),
        ("long text\rshort\r\n", "shorttext\n"),
        ("long text\rshort\x1b[K\r\n", "short\n"),
        ("long text\r\x1b[2Kshort\r\n", "short\n"),
        ("N\bNA\bA", "NA"),
        ("bell\x07\x00!", "bell!"),
        ("tab\tkept", "tab\tkept"),
        ("no end", "no end"),
    ],
)
def test_text_is_clean_wherever_the_stream_is_cut(raw: str, expected: str, chunk: int) -> None:
    assert cleaned(raw, chunk=chunk) == expected


def test_an_endless_line_is_let_go_in_pieces() -> None:
    clean = CleanText()
    released = "".join(clean.feed("x" * 50_000) for _ in range(10))
    assert len(clean.partial) <= 65_536
    assert len(released + clean.end()) == 500_000


def test_head_and_tail_are_kept_and_everything_counted() -> None:
    kept = HeadTail(head_chars=4, tail_chars=4)
    for piece in ("ab", "cdef", "ghij", "klmnop"):
        kept.add(piece)
    assert kept.text == "abcd\n[… 8 characters left out …]\nmnop"
    assert kept.total_chars == 16


def test_short_text_is_kept_whole() -> None:
    kept = HeadTail(head_chars=4, tail_chars=4)
    kept.add("abcdefgh")
    assert kept.text == "abcdefgh"


def test_live_text_is_the_whole_text_in_pieces() -> None:
    output = CommandOutput()
    live = ""
    for piece in ("one\r\nt", "wo", "\r\nname? ", "bob\r\n"):
        output.feed(piece)
        live += output.take_live()
    output.end()
    assert live + output.take_live() == output.text == "one\ntwo\nname? bob\n"


def test_live_text_starts_a_new_line_when_a_told_one_is_overwritten() -> None:
    output = CommandOutput()
    output.feed("10%")
    first = output.take_live()
    output.feed("\r100%\r\n")
    assert (first, output.take_live()) == ("10%", "\n100%\n")


def test_live_text_ends_at_its_limit() -> None:
    output = CommandOutput()
    for _ in range(300):
        output.feed("x" * 999 + "\n")
    live = output.take_live()
    assert len(live) < 101_000
    assert live.endswith("[… more output: see the terminal …]\n")
    output.feed("more\n")
    assert output.take_live() == ""
    assert output.total_chars == 300_005
