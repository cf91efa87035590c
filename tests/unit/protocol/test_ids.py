"""Ids are safe in URLs and file names."""

from __future__ import annotations

import pytest

from vitto_jupyter.protocol.base import is_id, new_id


def test_fresh_ids_are_ids_and_differ() -> None:
    first, second = new_id("ses"), new_id("ses")
    assert is_id(first) and first.startswith("ses_")
    assert first != second


@pytest.mark.parametrize("text", ["", "a/b", "..", "a b", "a\n", "é", "x" * 81])
def test_what_could_leave_a_folder_or_a_line_is_no_id(text: str) -> None:
    assert not is_id(text)
