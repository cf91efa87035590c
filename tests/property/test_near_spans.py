"""However an edit is distorted and whatever else is in the text: it is made right or refused."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from vitto_jupyter.errors import EditConflict
from vitto_jupyter.tools.spans import Span, replace_spans

_CONTENTS = st.sampled_from(
    ["x = 1", "x  = 1", "x=1", "y = 'a b'", 'z = "a b"', "f(x)", "}", "", "end", "é – é", "x = 10"]
)
_INDENTS = st.sampled_from(["", "  ", "    ", "        ", "\t", "\t\t", "   "])
_LINE = st.builds(lambda indent, content: indent + content if content else "", _INDENTS, _CONTENTS)
_NEW = st.sampled_from(["new = 1", 'new = "a"', "new = 'a'", "", "if new:\n{}  x", "x = 1"])
_CURLY = str.maketrans({'"': "\u201d", "'": "\u2019", "-": "\u2013"})
_STRAIGHT = str.maketrans({"\u2013": "-", "\u201d": '"', "\u2019": "'"})
Distortion = Callable[[list[str]], list[str]]


def indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _deeper(lines: list[str]) -> list[str]:
    return [f"   {line}" if line.strip() else line for line in lines]


def _shallower(lines: list[str]) -> list[str]:
    """All by two blanks, if they have them: how lines stand to each other must not get lost."""
    can = all(line.startswith("  ") for line in lines if line.strip())
    return [line[2:] for line in lines] if can else lines


def _flat(lines: list[str]) -> list[str]:
    can = len({indent_of(line) for line in lines if line.strip()}) == 1
    return [line.lstrip() for line in lines] if can else lines


def _blanks(lines: list[str]) -> list[str]:
    can = not any(indent_of(line).strip("\t") for line in lines)
    return [line.replace("\t", "    ") for line in lines] if can else lines


def _tabs(lines: list[str]) -> list[str]:
    can = not any(indent_of(line).replace("    ", "") for line in lines)
    return [line.replace("    ", "\t") for line in lines] if can else lines


_DISTORTIONS: list[Distortion] = [
    _deeper,
    _shallower,
    _flat,
    _blanks,
    _tabs,
    lambda lines: [f"{line}  " for line in lines],
    lambda lines: [line.rstrip() for line in lines],
    lambda lines: [line.translate(_CURLY) for line in lines],
    lambda lines: [line.translate(_STRAIGHT) for line in lines],
]


def plain(text: str) -> list[str]:
    """What must be right in any case: all but blanks at line ends and the kind of sign."""
    return [line.rstrip() for line in text.translate(_STRAIGHT).split("\n")]


@settings(derandomize=True, max_examples=400, deadline=None)
@given(
    st.lists(_LINE, min_size=1, max_size=12), st.lists(st.sampled_from(_DISTORTIONS), min_size=1,
    max_size=3), st.data()
)  # fmt: skip
def test_a_distorted_edit_is_made_at_the_right_place_or_refused(
    lines: list[str], distortions: list[Distortion], data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(lines) - 1))
    stop = data.draw(st.integers(start + 1, len(lines)))
    at = data.draw(st.integers(start, stop - 1))
    if data.draw(st.booleans()):  # the same lines again, with other blanks
        copies = [data.draw(_INDENTS) + line.strip() for line in lines[start:stop]]
        lines = [*lines, *copies]
    indent = indent_of(lines[at])
    new = (indent + data.draw(_NEW).format(indent)).split("\n")
    block, edited = lines[start:stop], [*lines[start:at], *new, *lines[at + 1 : stop]]
    distorted = [*block, *edited]
    for distortion in distortions:
        distorted = distortion(distorted)
    text = "\n".join(lines)
    before, after = "\n".join(distorted[: len(block)]), "\n".join(distorted[len(block) :])
    # What stands there exactly is what is meant, whatever else was thought of.
    assume(before not in text and before.strip())
    if data.draw(st.booleans()):
        before, after = before.replace("\n", "\r\n"), after.replace("\n", "\r\n")
    try:
        result = replace_spans(text, (Span(before=before, after=after),), where="a")
    except EditConflict:
        event("refused")
        return
    event("made")
    expected = "\n".join([*lines[:start], *edited, *lines[stop:]])
    assert plain(result) == plain(expected)
    untouched = [line for number, line in enumerate(lines) if not start <= number < stop]
    kept = result.split("\n")
    assert kept[:start] + kept[len(kept) - (len(lines) - stop) :] == untouched


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.lists(_LINE, max_size=12), st.lists(_LINE, min_size=1, max_size=3), _LINE)
def test_what_is_not_there_but_for_signs_and_blanks_is_never_edited(
    lines: list[str], before: list[str], after: str
) -> None:
    text, wanted = "\n".join(lines), "\n".join(before)
    squeezed = ["".join(line.split()).translate(_STRAIGHT) for line in lines]
    sought = ["".join(line.split()).translate(_STRAIGHT) for line in before]
    places = [
        at
        for at in range(len(lines) - len(sought) + 1)
        if squeezed[at : at + len(sought)] == sought
    ]
    assume(wanted not in text and len(places) != 1)
    try:
        result = replace_spans(text, (Span(before=wanted, after=after),), where="a")
    except EditConflict:
        return
    # No whole lines, then, but a part of the text that differs in signs only.
    assert not places
    assert text.translate(_STRAIGHT).count(wanted.translate(_STRAIGHT)) == 1
    assert len(result) - len(text) == len(after) - len(wanted)
