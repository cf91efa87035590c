"""Pieces of big files; the requests themselves are tested where a process answers them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from vitto_jupyter.workspace.documents.big_work import digest_of, utf8_pieces


@given(st.text(max_size=80), st.integers(4, 9))
@settings(derandomize=True, deadline=None, max_examples=100)
def test_pieces_are_whole_text_and_together_the_file(text: str, limit_bytes: int) -> None:
    content = text.encode("utf-8", "replace")
    pieces = list(utf8_pieces(content, limit_bytes))
    assert b"".join(pieces) == content
    assert all(len(piece) <= limit_bytes and piece.decode("utf-8") for piece in pieces)
    assert digest_of(pieces) == digest_of([content])
