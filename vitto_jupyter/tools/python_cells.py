"""The code cells of a notebook as one Python text, IPython's own syntax blanked out. Pure.

Line numbers are kept, so that every problem can be led back to its cell.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..workspace.base import Cell

_PYTHON_MAGICS = frozenset({"capture", "time", "timeit", "prun", "memit", "mprun", "lprun"})
_MAGIC = re.compile(r"^(\s*)(?:[%!]|\?{1,2}\s*[\w.*])")
_ASSIGNED = re.compile(r"^(\s*)([\w.,\s\[\]'\"]+?)\s*=\s*(?:%\w|!)")
_HELP = re.compile(r"^(\s*)%{0,2}[\w.*]+\?{1,2}\s*$")
_WORD = re.compile(r"[^\W\d]\w*")
_OPEN = ("was never closed", "unterminated triple-quoted")


@dataclass(frozen=True, slots=True)
class PythonCell:
    """A cell's Python. `words` are the names that its magics mention."""

    cell: Cell
    source: str
    words: frozenset[str] = frozenset()


def python_cells(cells: Sequence[Cell]) -> list[PythonCell]:
    return [python_cell(cell) for cell in cells if cell.cell_type == "code"]


def python_cell(cell: Cell) -> PythonCell:
    """The cell with every line that is not Python replaced by one that does nothing."""
    first = next((line for line in cell.source.split("\n") if line.strip()), "")
    if first.startswith("%%"):
        return _cell_magic(cell, first)
    if not _has_magic(cell.source):
        return PythonCell(cell, cell.source)
    return _line_magics(cell, cell.source, frozenset())


def _cell_magic(cell: Cell, first: str) -> PythonCell:
    name = _WORD.match(first[2:])
    words = frozenset(_WORD.findall(first))
    if name is not None and name[0] in _PYTHON_MAGICS:
        return _line_magics(cell, cell.source.replace(first, "pass", 1), words)
    # Another language, or text: only the number of lines counts. What it mentions may be used.
    return PythonCell(cell, "\n" * cell.source.count("\n"), frozenset(_WORD.findall(cell.source)))


def _has_magic(source: str) -> bool:
    return any(_replaced(line) is not None for line in source.split("\n"))


def _line_magics(cell: Cell, source: str, words: frozenset[str]) -> PythonCell:
    lines: list[str] = []
    continues = False
    found = set(words)
    for line in source.split("\n"):
        new = "" if continues else _replaced(line)
        if new is None or (not continues and _is_inside(lines)):
            lines.append(line)
            continue
        found.update(_WORD.findall(line))
        lines.append(new)
        continues = line.rstrip().endswith("\\")
    return PythonCell(cell, "\n".join(lines), frozenset(found))


def _replaced(line: str) -> str | None:
    """Python in place of a line of IPython syntax; None for a line of Python."""
    assigned = _ASSIGNED.match(line)
    if assigned:
        return f"{assigned[1]}{assigned[2]} = None"
    magic = _MAGIC.match(line) or _HELP.match(line)
    return f"{magic[1]}pass" if magic else None


def _is_inside(lines: Sequence[str]) -> bool:
    """Whether the lines so far leave a bracket or a string open: then "%" is an operator."""
    try:
        ast.parse("\n".join(lines))
    except SyntaxError as err:
        return any(phrase in str(err.msg) for phrase in _OPEN)
    except (ValueError, RecursionError, MemoryError):
        return False
    return False
