"""Checking Python text without running any of it: the parser, then pyflakes. Pure."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .python_cells import PythonCell

_KERNEL_NAMES = frozenset({"display", "get_ipython", "In", "Out", "exit", "quit", "_", "__", "___"})
_HISTORY = re.compile(r"^_(?:i{1,3}|i?\d+|oh|ih|dh|exit_code)$")
_MAX_CHARS = 2_000_000


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem at a 1-based line and column of the checked text."""

    line: int
    column: int
    severity: Literal["error", "warning"]
    message: str
    source: Literal["python", "pyflakes"]


@dataclass(frozen=True, slots=True)
class CellProblem:
    """A problem of a cell; the line counts within the cell."""

    cell: PythonCell
    problem: Problem


def check_file(text: str) -> list[Problem]:
    """The problems of a Python file."""
    tree, problems = _parse(text, flags=0)
    if tree is not None:
        problems += _flakes(tree, builtins=frozenset())
    return problems


def check_cells(cells: Sequence[PythonCell]) -> list[CellProblem]:
    """The problems of the cells, taken together from first to last as one program."""
    found: list[CellProblem] = []
    sound: list[str] = []
    for cell in cells:
        tree, problems = _parse(cell.source, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        found += [CellProblem(cell, problem) for problem in problems]
        # A cell that cannot be parsed is left out of the rest, but keeps its lines.
        sound.append(cell.source if tree is not None else "\n" * cell.source.count("\n"))
    all_parsed = not any(one.problem.severity == "error" for one in found)
    words = frozenset().union(*(cell.words for cell in cells))
    tree, _ = _parse("\n".join(sound), flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if tree is None:
        return found
    problems = _flakes(tree, builtins=_KERNEL_NAMES | words, is_notebook=True, used=words)
    if not all_parsed:
        # The broken cell may define what the others use.
        problems = [one for one in problems if "undefined name" not in one.message]
    return found + list(_located(cells, problems))


def _located(cells: Sequence[PythonCell], problems: Sequence[Problem]) -> Iterator[CellProblem]:
    starts, line = [], 0
    for cell in cells:
        starts.append(line)
        line += cell.source.count("\n") + 1
    for one in problems:
        at = max(index for index, start in enumerate(starts) if start < one.line)
        local = Problem(one.line - starts[at], one.column, one.severity, one.message, one.source)
        yield CellProblem(cells[at], local)


def _parse(text: str, *, flags: int) -> tuple[ast.Module | None, list[Problem]]:
    """The syntax tree, and what the parser and the compiler complain about."""
    if len(text) > _MAX_CHARS:
        return None, [Problem(1, 1, "warning", "too long to be checked", "python")]
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        try:
            tree = compile(text, "<text>", "exec", ast.PyCF_ONLY_AST | flags, dont_inherit=True)
            # Compiling finds what parsing does not, such as "return" outside a function.
            compile(tree, "<text>", "exec", flags, dont_inherit=True)
        except SyntaxError as err:
            line, column = err.lineno or 1, err.offset or 1
            return None, [Problem(line, max(column, 1), "error", f"{err.msg}", "python")]
        except (RecursionError, MemoryError, ValueError) as err:
            message = f"cannot be checked: {str(err) or type(err).__name__}"
            return None, [Problem(1, 1, "error", message, "python")]
    soft = [Problem(one.lineno, 1, "warning", str(one.message), "python") for one in noted]
    return tree, soft


def _flakes(
    tree: ast.Module,
    *,
    builtins: frozenset[str],
    is_notebook: bool = False,
    used: frozenset[str] = frozenset(),
) -> list[Problem]:
    from pyflakes import checker, messages  # only needed here, and not cheap to import

    if is_notebook:
        tree = _Awaited().visit(tree)
    try:
        found = checker.Checker(tree, builtins=builtins).messages
    except RecursionError:
        return [Problem(1, 1, "warning", "too deeply nested to be checked in full", "pyflakes")]
    errors = (messages.UndefinedName, messages.UndefinedLocal, messages.DuplicateArgument)
    problems = []
    for one in sorted(found, key=lambda message: (message.lineno, message.col)):
        if is_notebook and _is_normal_in_cells(one, used=used):
            continue
        text = one.message % one.message_args
        severity = "error" if isinstance(one, errors) else "warning"
        problems.append(Problem(one.lineno, one.col + 1, severity, text, "pyflakes"))
    return problems


def _is_normal_in_cells(one: Any, *, used: frozenset[str]) -> bool:
    """Whether pyflakes complains about something that is right in a notebook."""
    name = type(one).__name__
    if name == "UndefinedName":
        return bool(_HISTORY.match(str(one.message_args[0])))
    if name == "UnusedImport":
        return any(word in used for word in re.findall(r"\w+", str(one.message_args[0])))
    return name == "RedefinedWhileUnused"


class _Awaited(ast.NodeTransformer):
    """Takes `await` away: a cell may await at its top, pyflakes would look no further there."""

    def visit_Await(self, node: ast.Await) -> ast.AST:
        return self.visit(node.value)
