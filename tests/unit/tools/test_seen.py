"""What the model has seen: revisions, texts within bounds, and what of it survives on disk."""

from __future__ import annotations

import json
from typing import Any

import pytest

from vitto_jupyter.tools.seen import LIMIT_CHARS, LIMIT_KEYS, Seen
from vitto_jupyter.workspace.base import Revision

R = Revision("r")


def test_the_oldest_texts_go_first_and_their_revisions_stay() -> None:
    seen = Seen()
    for name in ("a", "b", "c"):
        seen.note(name, R, name * (LIMIT_CHARS // 2))
    assert (seen.text("a"), seen["a"]) == (None, R)
    assert seen.text("c") == "c" * (LIMIT_CHARS // 2)
    seen.note("b", R, "short")
    seen.note("d", R, "d" * (LIMIT_CHARS // 2 - 5))
    assert None not in (seen.text("b"), seen.text("c"), seen.text("d"))


def test_a_text_that_is_too_long_is_remembered_by_its_revision() -> None:
    seen = Seen()
    seen.note("a", R, "x" * (LIMIT_CHARS + 1))
    assert (seen.text("a"), seen.get("a")) == (None, R)


def test_forgetting_a_text_makes_room() -> None:
    seen = Seen()
    seen.note("a", R, "x" * LIMIT_CHARS)
    del seen["a"]
    seen.note("b", R, "y" * LIMIT_CHARS)
    assert (seen.get("a"), len(seen.text("b") or "")) == (None, LIMIT_CHARS)


def test_the_number_of_keys_is_bounded() -> None:
    seen = Seen()
    for number in range(LIMIT_KEYS + 1):
        seen[str(number)] = R
    assert ("0" in seen, "1" in seen, len(seen)) == (False, True, LIMIT_KEYS)


def test_documents_are_files_and_notebooks_but_no_cells() -> None:
    seen = Seen()
    seen["a.py"] = seen["b.py"] = seen["n.ipynb#c1"] = R
    seen.note_order("n.ipynb", ["c1", "c2"])
    assert seen.documents() == ("n.ipynb", "b.py", "a.py")
    seen.forget_notebook("n.ipynb")
    assert (seen.documents(), "n.ipynb#c1" in seen) == (("b.py", "a.py"), False)


def test_all_of_it_survives_as_json() -> None:
    seen = Seen()
    seen.note("n.ipynb#c1", R, "half \ud800 a pair\n")
    seen["a.py"] = R
    seen.note_order("n.ipynb", ["c1"])
    again = Seen.from_json(json.loads(json.dumps(seen.to_json())))
    assert again == seen
    assert again.text("n.ipynb#c1") == "half \ud800 a pair\n"
    assert (again.text("a.py"), again.order("n.ipynb")) == (None, ("c1",))


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"revisions": {"a": 1}, "texts": {}, "orders": {}},
        {"revisions": {}, "texts": [], "orders": {}},
        {"revisions": {}, "texts": {}, "orders": {"n": "c1"}},
        {"revisions": {}, "texts": {}},
    ],
)
def test_something_else_is_refused(value: Any) -> None:
    with pytest.raises(ValueError):
        Seen.from_json(value)


def test_a_text_is_kept_without_what_the_mask_takes_out() -> None:
    seen = Seen()
    seen.mask = lambda text: text.replace("sesame", "[KEY is hidden]")
    seen.note("a.py", Revision("r1"), "key = 'sesame'")
    assert seen.text("a.py") == "key = '[KEY is hidden]'"
    assert "sesame" not in str(seen.to_json())
