"""Stream text: what JupyterLab would show, and never more than the limits."""

from __future__ import annotations

import pytest

from vitto_jupyter.workspace.kernels.stream_text import Limits, StreamText

SMALL = Limits(stream_head_chars=10, stream_tail_chars=10)


def shown(*pieces: str, limits: Limits | None = None) -> str:
    stream = StreamText(limits or Limits())
    for piece in pieces:
        stream.write(piece)
    return stream.text


# Expected values are what `processText` of JupyterLab 4.6's outputarea model gives.
@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (("a\n", "b"), "a\nb"),
        (("abc\rX",), "Xbc"),
        (("10%\r", "20%\r", "100%\n"), "100%\n"),
        (("abc\b\bX",), "aX"),
        (("a\n\bX",), "a\nX"),
        (("long line\rab\nnext",), "abng line\nnext"),
        (("a\r\nb\r\n",), "a\nb\n"),
        (("a\r", "\nb"), "a\nb"),
        (("ab", "\rx", "y"), "xy"),
    ],
)
def test_returns_and_backspaces_act_as_in_jupyterlab(
    pieces: tuple[str, ...], expected: str
) -> None:
    assert shown(*pieces) == expected


def test_text_without_returns_is_never_called_rewritten() -> None:
    stream = StreamText(Limits())
    stream.write("a\nb\r\n")
    stream.write("c")
    assert (stream.text, stream.rewritten) == ("a\nb\nc", False)


def test_a_return_makes_it_rewritten_for_good() -> None:
    stream = StreamText(Limits())
    stream.write("a\rb")
    stream.write("c")
    assert stream.rewritten


def test_the_first_and_last_characters_are_kept_and_the_rest_counted() -> None:
    text = shown(*["0123456789"] * 100, limits=SMALL)
    assert text.startswith("0123456789\n[… 9")
    assert text.endswith("0123456789")
    left_out = int(text.split("… ")[1].split(" ")[0].replace(",", ""))
    kept = len(text) - len(f"\n[… {left_out:,} characters left out …]\n")
    assert left_out + kept == 1000


def test_size_stays_bounded_whatever_is_printed() -> None:
    stream = StreamText(SMALL)
    for _ in range(1000):
        stream.write("line\n" * 50)
    assert len(stream.text) < 100


def test_progress_goes_on_after_the_text_was_cut() -> None:
    text = shown("x" * 100 + "\n", "1%\r", "2%\r", "3%\n", limits=SMALL)
    assert text.endswith("\n3%\n")
