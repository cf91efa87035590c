"""A replacement whose `before` is slightly wrong. Pure; used by spans only.

Slightly wrong is: all lines indented by as much more or less, tabs for blanks, other blanks at
line ends, typographic for plain quotes, dashes and spaces or the other way round. It is applied
only when exactly one place can be meant, also when blanks did not count at all, and only what the
edit changes is written: the rest stays as the text has it.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

_PLAIN = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f", '"')
    | dict.fromkeys("\u00a0\u2002\u2003\u2009\u202f", " ")
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")
)
_Reindent = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class _Place:
    """Characters [start, end) of the text, and how the indentation there is made."""

    start: int
    end: int
    reindent: _Reindent


def near_replacement(text: str, before: str, after: str) -> str | None:
    """`text` with `before`, which is not in it, replaced where it nearly is.

    None when there is no such place, when there are several, and when it cannot be told how
    `after` has to be written there.
    """
    if before.endswith("\n"):
        # Whole lines are meant; what is left of the last one would join the next.
        if not after.endswith("\n"):
            return None
        before, after = before[:-1], after[:-1]
    place = _only_place(text, before) if before.strip() else None
    if place is None:
        return None
    lines = _new_lines(text[place.start : place.end].split("\n"), before, after, place.reindent)
    return None if lines is None else text[: place.start] + "\n".join(lines) + text[place.end :]


# -- finding the place ---------------------------------------------------------------------------


def _only_place(text: str, before: str) -> _Place | None:
    lines, wanted = text.split("\n"), before.split("\n")
    blocks = _blocks([_squeezed(line) for line in lines], [_squeezed(line) for line in wanted])
    parts = _occurrences(text.translate(_PLAIN), before.translate(_PLAIN))
    if len(blocks) > 1 or len(parts) > 1:
        return None
    if parts and blocks and text.count("\n", 0, parts[0]) != blocks[0]:
        return None
    if parts:
        return _part_place(text, parts[0], before)
    return _block_place(lines, blocks[0], wanted) if blocks else None


def _part_place(text: str, start: int, before: str) -> _Place | None:
    end = start + len(before)
    pairs = zip(before.split("\n"), text[start:end].split("\n"), strict=True)
    same = all(_indent(new) == _indent(old) for new, old in pairs)
    return _Place(start, end, _as_it_is) if same else None


def _block_place(lines: Sequence[str], at: int, wanted: Sequence[str]) -> _Place | None:
    found = lines[at : at + len(wanted)]
    if [_content(line) for line in found] != [_content(line) for line in wanted]:
        return None
    pairs = [
        (_indent(new), _indent(old)) for new, old in zip(wanted, found, strict=True) if new.strip()
    ]
    start = sum(len(line) + 1 for line in lines[:at])
    end = start + len("\n".join(found))
    reindent = _reindent(pairs)
    if reindent is None and wanted[0][:1].strip() and all(new == old for new, old in pairs[1:]):
        # It begins behind the indentation of its first line.
        return _Place(start + len(pairs[0][1]), end, _as_it_is)
    return reindent and _Place(start, end, reindent)


def _squeezed(line: str) -> str:
    return "".join(line.translate(_PLAIN).split())


def _content(line: str) -> str:
    return line.translate(_PLAIN).strip()


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _blocks(lines: Sequence[str], wanted: Sequence[str]) -> list[int]:
    last = len(lines) - len(wanted)
    return [
        at
        for at in range(last + 1)
        if lines[at] == wanted[0] and list(lines[at : at + len(wanted)]) == list(wanted)
    ]


def _occurrences(text: str, part: str) -> list[int]:
    found = [text.find(part)]
    while found[-1] >= 0:
        found.append(text.find(part, found[-1] + 1))
    return found[:-1]


def _as_it_is(indent: str) -> str:
    return indent


# -- writing it as it is written there -----------------------------------------------------------


def _reindent(pairs: Sequence[tuple[str, str]]) -> _Reindent | None:
    """From indentation of the edit to that of the text; `pairs` of both, line by line."""
    new, old = pairs[0]
    more = old.removesuffix(new) if old.endswith(new) else None
    if more is not None and all(there == more + here for here, there in pairs):
        return lambda indent: more + indent
    less = new.removesuffix(old) if new.endswith(old) else None
    if less is not None and all(here == less + there for here, there in pairs):
        return lambda indent: indent.removeprefix(less) if indent.startswith(less) else None
    for here, there in ((" ", "\t"), ("\t", " ")):
        if (units := _units(pairs, here, there)) is not None:
            return lambda indent: _exchanged(indent, here, there, *units)
    return None


def _units(pairs: Sequence[tuple[str, str]], here: str, there: str) -> tuple[int, int] | None:
    """How many of `here` are how many of `there`; None when that is not the same in all lines."""
    if any(new.strip(here) or old.strip(there) or bool(new) != bool(old) for new, old in pairs):
        return None
    ratios = {len(new) / len(old) for new, old in pairs if old}
    ratio = ratios.pop() if len(ratios) == 1 else 0
    if ratio >= 2 and ratio.is_integer():
        return int(ratio), 1
    return (1, int(1 / ratio)) if ratio and ratio <= 0.5 and (1 / ratio).is_integer() else None


def _exchanged(indent: str, here: str, there: str, size: int, count: int) -> str | None:
    if indent.strip(here) or len(indent) % size:
        return None
    return there * (len(indent) // size * count)


def _new_lines(
    found: Sequence[str], before: str, after: str, reindent: _Reindent
) -> list[str] | None:
    """The lines of `after` as they are to be written in the place of `found`."""
    wanted, new = before.split("\n"), after.split("\n")
    if _least_indent(new) < _least_indent(wanted):
        return None
    signs = _signs(zip(wanted, found, strict=True))
    result: list[str] = []
    matcher = difflib.SequenceMatcher(None, wanted, new, autojunk=False)
    for kind, start, end, new_start, new_end in matcher.get_opcodes():
        if kind == "equal":
            result += found[start:end]
            continue
        for line in new[new_start:new_end]:
            written = _rewritten(line, reindent, signs)
            if written is None:
                return None
            result.append(written)
    return result


def _least_indent(lines: Sequence[str]) -> int:
    return min((len(_indent(line)) for line in lines if line.strip()), default=1_000_000)


def _signs(pairs: Iterable[tuple[str, str]]) -> dict[str, str | None]:
    """How each character of the edit is written in the text; None: now so, now so."""
    signs: dict[str, str | None] = {}
    for here, there in pairs:
        for sign, written in zip(here.strip(), there.strip(), strict=True):
            if signs.setdefault(sign, written) != written:
                signs[sign] = None
    return signs


def _rewritten(line: str, reindent: _Reindent, signs: dict[str, str | None]) -> str | None:
    if not line.strip():
        return ""
    indent = reindent(_indent(line))
    content = [signs.get(sign, sign) for sign in line[len(_indent(line)) :]]
    if indent is None or None in content:
        return None
    return indent + "".join(sign for sign in content if sign is not None)
