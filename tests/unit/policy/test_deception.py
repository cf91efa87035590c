"""What a card warns of: text out of sight, and letters that are not what they seem."""

from __future__ import annotations

import pytest

from vitto_jupyter.policy.deception import warnings_of


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("ls" + " " * 2000 + "; touch x", "It goes on after 2,000 blanks."),
        ("df.head()" + "\n" * 301 + "import os", "It goes on after 300 empty lines."),
        ("g\u0456t status", "It holds letters that only look like Latin ones: “\u0456” (U+0456)."),
        ("print(c\u03bfde)", "It holds letters that only look like Latin ones: “ο” (U+03BF)."),
    ],
)
def test_what_deceives_is_named(text: str, warning: str) -> None:
    assert warnings_of(text) == (warning,)


@pytest.mark.parametrize(
    "text",
    ["git status", "echo Grüße", "echo привет", "π = 3", "x\n\n\ny", "Δx = 1", "    " * 10 + "x"],
)
def test_ordinary_text_is_not_warned_of(text: str) -> None:
    assert warnings_of(text) == ()
