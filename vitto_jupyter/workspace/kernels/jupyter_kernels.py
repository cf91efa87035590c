"""The server's kernels, on top of jupyter_server's managers. Built by the app only.

Nothing of Jupyter is imported before the first use.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from ...errors import DeadlineExceeded, KernelUnavailable, ToolError
from ..base import Ask, Execution, KernelInfo, KernelSpec, OutputChange, Overflow, Variable
from ..paths import name_of
from ..processes import started_at
from . import kernel_probe
from .jupyter_kernel_link import KernelLink
from .kernel_run import KernelRun

_CHANGE_EVERY_S = 0.1
_START_TIMEOUT_S = 60.0
_PROBE_TIMEOUT_S = 10.0
_INSPECT_TIMEOUT_S = 3.0  # not all kernels answer
_REVIVAL_S = 5.0  # jupyter_server looks for dead kernels every 3 s and restarts them


class JupyterKernels:
    """The port `Kernels` over a kernel manager, a session manager and a kernel spec manager."""

    def __init__(
        self, *, kernel_manager: Any, session_manager: Any, kernel_spec_manager: Any
    ) -> None:
        self._manager = kernel_manager
        self._sessions = session_manager
        self._specs = kernel_spec_manager
        self._links: dict[str, KernelLink] = {}
        self._link_locks: dict[str, asyncio.Lock] = {}
        self._start_lock = asyncio.Lock()

    async def close(self) -> None:
        """Close every connection; the kernels run on."""
        links, self._links = list(self._links.values()), {}
        for link in links:
            await link.close()

    # -- which kernels -----------------------------------------------------------------------

    async def specs(self) -> tuple[KernelSpec, ...]:
        found = await _ensure(self._specs.get_all_specs())
        return tuple(
            KernelSpec(
                name=name,
                display_name=str(entry["spec"].get("display_name") or name),
                language=str(entry["spec"].get("language") or ""),
            )
            for name, entry in sorted(found.items())
        )

    async def running(self) -> tuple[KernelInfo, ...]:
        paths = {s["kernel"]["id"]: s for s in await _ensure(self._sessions.list_sessions())}
        models = await _ensure(self._manager.list_kernels())
        return tuple(self._info(model, paths.get(model["id"])) for model in models)

    async def find(self, path: str) -> KernelInfo | None:
        for session in await _ensure(self._sessions.list_sessions()):
            if session["path"] == path and session["type"] == "notebook":
                return self._info(session["kernel"], session)
        return None

    def _info(self, model: dict[str, Any], session: dict[str, Any] | None) -> KernelInfo:
        is_notebook = session is not None and session["type"] == "notebook"
        link = self._links.get(model["id"])
        # the state that a kernel tells last may be of another channel: "idle" in mid-run
        works = link is not None and link.works
        return KernelInfo(
            kernel_id=model["id"],
            name=model["name"],
            state="busy" if works else str(model.get("execution_state") or "unknown"),
            path=session["path"] if session is not None and is_notebook else "",
            started_at=self._started_at(model["id"]),
        )

    def _started_at(self, kernel_id: str) -> str:
        if kernel_id not in self._manager:
            return ""
        provisioner = getattr(self._manager.get_kernel(kernel_id), "provisioner", None)
        pid = getattr(provisioner, "pid", None)
        return started_at(pid) if pid else ""

    async def for_notebook(self, path: str, *, kernel_name: str) -> KernelInfo:
        async with self._start_lock:  # two calls at once must not start two kernels
            found = await self.find(path)
            if found is not None:
                return found
            return await self._start(path, kernel_name)

    async def _start(self, path: str, kernel_name: str) -> KernelInfo:
        """Make a session as JupyterLab does: opening the notebook later finds this kernel."""
        known = {spec.name for spec in await self.specs()}
        if kernel_name and kernel_name not in known:
            raise KernelUnavailable(
                f'There is no kernel "{kernel_name}" on this server.',
                hint=f"Kernels here: {', '.join(sorted(known)) or 'none'}.",
            )
        from tornado.web import HTTPError

        try:
            async with asyncio.timeout(_START_TIMEOUT_S):
                session = await self._sessions.create_session(
                    path=path, name=name_of(path), type="notebook", kernel_name=kernel_name or None
                )
        except TimeoutError as err:
            raise KernelUnavailable(f"The kernel of {path} did not start in time.") from err
        except (HTTPError, OSError, RuntimeError, ValueError, KeyError) as err:
            raise KernelUnavailable(f"The kernel of {path} did not start: {err}") from err
        return self._info(session["kernel"], session)

    # -- running code ------------------------------------------------------------------------

    async def execute(
        self,
        kernel_id: str,
        code: str,
        *,
        cell_id: str | None,
        timeout_s: float,
        on_change: OutputChange,
        on_input: Ask | None = None,
        overflow: Overflow | None = None,
    ) -> Execution:
        started = time.monotonic()
        content = {"code": code, "silent": False, "store_history": cell_id is not None}
        async with self._running(
            kernel_id,
            content,
            timeout_s=min(timeout_s, _START_TIMEOUT_S),
            cell_id=cell_id or "",
            on_change=on_change,
            on_input=on_input,
            overflow=overflow,
        ) as run:
            left_s = started + timeout_s - time.monotonic()
            await _report(run, timeout_s=left_s, on_change=on_change)
            assert run.collector is not None
            return Execution(
                state=run.state or "running",
                execution_count=run.execution_count if cell_id is not None else None,
                outputs=run.collector.outputs,
                seconds=time.monotonic() - started,
                timing=dict(run.timing),
                detail=run.detail,
            )

    async def interrupt(self, kernel_id: str) -> None:
        self._check(kernel_id)
        if kernel_id in self._links:
            self._links[kernel_id].note_interrupt()
        await self._act(self._manager.interrupt_kernel(kernel_id), "interrupted")

    async def restart(self, kernel_id: str) -> None:
        self._check(kernel_id)
        await self._act(self._manager.restart_kernel(kernel_id), "restarted")

    async def _act(self, act: Any, done: str) -> None:
        from tornado.web import HTTPError

        try:
            waiting = await _ensure(act)
            if asyncio.isfuture(waiting):  # of restart_kernel: the new process has answered
                await waiting
        except (HTTPError, OSError, RuntimeError, TimeoutError, KeyError) as err:
            raise KernelUnavailable(f"The kernel could not be {done}: {err}") from err

    # -- variables ---------------------------------------------------------------------------

    async def variables(self, kernel_id: str, names: Sequence[str]) -> tuple[Variable, ...]:
        for name in names:
            if not name.isidentifier():
                raise ToolError(f"{name!r} is not the name of a variable.")
        if not await self._is_python(kernel_id):
            raise ToolError("Only the variables of Python kernels can be listed.")
        await self._check_idle(kernel_id)
        content = {
            "code": "",
            "silent": True,
            "store_history": False,
            "user_expressions": {kernel_probe.KEY: kernel_probe.expression(names)},
        }
        async with self._running(
            kernel_id, content, cell_id="", on_change=None, timeout_s=_PROBE_TIMEOUT_S
        ) as run:
            return kernel_probe.variables_from(await _reply(run, _PROBE_TIMEOUT_S))

    async def inspect(self, kernel_id: str, name: str) -> str:
        if await self._is_python(kernel_id):
            raise ToolError("In a Python kernel an inspect request runs user code.")
        await self._check_idle(kernel_id)
        link = await self._link(kernel_id, timeout_s=_PROBE_TIMEOUT_S)
        run = link.inspect(name)
        try:
            content = await _reply(run, _INSPECT_TIMEOUT_S)
        finally:
            link.release(run)
        found = content.get("data") if content.get("found") else None
        return str(found.get("text/plain") or "") if isinstance(found, dict) else ""

    async def _is_python(self, kernel_id: str) -> bool:
        self._check(kernel_id)
        name = self._manager.get_kernel(kernel_id).kernel_name
        spec = next((spec for spec in await self.specs() if spec.name == name), None)
        return spec is not None and spec.language.lower() == "python"

    async def _check_idle(self, kernel_id: str) -> None:
        link = self._links.get(kernel_id)
        if link is None or link.gone:
            model = await _ensure(self._manager.kernel_model(kernel_id))
            busy = model["execution_state"] == "busy"
        else:
            busy = link.busy or link.works
        if busy:
            raise ToolError(
                "The kernel is busy: its variables can be read when it has ended what it runs.",
                code="kernel_busy",
            )

    # -- links -------------------------------------------------------------------------------

    @asynccontextmanager
    async def _running(
        self, kernel_id: str, content: dict[str, Any], *, timeout_s: float, **options: Any
    ) -> AsyncIterator[KernelRun]:
        """A request at work; `options` as in KernelLink.start."""
        link = await self._link(kernel_id, timeout_s=timeout_s)
        run = link.start(content, **options)
        try:
            yield run
        finally:
            link.release(run)

    async def _link(self, kernel_id: str, *, timeout_s: float) -> KernelLink:
        """The link to a kernel: the open one when it is sound, else a new one."""
        await self._drop_gone()
        async with self._link_locks.setdefault(kernel_id, asyncio.Lock()):
            link = self._links.get(kernel_id)
            if link is not None and await link.alive():
                return link
            if link is not None:
                del self._links[kernel_id]
                await link.close()
            return await self._open(kernel_id, timeout_s)

    async def _open(self, kernel_id: str, timeout_s: float) -> KernelLink:
        """A new link. A kernel that dies as it starts is tried again, once: its ports were taken
        meanwhile, and the server starts it anew on others."""
        for is_last in (False, True):
            self._check(kernel_id)
            await self._wait_until_alive(kernel_id, min(timeout_s, _REVIVAL_S))
            link = KernelLink(kernel_id, self._manager)
            try:
                await link.open(timeout_s=timeout_s)
            except BaseException as err:  # also when cancelled: sockets and tasks must not stay
                died = isinstance(err, KernelUnavailable) and not await link.alive()
                await link.close()
                if is_last or not died:
                    raise
            else:
                break
        self._links[kernel_id] = link
        return link

    async def _wait_until_alive(self, kernel_id: str, timeout_s: float) -> None:
        """Give a kernel that just died the time to be restarted by the server."""
        deadline = time.monotonic() + timeout_s
        while True:
            self._check(kernel_id)
            if await _ensure(self._manager.is_alive(kernel_id)):
                return
            if time.monotonic() >= deadline:
                raise KernelUnavailable("The kernel is dead.", hint="Restart it.")
            await asyncio.sleep(0.1)

    async def _drop_gone(self) -> None:
        for kernel_id, link in list(self._links.items()):
            if link.gone or kernel_id not in self._manager:
                if self._links.get(kernel_id) is link:  # not a new one, opened while we closed
                    del self._links[kernel_id]
                await link.close()
        for kernel_id, lock in list(self._link_locks.items()):
            if kernel_id not in self._manager and not lock.locked():
                del self._link_locks[kernel_id]

    def _check(self, kernel_id: str) -> None:
        if kernel_id not in self._manager:
            raise KernelUnavailable(f"There is no kernel {kernel_id}.")


async def _report(run: KernelRun, *, timeout_s: float, on_change: OutputChange) -> None:
    """Hand on what changes until the run is over or the time is up; asking the user is free."""
    assert run.collector is not None
    left_s = timeout_s
    while left_s > 0 and run.state is None:
        began, asks = time.monotonic(), run.asks
        await _changed(run, until=math.inf if asks else began + left_s)
        if run.state is None:
            edits = run.collector.changes(now=time.monotonic())
            if edits:
                await on_change(edits)
                await _pause(run)
        left_s -= 0.0 if asks else time.monotonic() - began
    edits = run.collector.changes(now=time.monotonic(), final=True)
    if edits:
        await on_change(edits)


async def _pause(run: KernelRun) -> None:
    """Let changes gather for a moment, but not past the end."""
    until = time.monotonic() + _CHANGE_EVERY_S
    while run.state is None and await _changed(run, until=until):
        pass
    run.changed.set()


async def _reply(run: KernelRun, timeout_s: float) -> dict[str, Any]:
    """The reply to a request that prints nothing."""
    deadline = time.monotonic() + timeout_s
    while run.state is None:
        if not await _changed(run, until=deadline):
            raise DeadlineExceeded(f"The kernel did not tell about names within {timeout_s:g} s.")
    if run.state != "ok":
        raise KernelUnavailable(f"The variables could not be read: kernel {run.state}.")
    return run.reply or {}


async def _changed(run: KernelRun, *, until: float) -> bool:
    """Wait for the next message; False when the time came first."""
    left_s = until - time.monotonic()
    if left_s <= 0:
        return False
    try:
        async with asyncio.timeout(None if left_s == math.inf else left_s):
            await run.changed.wait()
    except TimeoutError:
        return False
    run.changed.clear()
    return True


async def _ensure(value: Any) -> Any:
    """Await what may be awaitable: managers differ between versions and gateways."""
    from jupyter_core.utils import ensure_async

    return await ensure_async(value)
