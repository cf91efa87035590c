"""How the demo finds fixes: fixed rules over a traceback and the notebook's sources. Pure.

No language model and no claim to be one: misspelled names, columns, attributes and modules that
are close to something that the notebook itself uses.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

_PATTERNS = (
    ("name", re.compile(r"NameError: name '([^']+)' is not defined")),
    ("attribute", re.compile(r"AttributeError: .* has no attribute '([^']+)'")),
    ("key", re.compile(r"KeyError: [\"']([^\"']+)[\"']")),
    ("key", re.compile(r"KeyError: [\"']Column not found: ([^\"']+)[\"']")),
    ("module", re.compile(r"ModuleNotFoundError: No module named '([^']+)'")),
)
_SUGGESTED = re.compile(r"Did you mean: '([^']+)'")
_USUAL_MODULES = ("numpy", "pandas", "matplotlib", "seaborn", "scipy", "sklearn", "json", "math")


@dataclass(frozen=True, slots=True)
class Fix:
    """Replace `before` by `after` in the failing cell; `why` is one sentence."""

    before: str
    after: str
    why: str


def find_fix(error: str, source: str, sources: Sequence[str]) -> Fix | None:
    """The fix for `error` (a traceback's text) in `source`, or None when no rule fits.

    `sources` are all code cells of the notebook; what they use is what a misspelling may mean.
    """
    for kind, pattern in _PATTERNS:
        found = pattern.search(error)
        if found is None:
            continue
        wrong = found[1]
        suggested = _SUGGESTED.search(error)
        right = suggested[1] if suggested else _closest(wrong, _candidates(kind, sources))
        if right is None or right == wrong or wrong not in source:
            return None
        return Fix(before=wrong, after=right, why=_why(kind, wrong, right))
    return None


def unique_span(source: str, wrong: str) -> tuple[str, bool]:
    """A span around the first `wrong` that occurs once in `source`: its line when needed.

    Returns the span and whether it is unique.
    """
    if source.count(wrong) == 1:
        return wrong, True
    line = next((line for line in source.split("\n") if wrong in line), wrong)
    return line, source.count(line) == 1


def frame_names(sources: Sequence[str]) -> tuple[str, ...]:
    """Names that the sources assign a DataFrame to, by how it is made; in order."""
    made = re.compile(r"^(\w+)\s*=\s*(?:pd|pandas|pl|polars)\.(?:DataFrame|read_\w+)\b", re.M)
    return tuple(dict.fromkeys(name for source in sources for name in made.findall(source)))


def _closest(wrong: str, candidates: Sequence[str]) -> str | None:
    close = difflib.get_close_matches(wrong, [c for c in candidates if c != wrong], 1, 0.6)
    return close[0] if close else None


def _candidates(kind: str, sources: Sequence[str]) -> list[str]:
    if kind == "module":
        return list(_USUAL_MODULES)
    names: list[str] = []
    strings: list[str] = []
    attributes: list[str] = []
    for source in sources:
        tree = _parse(source)
        for node in ast.walk(tree) if tree else ():
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.append(node.id)
            elif isinstance(node, ast.alias):
                names.append((node.asname or node.name).split(".")[0])
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.append(node.name)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                strings.append(node.value)
            elif isinstance(node, ast.Attribute):
                attributes.append(node.attr)
    if kind == "name":
        return names + [name for name in dir(builtins) if not name.startswith("_")]
    return strings if kind == "key" else attributes + strings


def _parse(source: str) -> ast.Module | None:
    plain = "\n".join(
        "pass" if line.lstrip().startswith(("%", "!", "?")) else line for line in source.split("\n")
    )
    try:
        return ast.parse(plain)
    except SyntaxError:
        return None


def _why(kind: str, wrong: str, right: str) -> str:
    things = {
        "name": "The name",
        "attribute": "The attribute",
        "key": "The key",
        "module": "The module",
    }
    return f"{things[kind]} `{wrong}` is not there; `{right}` is, and is spelled almost the same."
