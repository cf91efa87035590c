"""What both ways of searching share: what was found, and the search of whole documents."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..errors import DeadlineExceeded, ToolError
from ..workspace.base import Cell, Documents, Entry
from ..workspace.paths import is_notebook
from ..workspace.plain_text import clip_line, plain
from ..workspace.search.local_search import LocalSearch
from .matching import MAX_LINE_CHARS, Matcher
from .secrets import holds_secrets
from .targets import cell_name
from .walking import Walk

_MATCH_S = 3.0
_SHOWN_CHARS = 240
BINARY = tuple(
    ".7z .a .avi .bin .bmp .bz2 .class .dll .doc .docx .exe .feather .gif .gz .h5 .hdf5 .ico "
    ".jar .jpeg .jpg .joblib .mov .mp3 .mp4 .npy .npz .o .onnx .otf .parquet .pdf .pickle .pkl "
    ".png .pt .pth .pyc .safetensors .so .sqlite .tar .tif .tiff .ttf .wav .webp .whl .woff "
    ".woff2 .xls .xlsx .xz .zip .zst".split()
)


@dataclass(slots=True)
class Found:
    """What a search has so far. `lines` are ready for the result; `files` are their paths.

    `searched` None: files were searched that nobody counts.
    """

    limit: int
    lines: list[str] = field(default_factory=list)
    files: set[str] = field(default_factory=set)
    searched: int | None = 0
    skipped: int = 0
    long_lines: int = 0

    @property
    def left(self) -> int:
        return self.limit - len(self.lines)

    @property
    def is_full(self) -> bool:
        return self.left <= 0

    def add(self, path: str, place: str, line: str) -> None:
        self.files.add(path)
        self.lines.append(f"{place}: {clip_line(line.strip(), _SHOWN_CHARS)}")


class EngineMatcher:
    """Matcher with the engine of the local search: the same one for files and for documents."""

    def __init__(self, engine: LocalSearch, pattern: str) -> None:
        self._engine = engine
        self._pattern = pattern

    async def lines(self, texts: Sequence[str], *, timeout_s: float) -> list[list[int]]:
        try:
            return await self._engine.lines_of(texts, self._pattern, timeout_s=timeout_s)
        except DeadlineExceeded:
            return []

    def close(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class DocumentSearch:
    """Searches documents by reading them, notebooks by their cells. `max_bytes` is for files."""

    documents: Documents
    matcher: Matcher
    walk: Walk
    found: Found
    outputs: bool
    max_bytes: int

    async def search(self, batch: Sequence[Entry]) -> None:
        """Several documents at once: reading one is mostly waiting."""
        if not batch or self.walk.cut or self.walk.out_of_time():
            return
        try:
            async with asyncio.timeout(self.walk.left_s):
                read = await asyncio.gather(*(self._places(entry) for entry in batch))
        except TimeoutError:
            self.walk.cut = f"reading took too long at {batch[0].path}"
            return
        texts = [text for places in read for _, text in places or ()]
        timeout_s = min(self.walk.left_s, _MATCH_S)
        left = iter(await self.matcher.lines(texts, timeout_s=timeout_s))
        for entry, places in zip(batch, read, strict=True):
            if not self._take(entry.path, places, left):
                return

    def _take(
        self, path: str, places: list[tuple[str, str]] | None, answers: Iterator[list[int]]
    ) -> bool:
        """Add what was found in a document; False when matching did not get that far."""
        if places is None:
            self.found.skipped += 1
            return True
        for place, text in places:
            numbers = next(answers, None)
            if numbers is None:
                self.walk.cut = f"gave up in {path}: matching took too long"
                return False
            self._add(path, place, text, numbers)
        if self.found.searched is not None:
            self.found.searched += 1
        return True

    def _add(self, path: str, place: str, text: str, numbers: list[int]) -> None:
        lines = text.split("\n")
        self.found.long_lines += sum(1 for line in lines if len(line) > MAX_LINE_CHARS)
        for number in numbers[: self.found.left]:
            self.found.add(path, f"{place}{number + 1}", lines[number])

    async def _places(self, entry: Entry) -> list[tuple[str, str]] | None:
        """What to search, as pairs of where it is and its text; None to leave it out."""
        is_large = not is_notebook(entry.path) and (entry.size or 0) > self.max_bytes
        if is_large or entry.path.lower().endswith(BINARY):
            return None
        try:
            if await holds_secrets(self.documents, entry.path):
                return None
            if not is_notebook(entry.path):
                return [(f"{entry.path}:", (await self.documents.read_text(entry.path)).text)]
            notebook = await self.documents.read_notebook(entry.path)
        except ToolError:
            return None  # binary, unreadable, or gone since it was listed
        return [
            (f"{entry.path} {place} line ", text)
            for cell in notebook.cells
            for place, text in _texts_of(cell, outputs=self.outputs)
        ]


def _texts_of(cell: Cell, *, outputs: bool) -> Iterator[tuple[str, str]]:
    yield cell_name(cell), cell.source
    if outputs:
        for number, output in enumerate(cell.outputs, 1):
            text = _output_text(output)
            if text:
                yield f"{cell_name(cell)} output {number}", plain(text)


def _output_text(output: dict[str, object]) -> str:
    """What a person reads in an output; "" when it is nothing to read."""
    match output.get("output_type"):
        case "stream":
            return _joined(output.get("text"))
        case "error":
            lines = output.get("traceback") or [f"{output.get('ename')}: {output.get('evalue')}"]
            return lines if isinstance(lines, str) else "\n".join(map(str, lines))  # type: ignore[arg-type]
        case _:
            data = output.get("data")
            texts = data if isinstance(data, dict) else {}
            return _joined(texts.get("text/plain") or texts.get("text/markdown"))


def _joined(text: object) -> str:
    """A text, also when it is stored as a list of lines."""
    if isinstance(text, list):
        return "".join(map(str, text))
    return text if isinstance(text, str) else ""
