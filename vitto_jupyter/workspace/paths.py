"""API paths: the one place that decides whether a path is usable. Pure; for tools and adapters.

An API path is relative to the contents root, with "/" between the parts and no leading "/".
What is checked here is the string that is used afterwards. Links are the adapters' business:
they know the disk.
"""

from __future__ import annotations

import unicodedata

from ..errors import PathRefused

LIMIT_CHARS = 4096
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_BAD_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})


def api_path(path: str, *, root: str = "") -> str:
    """The API path that `path` means; "" is the root.

    Args:
        path: What a model or a person wrote: relative to the root, or the root's own absolute
            path followed by a relative one.
        root: The contents root as shown to people; "" when it is not known.

    Raises:
        PathRefused: absolute, climbing out with "..", or with characters that hide what it is.
    """
    _check_characters(path)
    parts = _climb(_below_root(path, root).split("/"), path)
    for part in parts:
        if part != part.rstrip():
            raise PathRefused(f"A name in {shown(path)} ends with a blank.")
    return "/".join(parts)


def check_pattern(pattern: str) -> str:
    """A glob over API paths, without a leading "./".

    Raises:
        PathRefused: it is absolute, contains "..", or hides what it is.
    """
    _check_characters(pattern)
    if pattern.startswith(("/", "~")) or ".." in pattern.split("/"):
        raise PathRefused(
            f"The pattern {shown(pattern)} leaves the contents root.",
            hint='Patterns are relative to the root, for example "src/**/*.py".',
        )
    return pattern.removeprefix("./")


def is_notebook(path: str) -> bool:
    """Whether the name says notebook, in any letter case."""
    return path.lower().endswith(".ipynb")


def name_of(path: str) -> str:
    """The last part; the root is called "the root folder"."""
    return path.rsplit("/", 1)[-1] or "the root folder"


def parent_of(path: str) -> str:
    """The folder that `path` is in; "" is the root."""
    return path.rpartition("/")[0]


def joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def shown(path: str) -> str:
    """`path` quoted for a message, with every deceptive character as an escape."""
    text = "".join(_escape(char) if _deceives(char) else char for char in path[:200])
    return f'"{text}…"' if len(path) > 200 else f'"{text}"'


def _escape(char: str) -> str:
    return f"\\u{ord(char):04x}"


def _deceives(char: str) -> bool:
    return char in _BIDI or unicodedata.category(char) in _BAD_CATEGORIES


def _check_characters(path: str) -> None:
    if len(path) > LIMIT_CHARS:
        raise PathRefused(f"The path is too long: {len(path)} characters.")
    if any(_deceives(char) for char in path):
        raise PathRefused(
            f"The path {shown(path)} contains control or direction characters.",
            hint="Use the plain name of the file.",
        )


def _below_root(path: str, root: str) -> str:
    """`path` without the root's own absolute path in front of it."""
    slashed = path.replace("\\", "/")
    base = root.replace("\\", "/").rstrip("/")
    if root and slashed == base:
        return ""
    if root and slashed.startswith(f"{base}/"):
        return slashed[len(base) + 1 :]
    if _is_absolute(path):
        raise PathRefused(
            f"{shown(path)} is outside the contents root.",
            hint="Use a path relative to the contents root.",
        )
    if "\\" in path:
        raise PathRefused(f"{shown(path)} contains a backslash.", hint='Use "/" between folders.')
    return path


def _is_absolute(path: str) -> bool:
    has_drive = len(path) > 1 and path[1] == ":" and path[0].isascii() and path[0].isalpha()
    return path.startswith(("/", "\\")) or path == "~" or path.startswith("~/") or has_drive


def _climb(parts: list[str], path: str) -> list[str]:
    """Resolve "." and ".." by name alone."""
    kept: list[str] = []
    for part in parts:
        if part in ("", "."):
            continue
        if part != "..":
            kept.append(part)
        elif kept:
            kept.pop()
        else:
            raise PathRefused(
                f"{shown(path)} is outside the contents root.",
                hint="Use a path relative to the contents root.",
            )
    return kept
