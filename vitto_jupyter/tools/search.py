"""search_code and list_files. A notebook is searched by its cell sources, never as JSON."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from ..errors import DocumentNotFound, ToolError
from ..protocol.base import Wire
from ..protocol.tool import ToolResult
from ..workspace.base import Documents, Entry
from ..workspace.paths import api_path, shown
from .base import Proposal, Tool, ToolContext, done, failed, read_proposal
from .clipping import clip_line, count_of
from .globs import Glob
from .matching import MAX_LINE_CHARS, Matcher, matcher_for
from .secrets import holds_secrets
from .targets import cell_name
from .walking import Walk

_DEADLINE_S = 20.0
_MATCH_S = 3.0
_BATCH = 16
_MAX_FILE_BYTES = 1_000_000
_SHOWN_CHARS = 240
_BINARY = tuple(
    ".7z .a .avi .bin .bmp .bz2 .class .dll .doc .docx .exe .feather .gif .gz .h5 .hdf5 .ico "
    ".jar .jpeg .jpg .joblib .mov .mp3 .mp4 .npy .npz .o .onnx .otf .parquet .pdf .pickle .pkl "
    ".png .pt .pth .pyc .safetensors .so .sqlite .tar .tif .tiff .ttf .wav .webp .whl .woff "
    ".woff2 .xls .xlsx .xz .zip .zst".split()
)


class SearchCode(Wire):
    pattern: str
    regex: bool = False
    include: Annotated[str | None, Field(description='glob, e.g. "*.py"')] = None
    path: str | None = None
    max_results: Annotated[int, Field(ge=1, le=500)] = 50


class ListFiles(Wire):
    pattern: Annotated[str, Field(description='"*" and "src/*" list a folder; "**/*.py"; "*.csv"')]
    max_results: Annotated[int, Field(ge=1, le=2000)] = 200


# -- search_code ---------------------------------------------------------------------------------


@dataclass(slots=True)
class _Found:
    """What a search has so far. `lines` are ready for the result."""

    limit: int
    lines: list[str] = field(default_factory=list)
    files: int = 0
    searched: int = 0
    skipped: int = 0
    long_lines: int = 0

    @property
    def is_full(self) -> bool:
        return len(self.lines) >= self.limit


async def _propose_search(ctx: ToolContext, args: SearchCode) -> Proposal:
    path = api_path(args.path, root=ctx.workspace.root) if args.path else ""
    glob = Glob(args.include) if args.include else None
    matcher = matcher_for(args.pattern, regex=args.regex)

    async def read() -> ToolResult:
        try:
            return await _search(ctx, args, path=path, glob=glob, matcher=matcher)
        finally:
            matcher.close()

    return read_proposal((path,), read)


async def _search(
    ctx: ToolContext, args: SearchCode, *, path: str, glob: Glob | None, matcher: Matcher
) -> ToolResult:
    deadline_s = min(_DEADLINE_S, ctx.settings.read_timeout_s / 2)
    walk = Walk(ctx.workspace, deadline_s=deadline_s)
    found = _Found(args.max_results)
    batch: list[Entry] = []
    async for entry in _candidates(ctx.workspace.documents, walk, path):
        if glob is None or glob.matches(entry.path):
            batch.append(entry)
        if len(batch) == _BATCH:
            await _search_batch(ctx.workspace.documents, batch, walk, matcher, found)
            batch = []
        if walk.cut or found.is_full or walk.out_of_time():
            break
    if batch and not walk.cut:
        await _search_batch(ctx.workspace.documents, batch, walk, matcher, found)
    return _search_result(args, found, walk)


async def _candidates(documents: Documents, walk: Walk, path: str) -> AsyncIterator[Entry]:
    """The files to search: below a folder, or the one file that was named."""
    start = await documents.entry(path) if path else None
    if start is not None and start.type != "directory":
        yield start
        return
    async for entry in walk.entries(path):
        if entry.type != "directory":
            yield entry


async def _search_batch(
    documents: Documents, batch: list[Entry], walk: Walk, matcher: Matcher, found: _Found
) -> None:
    """Several documents at once: reading one is mostly waiting."""
    read = await asyncio.gather(*(_places(documents, entry) for entry in batch))
    texts = [text for places in read for _, text in places or ()]
    answers = await matcher.lines(texts, timeout_s=min(walk.left_s, _MATCH_S))
    left = iter(answers)
    for entry, places in zip(batch, read, strict=True):
        if places is None:
            found.skipped += 1
            continue
        before = len(found.lines)
        for place, text in places:
            numbers = next(left, None)
            if numbers is None:
                walk.cut = f"gave up in {entry.path}: matching took too long"
                return
            _add(found, place, text, numbers)
        found.searched += 1
        found.files += len(found.lines) > before


async def _places(documents: Documents, entry: Entry) -> list[tuple[str, str]] | None:
    """What to search in a document, as pairs of where it is and its text; None to leave it out."""
    is_large = entry.type == "file" and (entry.size or 0) > _MAX_FILE_BYTES
    if is_large or entry.path.lower().endswith(_BINARY):
        return None
    try:
        if await holds_secrets(documents, entry.path):
            return None
        if entry.type != "notebook":
            return [(f"{entry.path}:", (await documents.read_text(entry.path)).text)]
        notebook = await documents.read_notebook(entry.path)
    except ToolError:
        return None  # binary, unreadable, or gone since it was listed
    return [(f"{entry.path} {cell_name(cell)} line ", cell.source) for cell in notebook.cells]


def _add(found: _Found, place: str, text: str, numbers: list[int]) -> None:
    lines = text.split("\n")
    found.long_lines += sum(1 for line in lines if len(line) > MAX_LINE_CHARS)
    for number in numbers:
        if found.is_full:
            return
        line = clip_line(lines[number].strip(), _SHOWN_CHARS)
        found.lines.append(f"{place}{number + 1}: {line}")


def _search_result(args: SearchCode, found: _Found, walk: Walk) -> ToolResult:
    head = f"{count_of(len(found.lines), 'match')} in {count_of(found.files, 'file')}"
    notes = []
    if found.is_full:
        notes.append(f"cut at {found.limit} matches, there may be more: narrow it with path")
    if walk.cut:
        notes.append(f"incomplete, {walk.cut}: narrow it with path or include")
    if walk.unusable:
        notes.append(f"{count_of(walk.unusable, 'deceptive name')} left out")
    if found.skipped:
        notes.append(f"{count_of(found.skipped, 'large, binary or secret file')} not searched")
    if args.regex and found.long_lines:
        notes.append(f"{count_of(found.long_lines, 'over-long line')} not searched")
    text = "\n".join([f"{head} ({count_of(found.searched, 'file')} searched)", *found.lines])
    if notes:
        text += f"\n[{'; '.join(notes)}]"
    if walk.cut and not found.lines:
        return failed(f"Nothing found, but the search is {notes[0]}.", output=text, count=0)
    return done(text, count=len(found.lines))


# -- list_files ----------------------------------------------------------------------------------


async def _propose_list(ctx: ToolContext, args: ListFiles) -> Proposal:
    root = ctx.workspace.root.rstrip("/")
    pattern = args.pattern.removeprefix(f"{root}/") if root else args.pattern
    glob = Glob(pattern)
    return read_proposal((), lambda: _list(ctx, args, glob, _fixed_folder(pattern)))


def _fixed_folder(pattern: str) -> str:
    """The folder before the first wildcard: only what is below it can match."""
    fixed = []
    for name in pattern.removeprefix("./").split("/")[:-1]:
        if any(char in name for char in "*?[{"):
            break
        fixed.append(name)
    return api_path("/".join(fixed))


async def _list(ctx: ToolContext, args: ListFiles, glob: Glob, start: str) -> ToolResult:
    walk = Walk(ctx.workspace, deadline_s=min(10.0, ctx.settings.read_timeout_s / 2))
    names: list[str] = []
    is_cut = False
    try:
        async for entry in walk.entries(start):
            if glob.lists_folder and entry.path.count("/") > args.pattern.count("/"):
                break
            is_folder = entry.type == "directory"
            if (is_folder and not glob.lists_folder) or not glob.matches(entry.path):
                continue
            if len(names) == args.max_results:
                is_cut = True
                break
            names.append(f"{entry.path}/" if is_folder else entry.path)
    except DocumentNotFound as err:
        raise DocumentNotFound(f"There is no folder {shown(start)}.") from err
    lines = names or ["No file matches."]
    if is_cut:
        lines.append(f"[cut at {args.max_results}: narrow the pattern]")
    if walk.unusable:
        lines.append(f"[{count_of(walk.unusable, 'deceptive name')} left out]")
    if walk.cut:
        lines.append(f"[incomplete, {walk.cut}: narrow the pattern]")
    return done("\n".join(lines), count=len(names))


SEARCH_CODE = Tool(
    name="search_code",
    description="Search files and notebook cells below path, line by line; literal unless regex. "
    "Leaves out hidden, ignored and binary files.",
    effect="read",
    input_model=SearchCode,
    propose=_propose_search,
)
LIST_FILES = Tool(
    name="list_files",
    description="List files by glob; a pattern without / is a name at any depth. Leaves out "
    "hidden and ignored ones.",
    effect="read",
    input_model=ListFiles,
    propose=_propose_list,
)
