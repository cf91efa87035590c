"""search_code and list_files. A notebook is searched by its cell sources, never as JSON."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated

from pydantic import Field

from ..errors import DeadlineExceeded, DocumentNotFound, ToolError
from ..protocol.base import Wire
from ..protocol.tool import ToolResult
from ..workspace.base import Documents, Entry, Workspace
from ..workspace.paths import api_path, shown
from ..workspace.search.local_search import LocalSearch
from .base import Proposal, Tool, ToolContext, done, failed, read_proposal
from .clipping import count_of
from .globs import Glob
from .matching import Matcher, matcher_for
from .notebook_filter import escaped, stored_patterns
from .search_local import LocalTree
from .search_parts import DocumentSearch, EngineMatcher, Found
from .walking import Walk

_DEADLINE_S = 20.0
_BATCH = 16
_MAX_FILE_BYTES = 1_000_000
_MAX_NAMED_BYTES = 50_000_000


class SearchCode(Wire):
    pattern: str
    regex: bool = False
    include: Annotated[str | None, Field(description='glob, e.g. "*.py"')] = None
    path: str | None = None
    outputs: Annotated[bool, Field(description="also outputs of notebooks")] = False
    max_results: Annotated[int, Field(ge=1, le=500)] = 50


class ListFiles(Wire):
    pattern: Annotated[str, Field(description='"*" and "src/*" list a folder; "**/*.py"; "*.csv"')]
    max_results: Annotated[int, Field(ge=1, le=2000)] = 200


# -- search_code ---------------------------------------------------------------------------------


async def _propose_search(ctx: ToolContext, args: SearchCode) -> Proposal:
    path = api_path(args.path, root=ctx.workspace.root) if args.path else ""
    glob = Glob(args.include) if args.include else None
    matcher = await _matcher(ctx.workspace.search, args)

    async def read() -> ToolResult:
        try:
            return await _search(ctx, args, path=path, glob=glob, matcher=matcher)
        finally:
            matcher.close()

    return read_proposal((path,), read)


async def _matcher(engine: LocalSearch | None, args: SearchCode) -> Matcher:
    """The engine of the local search where there is one and it takes the pattern, else Python's.

    Both find the same for the expressions people write; look-around and back references are only
    known to Python, which may then take too long for a pattern, and is ended.
    """
    if not args.regex or engine is None:
        return matcher_for(args.pattern, regex=args.regex)
    try:
        python = matcher_for(args.pattern, regex=True)
    except ToolError as err:
        if err.code != "invalid_input" or not args.pattern or await engine.refusal(args.pattern):
            raise
        return EngineMatcher(engine, args.pattern)
    return python if await engine.refusal(args.pattern) else EngineMatcher(engine, args.pattern)


async def _search(
    ctx: ToolContext, args: SearchCode, *, path: str, glob: Glob | None, matcher: Matcher
) -> ToolResult:
    workspace = ctx.workspace
    walk = Walk(workspace, deadline_s=min(_DEADLINE_S, ctx.settings.read_timeout_s / 2))
    found = Found(args.max_results)
    start = await workspace.documents.entry(path) if path else Entry("", "directory")
    # With ripgrep only the few files are read here that it cannot show.
    reads_all = start.type == "directory" and not (
        workspace.search is not None and _is_for_ripgrep(args, matcher)
    )
    max_bytes = _MAX_FILE_BYTES if reads_all else _MAX_NAMED_BYTES
    documents = DocumentSearch(
        workspace.documents, matcher, walk, found, outputs=args.outputs, max_bytes=max_bytes
    )
    if start.type != "directory":
        await documents.search([start])
    elif workspace.search is None:
        await _search_each(documents, walk.entries(path), glob)
    else:
        tree = LocalTree(workspace, workspace.search, path, glob)
        if _is_for_ripgrep(args, matcher):
            found.searched = None
            pattern = args.pattern if args.regex else escaped(args.pattern)
            stored = stored_patterns(args.pattern, regex=args.regex, outputs=args.outputs)
            await tree.search_all(documents, pattern, stored, args.include or "")
        else:
            paths = tree.files(timeout_s=walk.left_s)
            await _search_each(documents, _entries(workspace.documents, paths), None)
    return _search_result(args, found, walk)


def _is_for_ripgrep(args: SearchCode, matcher: Matcher) -> bool:
    return not args.regex or isinstance(matcher, EngineMatcher)


async def _search_each(
    documents: DocumentSearch, entries: AsyncIterator[Entry], glob: Glob | None
) -> None:
    """Read and search every file that `entries` names."""
    batch: list[Entry] = []
    try:
        async for entry in entries:
            if entry.type != "directory" and (glob is None or glob.matches(entry.path)):
                batch.append(entry)
            if len(batch) == _BATCH:
                await documents.search(batch)
                batch = []
            if documents.walk.cut or documents.found.is_full or documents.walk.out_of_time():
                return
    except DeadlineExceeded as err:
        documents.walk.cut = err.message
    await documents.search(batch)


async def _entries(documents: Documents, paths: AsyncIterator[str]) -> AsyncIterator[Entry]:
    async for path in paths:
        try:
            yield await documents.entry(path)
        except ToolError:
            continue  # gone since it was listed


def _search_result(args: SearchCode, found: Found, walk: Walk) -> ToolResult:
    head = f"{count_of(len(found.lines), 'match')} in {count_of(len(found.files), 'file')}"
    if found.searched is not None:
        head += f" ({count_of(found.searched, 'file')} searched)"
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
    text = "\n".join([head, *found.lines])
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
        async with aclosing(_names(ctx.workspace, walk, glob, start)) as found:
            async for name in found:
                is_cut = len(names) == args.max_results
                if is_cut:
                    break
                names.append(name)
    except DocumentNotFound as err:
        raise DocumentNotFound(f"There is no folder {shown(start)}.") from err
    except DeadlineExceeded as err:
        walk.cut = err.message
    lines = names or ["No file matches."]
    if is_cut:
        lines.append(f"[cut at {args.max_results}: narrow the pattern]")
    if walk.unusable:
        lines.append(f"[{count_of(walk.unusable, 'deceptive name')} left out]")
    if walk.cut:
        lines.append(f"[incomplete, {walk.cut}: narrow the pattern]")
    return done("\n".join(lines), count=len(names))


async def _names(workspace: Workspace, walk: Walk, glob: Glob, start: str) -> AsyncIterator[str]:
    """What matches; folders end with "/"."""
    if workspace.search is not None and not glob.lists_folder:
        await workspace.documents.entry(start)
        tree = LocalTree(workspace, workspace.search, start, glob)
        async with aclosing(tree.files(timeout_s=walk.left_s)) as paths:
            async for path in paths:
                yield path
        return
    async for entry in walk.entries(start):
        is_folder = entry.type == "directory"
        if glob.lists_folder and entry.path.count("/") > glob.depth:
            return
        if (glob.lists_folder or not is_folder) and glob.matches(entry.path):
            yield f"{entry.path}/" if is_folder else entry.path


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
