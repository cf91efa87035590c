"""LocalSearch with ripgrep, for a contents manager whose root is a local folder."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from jupyter_server.services.contents.fileio import FileManagerMixin
from jupyter_server.services.contents.manager import ContentsManager

from ...errors import PathRefused
from ..paths import api_path, joined
from .local_search import Line
from .ripgrep import Ripgrep, find_ripgrep

_IGNORED = (
    "--no-require-git", "--no-ignore-dot", "--no-ignore-exclude", "--no-ignore-global",
    "--no-ignore-parent", "--glob=!__pycache__", "--glob=!node_modules", "--max-depth=33",
)  # fmt: skip
_ORDERED = ("--sort=path", "--path-separator=/")
_NOTEBOOK = "*.[iI][pP][yY][nN][bB]"
_PATH_BYTES = 16_384
_PLAIN_PATH = re.compile(r"\w[\w.-]*(/\w[\w.-]*)*", re.ASCII)  # most are: quickly seen to be good
_RECORD_BYTES = 256_000
_AROUND_CHARS = 200
_COUNTED_BYTES = 16_000_000
# A match of this marks a file whose text is not its bytes.
_NOT_UTF_8 = (
    r"[\xC0-\xFF](?:[\x00-\x7F\xC0-\xFF]|$)",
    r"(?:^|[\x00-\x7F])[\x80-\xBF]",
    r"[\xC0-\xDF][\x80-\xBF]{2}",
    r"[\xE0-\xEF][\x80-\xBF](?:[\x00-\x7F\xC0-\xFF]|$)|[\xE0-\xEF][\x80-\xBF]{3}",
    r"[\xF0-\xFF][\x80-\xBF]{1,2}(?:[\x00-\x7F\xC0-\xFF]|$)|[\xF0-\xFF][\x80-\xBF]{4}",
    r"[\xC0\xC1\xF5-\xFF]|\xE0[\x80-\x9F]|\xED[\xA0-\xBF]|\xF0[\x80-\x8F]|\xF4[\x90-\xBF]",
)
_NOT_PLAIN = f"(?-u:{'|'.join(_NOT_UTF_8)})"


def local_search(manager: ContentsManager, *, private: Path) -> RipgrepSearch | None:
    """The search for this server; None when the root is not local or ripgrep is missing.

    `private` is a folder whose files are nobody's to search, as Vitto's own records.
    """
    program = find_ripgrep()
    if program is None or not isinstance(manager, FileManagerMixin):
        return None
    root = os.path.realpath(manager.root_dir)
    own = os.path.relpath(os.path.realpath(private), root).replace(os.sep, "/")

    @lru_cache(maxsize=4_096)
    def shows_folder(path: str) -> bool:
        return not path or (path != own and shows(path))

    def shows(path: str) -> bool:
        folder, _, name = path.rpartition("/")
        return manager.should_list(name) and shows_folder(folder)

    return RipgrepSearch(Ripgrep(program), root=root, shows=shows)


class RipgrepSearch:
    """The LocalSearch port. `shows` says whether a path is one that is served."""

    def __init__(self, ripgrep: Ripgrep, *, root: str, shows: Callable[[str], bool]) -> None:
        self._ripgrep = ripgrep
        self._root = root
        self._shows = shows

    async def refusal(self, pattern: str) -> str:
        return await self._ripgrep.refusal(pattern)

    async def lines_of(
        self, texts: Sequence[str], pattern: str, *, timeout_s: float
    ) -> list[list[int]]:
        return await self._ripgrep.lines_of(texts, (pattern,), timeout_s=timeout_s)

    async def files(self, start: str, *, timeout_s: float) -> AsyncIterator[str]:
        async with aclosing(self._paths(["--files"], start, timeout_s)) as paths:
            async for path in paths:
                yield path

    async def links(self, folders: Collection[str]) -> list[str]:
        found = await asyncio.to_thread(lambda: list(_links(self._root, folders)))
        return [path for path in found if self._is_served(path)]

    async def notebooks(
        self, start: str, patterns: Sequence[str], *, timeout_s: float
    ) -> AsyncIterator[str]:
        # As text: whatever its bytes are, a notebook must not be taken for a binary file.
        how = ["--files-with-matches", "--text"] if patterns else ["--files"]
        how += [f"--type-add=vitto:{_NOTEBOOK}", "--type=vitto", *_regexps(patterns)]
        async with aclosing(self._paths(how, start, timeout_s)) as paths:
            async for path in paths:
                yield path

    async def lines(
        self, start: str, pattern: str, *, only: str, most: int, timeout_s: float
    ) -> AsyncIterator[Line]:
        how = [*_IGNORED, *_ORDERED, "--json", f"--max-count={most}", f"--glob=!{_NOTEBOOK}"]
        if only:
            how += [f"--type-add=vitto:{only}", "--type=vitto"]
        how += [*_regexps((pattern, _NOT_PLAIN)), "--", _argument(start)]
        last, is_odd = "", False
        found = self._ripgrep.records(
            how, folder=self._root, timeout_s=timeout_s, end=b"\n", limit=_RECORD_BYTES
        )
        async with aclosing(found) as records:
            async for record in records:
                line = _line_of(record)
                if line is None or not self._is_served(line.path):
                    continue
                if line.path != last:
                    last = line.path
                    is_odd = await asyncio.to_thread(_has_lone_cr, os.path.join(self._root, last))
                elif is_odd:
                    continue
                is_odd = is_odd or line.text is None
                yield replace(line, text=None) if is_odd else line

    async def _paths(self, how: Sequence[str], start: str, timeout_s: float) -> AsyncIterator[str]:
        found = self._ripgrep.records(
            [*_IGNORED, *_ORDERED, "--null", *how, "--", _argument(start)],
            folder=self._root,
            timeout_s=timeout_s,
            end=b"\0",
            limit=_PATH_BYTES,
        )
        async with aclosing(found) as records:
            async for record in records:
                path = _path_of(record)
                if self._is_served(path):
                    yield path

    def _is_served(self, path: str) -> bool:
        """Names that hide what they are could forge a line of a result."""
        if _PLAIN_PATH.fullmatch(path):
            return self._shows(path)
        try:
            return bool(path) and api_path(path) == path and self._shows(path)
        except PathRefused:
            return False


def _argument(start: str) -> str:
    """With "./" in front no name looks like an option."""
    return f"./{start}"


def _regexps(patterns: Sequence[str]) -> Iterator[str]:
    for pattern in patterns:
        yield from ("--regexp", pattern)


def _path_of(raw: bytes) -> str:
    """The API path; "" for a name that is no text."""
    try:
        return raw.decode("utf-8").removeprefix("./")
    except UnicodeDecodeError:
        return ""


def _line_of(record: bytes) -> Line | None:
    """The matching line of a record; None for a record of another kind."""
    if not record.startswith(b'{"type":"match"'):
        return None
    try:
        found: dict[str, Any] = json.loads(record)["data"]
    except ValueError:  # a very long line, cut: its path comes first
        rest = record.partition(b'"path":')[2].decode("utf-8", "ignore")
        path, _ = json.JSONDecoder().raw_decode(rest)
        return Line(_path_of(_raw(path)), 0, None)
    path = _path_of(_raw(found["path"]))
    text = found["lines"].get("text")
    if text is None:
        return Line(path, found["line_number"], None)
    return Line(path, found["line_number"], _around(text.rstrip("\r\n"), found["submatches"]))


def _links(root: str, folders: Collection[str]) -> Iterator[str]:
    for folder in sorted(folders):
        try:
            with os.scandir(os.path.join(root, folder)) as names:
                found = [name.name for name in names if name.is_symlink()]
        except OSError:
            continue  # gone meanwhile
        yield from (joined(folder, name) for name in found if not name.startswith("."))


def _has_lone_cr(os_path: str) -> bool:
    """Whether the lines are ended by "\r" somewhere, which ripgrep does not count."""
    try:
        if os.path.getsize(os_path) > _COUNTED_BYTES:
            return False
        content = Path(os_path).read_bytes()
    except OSError:
        return False  # gone meanwhile
    return content.count(b"\r") > content.count(b"\r\n")


def _raw(value: dict[str, str]) -> bytes:
    """A text as ripgrep tells it: base64 where it is not UTF-8."""
    return value["text"].encode() if "text" in value else base64.b64decode(value["bytes"])


def _around(text: str, places: Sequence[dict[str, Any]]) -> str:
    """The line, or what is around its first match when it is long."""
    first = places[0]["start"] if places else 0
    before = len(text.encode()[:first].decode("utf-8", "ignore"))
    if len(text) <= _AROUND_CHARS or before < _AROUND_CHARS // 2:
        return text
    return "…" + text[before - _AROUND_CHARS // 4 :]
