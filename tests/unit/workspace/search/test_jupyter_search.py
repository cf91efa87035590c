"""The patterns that tell which files are not plain UTF-8 text."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from vitto_jupyter.workspace.search.jupyter_search import _NOT_UTF_8

ODD = re.compile("|".join(_NOT_UTF_8).encode())
BYTES = st.sampled_from([0x41, 0x7F, 0x80, 0x9F, 0xA0, 0xBF, 0xC0, 0xC3, 0xE0, 0xE2, 0xED, 0xF0,
                         0xF4, 0xF5, 0xFF])  # fmt: skip


@settings(max_examples=500, derandomize=True, deadline=None)
@given(st.lists(BYTES, max_size=6).map(bytes))
def test_a_line_is_odd_when_it_is_not_utf_8(line: bytes) -> None:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        assert ODD.search(line)
    else:
        assert not ODD.search(line)
