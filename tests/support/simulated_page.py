"""A page that holds documents, as the server sees it: registers, fetches calls, acts, answers.

Written from the host methods alone, without our code for edits, so that it can be wrong on its
own. What it holds lives here; `save` writes it through `store`, `load` reads the file.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Literal, TypeVar

from vitto_jupyter.errors import NotFound
from vitto_jupyter.protocol.base import CallId, HostId
from vitto_jupyter.protocol.requests import HeldDocument, HostAnswer, HostCall, RegisterHost
from vitto_jupyter.services.hosts import Hosts
from vitto_jupyter.workspace.notebooks.output_cut import OutputCutter, output_part

T = TypeVar("T")
Store = Callable[[str, Any], Awaitable[None]]
Load = Callable[[str], Awaitable[Any]]
# of a call: it never reaches the page's hands, or its answer never reaches the server
Loss = Literal["call", "answer"]


class PageError(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def revision(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class SimulatedPage:
    """`texts` and `notebooks` (lists of cells) are what is open.

    `hears` False: wake-ups do not arrive. `answers` False: it acts and never says so. `losses`
    says what is lost of the next calls by method; then calls go well again.
    """

    def __init__(
        self,
        host_id: str = "page",
        *,
        store: Store | None = None,
        load: Load | None = None,
        pace_s: float = 0.0,
    ) -> None:
        self.host_id = HostId(host_id)
        self.texts: dict[str, str] = {}
        self.notebooks: dict[str, list[dict[str, Any]]] = {}
        self.kernel: dict[str, str] = {"kernel_name": "python3", "language": "python"}
        self.dirty: set[str] = set()
        self.active: str | None = None
        self.hears = True
        self.answers = True
        self.losses: dict[str, list[Loss]] = {}
        self.running: set[str] = set()
        self.calls: list[HostCall] = []
        self._store = store
        self._load = load
        # what was last loaded or saved, to merge with
        self.on_disk: dict[str, Any] = {}
        # conflicting versions that the user is shown
        self.notices: list[str] = []
        self.delay_s = 0.0
        self.gone = False
        self._pace_s = pace_s
        self._registering: asyncio.TimerHandle | None = None
        self._awake = asyncio.Event()
        self._awake.set()
        self._in_order = asyncio.Lock()
        self._answers: dict[str, asyncio.Task[HostAnswer]] = {}
        self._hosts: Hosts | None = None
        self._told: tuple[HeldDocument, ...] = ()
        self._tasks: set[asyncio.Task[None]] = set()

    # -- the page's own life ---------------------------------------------------------------------

    def connect(self, hosts: Hosts) -> None:
        self._hosts = hosts
        self.register()

    def register(self) -> None:
        assert self._hosts is not None
        documents = [
            HeldDocument(
                path=path,
                type=kind,
                dirty=path in self.dirty,
                active=path == self.active,
                revision=self._revision(path),
            )
            for kind, held in (("file", self.texts), ("notebook", self.notebooks))
            for path in held
        ]
        self._told = tuple(documents)
        self._hosts.register(self.host_id, RegisterHost(documents=self._told))

    def told_dirty(self, path: str) -> bool:
        """Whether the server was told last that the document has unsaved changes."""
        return any(document.path == path and document.dirty for document in self._told)

    def _revision(self, path: str) -> str:
        if path in self.texts:
            return revision(self.texts[path])
        parts = (f"{c['cell_id']}\n{c['cell_type']}\n{c['source']}\0" for c in self.notebooks[path])
        return revision("".join(parts))

    def close(self) -> None:
        assert self._hosts is not None
        self._hosts.register(self.host_id, RegisterHost(documents=(), closing=True))
        self.crash()

    def crash(self) -> None:
        """It is gone, and says nothing any more."""
        self.gone = True
        self.hears = False
        for task in self._tasks:
            task.cancel()

    def sleep(self) -> None:
        """Nothing reaches it, and what it was about to do waits; its user may go on typing."""
        self.hears = False
        self._awake.clear()

    async def wake_up(self) -> None:
        """It looks at the files of what it holds, and says what it holds."""
        self.hears = True
        self._awake.set()
        for path in (*self.texts, *self.notebooks):
            await self.look_on_disk(path)
        self.register()

    def _register_soon(self) -> None:
        """Changes of a moment are told together; a page that is asleep tells nothing."""
        if self._pace_s == 0:
            self._register_now()
        elif self._registering is None:
            loop = asyncio.get_running_loop()
            self._registering = loop.call_later(self._pace_s, self._register_now)

    def _register_now(self) -> None:
        self._registering = None
        if not self.gone and self._awake.is_set():
            self.register()

    def wake(self, host_id: HostId) -> None:
        """The event bus reaches every page; each looks at the id."""
        if host_id == self.host_id and self.hears:
            self._fetch()

    def _start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def cell(self, path: str, cell_id: str) -> dict[str, Any]:
        return next(cell for cell in self.notebooks[path] if cell["cell_id"] == cell_id)

    def _fetch(self) -> None:
        assert self._hosts is not None
        try:
            waiting = self._hosts.calls(self.host_id).calls
        except NotFound:
            self.register()
            return
        for call in waiting:
            lost = self.losses.get(call.method)
            loss = lost.pop(0) if lost else None
            if loss == "call":
                continue
            self.calls.append(call)
            if call.call_id not in self._answers:
                self._answers[call.call_id] = self._start(self._answer(call))
            if loss is None:
                self._start(self._send(call, self._answers[call.call_id]))

    async def _send(self, call: HostCall, answer: asyncio.Task[HostAnswer]) -> None:
        assert self._hosts is not None
        body = await answer
        if self.answers and self._awake.is_set():
            self._hosts.answer(self.host_id, CallId(call.call_id), body)

    async def _answer(self, call: HostCall) -> HostAnswer:
        """Calls are done once, one after the other, in the order they came."""
        act = getattr(self, f"_{call.method}")
        async with self._in_order:
            await asyncio.sleep(self.delay_s)
            await self._awake.wait()
            try:
                return HostAnswer(value=await act(**call.params))
            except PageError as err:
                return HostAnswer(error_code=err.code, error=str(err))

    # -- host methods ----------------------------------------------------------------------------

    async def _read_text(self, path: str) -> dict[str, Any]:
        if path not in self.texts:
            raise PageError("not_found", "not open here")
        return {"text": self.texts[path], "dirty": path in self.dirty}

    async def _write_text(self, path: str, base: str, text: str) -> dict[str, Any]:
        if revision(self.texts[path]) != base:
            raise PageError("edit_conflict", "the user has typed")
        self.texts[path] = text
        if path not in self.dirty:
            self.dirty.add(path)
            await self._save(path)
        return {"text": text, "dirty": path in self.dirty}

    async def _read_notebook(self, path: str) -> dict[str, Any]:
        if path not in self.notebooks:
            raise PageError("not_found", "not open here")
        cutter = OutputCutter()
        cells = [
            {**cell, "outputs": [cutter.cut(output) for output in cell["outputs"]]}
            if "outputs" in cell
            else cell
            for cell in self.notebooks[path]
        ]
        return {"cells": cells, **self.kernel, "dirty": path in self.dirty}

    async def _output_part(
        self, path: str, cell_id: str, index: int, field: str, start: int, count: int
    ) -> dict[str, Any]:
        held = [cell for cell in self.notebooks.get(path, []) if cell["cell_id"] == cell_id]
        outputs = held[0]["outputs"] if held else []
        if not 0 <= index < len(outputs):
            raise PageError("not_found", "no such output")
        part = output_part(outputs[index], field, start=start, count=count)
        if part is None:
            raise PageError("not_found", "no such field")
        return {"text": part.text, "start": part.start, "total_chars": part.total_chars}

    async def _edit_notebook(self, path: str, edits: list[dict[str, Any]]) -> dict[str, Any]:
        cells = [dict(cell) for cell in self.notebooks[path]]
        for edit in edits:
            edit = dict(edit)
            getattr(self, f"_op_{edit.pop('op')}")(cells, **edit)
        self.notebooks[path] = cells
        self.dirty.add(path)
        self._register_soon()
        return {"cells": {cell["cell_id"]: self._cell_revision(cell) for cell in cells}}

    async def _save(self, path: str) -> dict[str, Any]:
        if self._store is None:
            raise PageError("write_failed", "this page cannot save")
        if self._load is not None:
            await self.look_on_disk(path)
        held = self._held(path)
        await self._store(path, held)
        self.on_disk[path] = held
        if self._held(path) is held:
            self.dirty.discard(path)
        return {}

    async def _look_on_disk(self, path: str) -> dict[str, Any]:
        return {"outcome": await self.look_on_disk(path)}

    async def look_on_disk(self, path: str) -> str:
        """A clean document follows its file; a dirty notebook is merged with it, cell by cell."""
        assert self._load is not None
        disk = await self._load(path)
        if disk is None:
            return "missing"
        if _contents(disk) == _contents(self._held(path)):
            self.on_disk[path] = disk
            return "same"
        if path not in self.dirty:
            self._set(path, disk)
            self.on_disk[path] = disk
            return "refreshed"
        if path in self.texts:
            return "conflict"
        before = {c["cell_id"]: c for c in self.on_disk.get(path, [])}
        merged, conflicts = _merged(before, self.notebooks[path], disk)
        self.notices += conflicts
        self._set(path, merged)
        self.on_disk[path] = disk
        return "merged"

    def _held(self, path: str) -> Any:
        return self.texts[path] if path in self.texts else self.notebooks[path]

    def _set(self, path: str, content: Any) -> None:
        (self.texts if path in self.texts else self.notebooks)[path] = content

    def _cell_revision(self, cell: dict[str, Any]) -> str:
        return revision(f"{cell['cell_type']}\n{cell['source']}")

    # -- what the user does ----------------------------------------------------------------------

    def user_types(self, path: str, cell_id: str, text: str) -> bool:
        """Types at the end of a cell; False when it is not there."""
        cells = [dict(cell) for cell in self.notebooks[path]]
        for cell in _with_id(cells, cell_id):
            cell["source"] += text
        return self._user_changes(path, cells)

    def user_moves(self, path: str, cell_id: str, position: int) -> bool:
        moved = _with_id(self.notebooks[path], cell_id)
        cells = [cell for cell in self.notebooks[path] if cell["cell_id"] != cell_id]
        cells[position:position] = moved
        return self._user_changes(path, cells)

    def user_deletes(self, path: str, cell_id: str) -> bool:
        cells = [cell for cell in self.notebooks[path] if cell["cell_id"] != cell_id]
        return self._user_changes(path, cells)

    async def user_saves(self, path: str) -> None:
        await self._save(path)
        self._register_soon()

    def _user_changes(self, path: str, cells: list[dict[str, Any]]) -> bool:
        if _contents(cells) == _contents(self.notebooks[path]):
            return False
        self.notebooks[path] = cells
        self.dirty.add(path)
        self._register_soon()
        return True

    # -- edits -----------------------------------------------------------------------------------

    def _find(self, held: list[dict[str, Any]], cell_id: str, base: str) -> int:
        for index, cell in enumerate(held):
            text = f"{cell['cell_type']}\n{cell['source']}"
            if cell["cell_id"] == cell_id and revision(text) == base:
                return index
        raise PageError("edit_conflict", "the cell has changed")

    def _op_replace_source(
        self, held: list[dict[str, Any]], *, cell_id: str, base: str, source: str
    ) -> None:
        held[self._find(held, cell_id, base)]["source"] = source

    def _op_insert_cells(
        self, held: list[dict[str, Any]], *, after: str, cells: list[dict[str, Any]]
    ) -> None:
        ids = [cell["cell_id"] for cell in held]
        if any(cell["cell_id"] in ids for cell in cells):
            raise PageError("edit_conflict", "the id is taken")
        if after not in ("start", "end") and after not in ids:
            raise PageError("edit_conflict", "no such cell")
        at = {"start": 0, "end": len(held)}.get(after)
        at = ids.index(after) + 1 if at is None else at
        held[at:at] = [{**cell, "execution_count": None, "outputs": []} for cell in cells]

    def _op_delete_cell(self, held: list[dict[str, Any]], *, cell_id: str, base: str) -> None:
        del held[self._find(held, cell_id, base)]

    def _op_move_cells(
        self, held: list[dict[str, Any]], *, cell_ids: list[str], after: str
    ) -> None:
        moved = [cell for cell_id in cell_ids for cell in _with_id(held, cell_id)]
        rest = [cell for cell in held if cell["cell_id"] not in cell_ids]
        ids = [cell["cell_id"] for cell in rest]
        if len(moved) != len(cell_ids) or (after not in ("start", "end") and after not in ids):
            raise PageError("edit_conflict", "no such cell")
        at = {"start": 0, "end": len(rest)}.get(after)
        at = ids.index(after) + 1 if at is None else at
        held[:] = [*rest[:at], *moved, *rest[at:]]

    def _op_begin_run(
        self, held: list[dict[str, Any]], *, cell_id: str, base: str | None, trusted: bool
    ) -> None:
        if base is not None:
            self._find(held, cell_id, base)
        self.running.add(cell_id)
        for cell in _with_id(held, cell_id):
            cell.update(outputs=[], execution_count=None)

    def _op_add_output(self, held: list[dict[str, Any]], *, cell_id: str, output: Any) -> None:
        for cell in _with_id(held, cell_id):
            last = cell["outputs"][-1] if cell["outputs"] else {}
            if output["output_type"] == "stream" and last.get("name") == output["name"]:
                joined = {**last, "text": last["text"] + output["text"]}
                cell["outputs"] = [*cell["outputs"][:-1], joined]
            else:
                cell["outputs"] = [*cell["outputs"], output]

    def _op_set_output(
        self, held: list[dict[str, Any]], *, cell_id: str, index: int, output: Any
    ) -> None:
        for cell in _with_id(held, cell_id):
            cell["outputs"] = [*cell["outputs"][:index], output, *cell["outputs"][index + 1 :]]

    def _op_clear_outputs(self, held: list[dict[str, Any]], *, cell_id: str) -> None:
        for cell in _with_id(held, cell_id):
            cell["outputs"] = []

    def _op_end_run(
        self, held: list[dict[str, Any]], *, cell_id: str, execution_count: Any, timing: Any
    ) -> None:
        self.running.discard(cell_id)
        for cell in _with_id(held, cell_id):
            cell.update(execution_count=execution_count, timing=timing)


def _contents(content: Any) -> Any:
    if isinstance(content, str):
        return content
    return [(cell["cell_id"], cell["cell_type"], cell["source"]) for cell in content]


def _merged(
    before: dict[str, dict[str, Any]], mine: list[dict[str, Any]], disk: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], list[str]]:
    """The user's cells, with what others did on disk to cells that the user left alone, and the
    other versions of cells that both changed."""
    theirs = {cell["cell_id"]: cell for cell in disk}
    merged, conflicts = [], []
    for cell in mine:
        old, new = before.get(cell["cell_id"]), theirs.get(cell["cell_id"])
        untouched = old is not None and old["source"] == cell["source"]
        if untouched and new is None:
            continue
        if not untouched and new is not None and new["source"] != cell["source"]:
            conflicts.append(new["source"])
        merged.append(new if untouched and new is not None else cell)
    known = {cell["cell_id"] for cell in mine}
    for cell in disk:
        old = before.get(cell["cell_id"])
        if cell["cell_id"] not in known and (old is None or old["source"] != cell["source"]):
            merged.append(cell)  # new there, or deleted here while others changed it
    return merged, conflicts


def _with_id(cells: list[dict[str, Any]], cell_id: str) -> list[dict[str, Any]]:
    return [cell for cell in cells if cell["cell_id"] == cell_id]
