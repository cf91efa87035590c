"""Which notebooks a search must look at: what is sure of each match, and nothing that is not."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vitto_jupyter.tools.notebook_filter import escaped, stored_patterns


@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        (r"import (os|re)", None),
        (r"import os", "import os"),
        (r"import\s+pandas", "import"),
        (r"ab+cde", "cde"),
        (r"abc?", "ab"),
        (r"abc*d", "ab"),
        (r"ab{0}xyz", "xyz"),
        (r"load\(path", "load"),
        (r"xx(abc)?", "xx"),
        (r"xx[abc]yyy|z", None),
        (r"(?i)Needle", "Needle"),
        (r"(?x) a b", None),
        (r"\x41\x42ab", None),
        (r".*", None),
        (r"é", None),
    ],
)
def test_the_text_that_every_match_of_an_expression_has(pattern: str, needed: str | None) -> None:
    patterns = stored_patterns(pattern, regex=True, outputs=False)
    if needed is None:
        assert patterns == ()
    else:
        assert patterns[0] in (escaped(needed), f"(?i:{escaped(needed)})")


def test_a_literal_is_looked_for_without_what_json_may_escape() -> None:
    first, *_ = stored_patterns('say("hello world")', regex=False, outputs=False)
    assert first == "hello world"
    assert stored_patterns('"\\"', regex=False, outputs=False) == ()


PIECES = st.sampled_from(
    ["ab", "cd ", "x", "e+", "b?", "c*", "d{2}", "f{0}", "x{0,2}", r"\d", r"\.", r"\\", "[ab]",
     "[^]x]y", "(ab)", "(cd)?", "(x|y)", "^", "$", ".", r"\b", "z+?", "w*?"]
)  # fmt: skip


@settings(max_examples=300, derandomize=True, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=5).map("".join), st.data())
def test_what_is_looked_for_is_in_every_match(pattern: str, data: st.DataObject) -> None:
    patterns = stored_patterns(pattern, regex=True, outputs=False)
    text = data.draw(st.text(alphabet="abcdexyzfw 1.\\", max_size=12))
    part = st.sampled_from(["", "ab", "cd ", "x", "e", "dd", "1", ".", "\\", "ay", "y"])
    parts = data.draw(st.lists(part, max_size=5))
    for tried in (text, "".join(parts)):
        found = re.search(pattern, tried)
        if found and patterns:
            assert re.search(patterns[0], found[0])
