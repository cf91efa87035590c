"""A slightly wrong span is applied where exactly one place can be meant, else refused."""

from __future__ import annotations

import pytest

from vitto_jupyter.errors import EditConflict
from vitto_jupyter.tools.spans import RepeatedSpan, Span, replace_spans

CODE = """\
class Shop:
    def price(self):
        total = 1
        return total

    def name(self):
        return "shop"
"""
TABS = CODE.replace("    ", "\t")


def replaced(text: str, before: str, after: str) -> str:
    return replace_spans(text, (Span(before=before, after=after),), where="a.py")


@pytest.mark.parametrize(
    ("text", "before", "after", "old", "new"),
    [
        # Indented too little, with a line more.
        (CODE, "def price(self):\n    total = 1\n", "def price(self):\n    total = 2\n    a()\n",
         "        total = 1\n", "        total = 2\n        a()\n"),
        # Too much.
        (CODE, "      def price(self):\n          total = 1",
         "      def price(self):\n          t = 2", "total = 1", "t = 2"),
        # Blanks for tabs, and the other way round.
        (TABS, "    def price(self):\n        total = 1", "    def price(self):\n        if a:\n"
         "            total = 1", "\t\ttotal = 1", "\t\tif a:\n\t\t\ttotal = 1"),
        (CODE, "\tdef price(self):\n\t\ttotal = 1", "\tdef price(self):\n\t\ttotal = 2",
         "total = 1", "total = 2"),
        # Blanks at line ends, in either.
        (CODE, "total = 1  \n        return total", "total = 2\n        return total",
         "total = 1", "total = 2"),
        ("a = 1  \nb = 2\n", "a = 1\nb = 2", "a = 1\nb = 3", "b = 2", "b = 3"),
        # Typographic quotes, dashes and spaces.
        (CODE, "return “shop”", "return “store”", '"shop"', '"store"'),
        ("It’s – well – “good”.", 'It\'s - well - "good"', 'It\'s - well - fine',
         "“good”", "fine"),
        ("a\u00a0b c\nd\n", "a b c\nd", "a b c\ne", "d", "e"),
    ],
)  # fmt: skip
def test_one_candidate_is_edited_as_it_is_written_there(
    text: str, before: str, after: str, old: str, new: str
) -> None:
    assert before not in text
    assert replaced(text, before, after) == text.replace(old, new)


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        # Two places, with other blanks.
        (
            "if a:\n    x = 1\n    y\nif b:\n        x = 1\n        y\n",
            "  x = 1\n  y",
            "  x = 2\n  y",
        ),
        # A second place that differs within the line only.
        ("if a:\n    x = 1\n    y\nif b:\n    x=1\n    y\n", "  x = 1\n  y", "  x = 2\n  y"),
        # Blanks within a line can be meant.
        ("s = 'a  b'\n", "s = 'a b'\n", "s = 'c'\n"),
        # Another kind of quote is other code.
        ("s = 'a'\n", 's = "a"\n', 's = "b"\n'),
        # The lines are not indented alike.
        ("if a:\n    b\n    c\n", "if a:\nb\n  c", "if a:\nb\n  d"),
        # Where the new line belongs cannot be told.
        ("if a:\n\tb\n", "    b", "c"),
        ("if a:\n\tb\n\tc\n", "    b\n    c", "    b\n  c"),
        # How the new line's blank is written cannot be told.
        ("a\u00a0b c\n", "a b c", "a b d"),
        ("a\n", "\n\n", "b"),
        ("", " a", "b"),
    ],
)
def test_anything_else_is_refused(text: str, before: str, after: str) -> None:
    with pytest.raises(EditConflict) as caught:
        replaced(text, before, after)
    assert caught.value.code == "no_match"


def test_an_exact_match_is_never_a_near_one() -> None:
    assert replaced("    x = 1\nx = 1\n", "\nx = 1", "\nx = 2") == "    x = 1\nx = 2\n"


def test_all_is_for_exact_matches_only() -> None:
    with pytest.raises(EditConflict):
        replace_spans("say “a”", (RepeatedSpan(before='"a"', after="b", all=True),), where="a")
