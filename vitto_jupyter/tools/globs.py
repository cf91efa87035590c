"""Globs over API paths, and .gitignore rules. Pure. No pattern can make matching hang."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pathspec import GitIgnoreSpec

from ..errors import ToolError
from ..workspace.paths import check_pattern

_MAX_ALTERNATIVES = 64
_MAX_STARS = 3
_BRACES = re.compile(r"\{([^{}]*)\}")


class Glob:
    """`*` and `?` within a name, `**` across folders, `{a,b}`; a pattern without "/" is a name.

    fnmatch compiles to patterns that do not backtrack, and folders are matched by hand.
    """

    def __init__(self, pattern: str) -> None:
        checked = check_pattern(pattern.strip())
        if not checked:
            raise ToolError("The pattern is empty.", hint='For example "**/*.py".')
        self.lists_folder = checked.rsplit("/", 1)[-1] == "*" and "**" not in checked
        self.depth = checked.count("/")
        self._alternatives = [_parts(one) for one in _expanded(checked)]
        if self.lists_folder:
            self._alternatives = [one.split("/") for one in _expanded(checked)]

    def matches(self, path: str) -> bool:
        parts = path.split("/")
        return any(_match(pattern, parts) for pattern in self._alternatives)


def _parts(pattern: str) -> list[str]:
    """The names of a pattern; a folder stands for all that is in it."""
    if pattern.endswith("/"):
        pattern += "**"
    if "/" not in pattern:
        return ["**", pattern]
    return pattern.split("/")


def _expanded(pattern: str) -> list[str]:
    """The pattern without braces, one for each alternative."""
    done, todo = [], [pattern]
    while todo:
        one = todo.pop(0)
        braces = _BRACES.search(one)
        if braces is None:
            done.append(one)
        else:
            heads, tails = one[: braces.start()], one[braces.end() :]
            todo += [f"{heads}{choice}{tails}" for choice in braces[1].split(",")]
        if len(done) + len(todo) > _MAX_ALTERNATIVES:
            raise ToolError("The pattern has too many alternatives in braces.")
    return done


def _match(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether the names match, where "**" stands for any number of them.

    On a mismatch only the last "**" is widened: earlier ones cannot help.
    """
    at = seen = 0
    star, resume = -1, 0
    while seen < len(parts):
        if at < len(pattern) and pattern[at] == "**":
            star, resume = at, seen
            at += 1
        elif at < len(pattern) and fnmatchcase(parts[seen], pattern[at]):
            at, seen = at + 1, seen + 1
        elif star >= 0:
            resume += 1
            at, seen = star + 1, resume
        else:
            return False
    return all(name == "**" for name in pattern[at:])


# -- .gitignore ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules of one folder's .gitignore."""

    folder: str
    spec: GitIgnoreSpec

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """True ignored, False taken back with "!", None not mentioned."""
        relative = path[len(self.folder) + 1 :] if self.folder else path
        return self.spec.check_file(f"{relative}/" if is_folder else relative).include


def ignore_rules(folder: str, text: str) -> IgnoreRules | None:
    """The rules in `text`, the .gitignore of `folder`; None when there are none.

    A line with many wildcards in one name is left out: the workspace wrote it, and a regular
    expression made from it could take for ever.
    """
    lines = [line for line in text.split("\n") if _is_cheap(line)]
    spec = GitIgnoreSpec.from_lines(lines)
    return IgnoreRules(folder, spec) if len(spec.patterns) else None


def _is_cheap(line: str) -> bool:
    if len(line) > 500 or line.count("**") > _MAX_STARS:
        return False
    return all(name.count("*") <= _MAX_STARS for name in line.split("/"))


def is_ignored(rules: Sequence[IgnoreRules], path: str, *, is_folder: bool) -> bool:
    """Whether `path` is ignored; rules deeper in the tree have the last word."""
    ignored = False
    for one in rules:
        verdict = one.verdict(path, is_folder=is_folder)
        ignored = ignored if verdict is None else verdict
    return ignored
