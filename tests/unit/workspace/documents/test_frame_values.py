"""What goes through the pipe comes out the same, and nothing else comes out."""

from __future__ import annotations

import errno
import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vitto_jupyter import errors
from vitto_jupyter.errors import ProviderError, ToolError, VittoError
from vitto_jupyter.workspace import base
from vitto_jupyter.workspace.base import revision_of
from vitto_jupyter.workspace.documents import big_work, frame_values
from vitto_jupyter.workspace.documents.big_work import Place, utf8_pieces
from vitto_jupyter.workspace.documents.frame_values import BadFrame, End, decode, encode
from vitto_jupyter.workspace.documents.frames import read_frame, write_frame
from vitto_jupyter.workspace.notebooks.notebook_work import Change, Part
from vitto_jupyter.workspace.notebooks.output_fold import Folded, RunResult

FEW = settings(derandomize=True, deadline=None, max_examples=60)
TEXTS = st.text(st.characters(), max_size=8) | st.just("\ud83d" + "\ude00")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(TEXTS | st.sampled_from(["Cell", "tuple"]), JSON, max_size=4)


def values(text: str, output: dict[str, Any]) -> list[Any]:
    """At least one of every class that travels."""
    new = base.NewCell("markdown", text, "new")
    cell = base.Cell("c1", "code", text, "1", 3, (output, output), True, None, "2026-01-01")
    edits = [
        base.ReplaceSource("c1", revision_of(text), text),
        base.InsertCells("start", (new, new)),
        base.DeleteCell("c2", revision_of("")),
        base.MoveCells(("c1", "c2"), "end"),
    ]
    late = (
        base.BeginRun("c1", revision_of(text), trusted=True),
        base.AddOutput("c1", output),
        base.SetOutput("c1", 2, output),
        base.ClearOutputs("c1"),
        base.EndRun("c1", None, {"started": text}),
    )
    place, part, ids = Place("/root/n.ipynb", text), Part("c1", 0, "text/html", 5, 10), {"c1": text}
    result = RunResult((output,), 7, {"ended": text})
    return [
        base.Notebook("n.ipynb", (cell, cell), "python3", "python", read_only=text),
        base.OutputPart(text, 3, 1_000_000),
        *edits,
        Change(edits, Folded({"c1": result}, late), {"c1": revision_of(text)}),
        Change(tuple(edits), Folded({}, ())),
        big_work.ReadNotebook(place, ids),
        big_work.ReadPart(place, part, ids),
        big_work.CheckBases(place, {"c1": revision_of(text)}, {}),
        big_work.EditNotebook(place, Change([], Folded({}, late)), ids),
        big_work.Edited("0" * 64, "f" * 64, ids),
        big_work.MoreOutputs((output,)),
        End(),
        (output, [text, (), []], {"plain": [output]}, {text: (output,)}, (cell,)),
    ]


@given(TEXTS, OBJECTS)
@FEW
def test_every_value_comes_back_as_it_was(text: str, output: dict[str, Any]) -> None:
    for value in values(text, output):
        found = decode(encode(value))
        assert found == value and repr(found) == repr(value)


def test_every_class_of_the_table_is_tried() -> None:
    text = b"".join(map(encode, values("", {}))).decode()
    missing = {kind.__name__ for kind in frame_values._CLASSES if f'["{kind.__name__}"' not in text}
    assert missing == set()


@given(JSON)
@FEW
def test_lists_and_tuples_stay_what_they_are(value: Any) -> None:
    for each in (value, (value,), [value], {"a": (value,)}):
        found = decode(encode(each))
        assert found == each and repr(found) == repr(each)


# -- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", frame_values._ERRORS)
def test_our_errors_come_back(kind: type[VittoError]) -> None:
    error = decode(encode(End(kind("It is \ud800.", code="own_code", hint="Try again.")))).error
    assert type(error) is kind and str(error) == "It is \ud800."
    assert (error.message, error.code, error.hint) == ("It is \ud800.", "own_code", "Try again.")


@pytest.mark.parametrize(
    "raised",
    [
        FileNotFoundError(errno.ENOENT, "No such file", "/root/n.ipynb"),
        PermissionError(errno.EACCES, "Permission denied"),
        OSError(errno.ELOOP, "Too many levels"),
        OSError("no number"),
    ],
)
def test_errors_of_the_system_come_back_by_number(raised: OSError) -> None:
    error = decode(encode(End(raised))).error
    assert type(error) is type(raised) and error.errno == raised.errno
    assert (error.strerror or str(error)) == (raised.strerror or str(raised))


# -- what is refused -----------------------------------------------------------------------------


class Other(ToolError):
    """An error of no table."""


@pytest.mark.parametrize(
    "value",
    [
        object(),
        {1, 2},
        {"a": b"bytes inside"},
        {1: "a"},
        base.KernelSpec("a", "b", "c"),
        End(Other("x")),
        End(ProviderError("x")),
        type("Text", (str,), {})("x"),
        errors,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_stands_in_no_table_is_not_sent(value: Any) -> None:
    with pytest.raises(BadFrame):
        encode(value)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "[1]",
        "[null]",
        '[["Place"]]',
        '["KernelSpec", "a", "b", "c"]',
        '["ValueError", "x"]',
        '["object"]',
        '["builtins.eval", "1"]',
        '["Place", "only one"]',
        '["Place", "a", "b", "c"]',
        '["Cell", "a", "code", "x", "1"]',
        '["ToolError", "x"]',
        '["tuple", ["Unknown"]]',
        '["dict", "text"]',
        '["dict", {}, {}]',
        '["dict", {"a": ["Unknown"]}]',
        "{",
        "",
        "[" * 100_000,
    ],
)
def test_what_stands_in_no_table_is_not_made(text: str) -> None:
    with pytest.raises(BadFrame):
        decode(text.encode())


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(BadFrame):
        decode(b'"\xff"')


# -- frames --------------------------------------------------------------------------------------


def test_frames_follow_each_other_and_bytes_stay_bytes() -> None:
    pipe = io.BytesIO()
    sent = [Place("/a", "a"), b'["Place"]\xff\x00', b"", "", *utf8_pieces(b"abc", 2), End()]
    for value in sent:
        write_frame(pipe, value)
    pipe.seek(0)
    assert [read_frame(pipe) for _ in sent] == sent
    with pytest.raises(EOFError):
        read_frame(pipe)


def test_bytes_are_not_wrapped() -> None:
    pipe = io.BytesIO()
    write_frame(pipe, b"\xff" * 1000)
    assert len(pipe.getvalue()) == 1000 + 9


def test_a_frame_that_ends_early_is_the_end() -> None:
    pipe = io.BytesIO()
    write_frame(pipe, Place("/a", "a"))
    for size in (3, 9, len(pipe.getvalue()) - 1):
        with pytest.raises(EOFError):
            read_frame(io.BytesIO(pipe.getvalue()[:size]))


def test_other_frames_are_refused() -> None:
    content = json.dumps("x").encode()
    with pytest.raises(BadFrame, match="unknown kind"):
        read_frame(io.BytesIO(b"\x80" + len(content).to_bytes(8, "little") + content))


def test_a_value_that_cannot_be_sent_leaves_the_pipe_alone() -> None:
    pipe = io.BytesIO()
    with pytest.raises(BadFrame):
        write_frame(pipe, [object()])
    assert pipe.getvalue() == b""
