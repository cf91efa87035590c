"""One long-lived client of one kernel. Imported by jupyter_kernels only.

Owns the channels and the runs that wait on them. Messages are routed
by the id of their parent. A kernel that dies, is restarted or is shut down never answers what
was asked before: the link notices and ends the runs.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ...errors import KernelUnavailable, ToolError
from ..base import Ask, OutputChange, Overflow, Question
from .execution import Collector, Displays
from .jupyter_kernel_channels import KernelChannels
from .kernel_ends import EndState, state_of_process
from .kernel_run import KernelRun
from .late_output import LateOutput
from .output_widgets import OutputWidgets

_log = logging.getLogger(__name__)

_WATCH_EVERY_S = 0.5
_INTERRUPT_AGAIN_S = (1.0, 2.0, 4.0)
_LOST_IDLE_S = 10.0  # zmq drops messages of a kernel that floods: the idle status may be lost
_ASK_EVERY_S = 1.5  # a subscription is there after 0.2 s
_OVERTAKEN_S = 0.1  # a reply can come before the status
_ASKS_PER_CONNECTION = 3  # then it is made anew
_PORTS_S = 10.0  # a kernel binds them 0.3 to 2 s after its start
_LOOK_EVERY_S = 0.05
_SHUTDOWN_S = 15.0
_EXIT_S = 5.0  # a kernel that was asked to exit by its own code takes 0.1 s
_SECRET = "········"
_REMEMBERED_RUNS = 200


class KernelLink:
    """The link to `kernel_id`; `open` it before use. `gone` = of no use any more, close it."""

    def __init__(self, kernel_id: str, kernel_manager: Any) -> None:
        self.kernel_id = kernel_id
        self.displays = Displays()
        self.gone = False
        self.busy = False
        self._manager = kernel_manager
        self._kernel = kernel_manager.get_kernel(kernel_id)
        self._channels = KernelChannels(self._kernel)
        self._runs: OrderedDict[str, KernelRun] = OrderedDict()
        self._watcher: asyncio.Task[None] | None = None
        self._widgets = OutputWidgets()
        self._heard = asyncio.Event()
        self._last_iopub = 0.0
        self._pid = _pid(self._kernel)
        self._process = getattr(getattr(self._kernel, "provisioner", None), "process", None)
        self._late = LateOutput()
        self._answered = asyncio.Event()

    # -- life --------------------------------------------------------------------------------

    async def open(self, *, timeout_s: float) -> None:
        """Connect, and wait until the kernel answers and is heard: nothing is then missed.

        A kernel that works on a cell cannot answer; then it is enough that it is connected.

        Raises:
            KernelUnavailable: it is dead, or did not answer in time.
        """
        self._listen()
        deadline, unanswered = time.monotonic() + timeout_s, 0
        await self._until_ports_are_open(min(deadline, time.monotonic() + _PORTS_S))
        await self._connect()
        while not await self._is_reached(until=deadline):
            if not await self.alive():
                raise KernelUnavailable("The kernel died before it answered.")
            if time.monotonic() >= deadline:
                raise KernelUnavailable(
                    f"The kernel did not answer within {timeout_s:g} s.", hint="Restart it."
                )
            unanswered += not self._answered.is_set()
            if unanswered >= _ASKS_PER_CONNECTION:
                _log.info("kernel %s does not answer: connecting anew", self.kernel_id)
                unanswered = 0
                await self._channels.close()
                self._channels = KernelChannels(self._kernel)
                await self._connect()

    async def _until_ports_are_open(self, until: float) -> None:
        """Not to try to connect before: a connection that meets itself on a port of the kernel
        keeps the kernel from starting, and ZeroMQ does not try again."""
        while not await self._channels.are_listening():
            if not await self.alive():
                raise KernelUnavailable("The kernel died before it answered.")
            if time.monotonic() >= until:
                return  # perhaps it can only be reached by other ways
            await asyncio.sleep(_LOOK_EVERY_S)

    async def _connect(self) -> None:
        self._heard.clear()
        takers = {"iopub": self._on_iopub, "shell": self._on_shell, "stdin": self._on_stdin}
        await self._channels.open(takers, on_lost=self._on_lost)

    async def close(self) -> None:
        """Close the channels and end what still waits; the kernel is left alone."""
        self._stop_using("died", "the connection to it was closed")
        self._unlisten()
        await self._late.close()
        if self._watcher is not None:
            self._watcher.cancel()
            await asyncio.wait({self._watcher})
        await self._channels.close()

    async def alive(self) -> bool:
        """Whether the kernel that this link was opened for still runs."""
        from jupyter_core.utils import ensure_async

        return (
            not self.gone
            and self.kernel_id in self._manager
            and self._manager.get_kernel(self.kernel_id) is self._kernel
            and _pid(self._kernel) == self._pid
            and bool(await ensure_async(self._kernel.is_alive()))
        )

    async def _is_reached(self, *, until: float) -> bool:
        """Ask for kernel_info, once: only when its status arrives is iopub subscribed."""
        wait_s = min(_ASK_EVERY_S, max(0.0, until - time.monotonic()))
        self._answered.clear()
        self._channels.send("shell", self._channels.message("kernel_info_request"))
        try:
            async with asyncio.timeout(wait_s):
                await self._answered.wait()
        except TimeoutError:
            # The state may be that of a process that died while it was busy.
            return self._said_busy and await self._channels.are_listening()
        try:
            async with asyncio.timeout(_OVERTAKEN_S):
                await self._heard.wait()
        except TimeoutError:
            return False
        return True

    @property
    def _said_busy(self) -> bool:
        return getattr(self._kernel, "execution_state", None) == "busy"

    # -- requests ----------------------------------------------------------------------------

    def start(
        self,
        content: dict[str, Any],
        *,
        cell_id: str,
        on_change: OutputChange | None,
        on_input: Ask | None = None,
        overflow: Overflow | None = None,
    ) -> KernelRun:
        """Send an execute request. Without `on_change` its outputs are not wanted."""
        allow_stdin = on_input is not None
        content = {"user_expressions": {}, "allow_stdin": allow_stdin} | content
        message = self._channels.message("execute_request", {"stop_on_error": True} | content)
        message["metadata"] = {"cellId": cell_id} if cell_id else {}
        collector = None
        if on_change is not None:
            collector = Collector(cell_id, content["code"], self.displays, overflow=overflow)
            self._outdate(lambda old: bool(cell_id) and old.cell_id == cell_id)
        run = KernelRun(message["header"]["msg_id"], collector, on_change, on_input)
        self._request(run, message)
        return run

    def inspect(self, name: str) -> KernelRun:
        """Ask what the kernel knows about a name; in a Python kernel this runs user code."""
        content = {"code": name, "cursor_pos": len(name), "detail_level": 0}
        message = self._channels.message("inspect_request", content)
        run = KernelRun(message["header"]["msg_id"], None, None, None)
        self._request(run, message)
        return run

    def _request(self, run: KernelRun, message: dict[str, Any]) -> None:
        self._runs[run.msg_id] = run  # before sending: the answer may come at once
        self._channels.send("shell", message)
        if self._watcher is None or self._watcher.done():
            self._watcher = asyncio.create_task(self._watch())

    def release(self, run: KernelRun) -> None:
        """Nobody watches this run any more; its display ids stay known."""
        run.stop_asking()
        if run.collector is not None:
            run.collector.finish()
        while len(self._runs) > _REMEMBERED_RUNS:
            oldest = next(iter(self._runs.values()))
            if oldest.state is None:
                break
            del self._runs[oldest.msg_id]

    def note_interrupt(self) -> None:
        """An interrupt is on its way to the kernel."""
        for run in self._open_runs:
            run.interrupted = True

    def _outdate(self, concerns: Callable[[Collector], bool]) -> None:
        for run in self._runs.values():
            if run.collector is not None and concerns(run.collector):
                run.outdated = True

    @property
    def works(self) -> bool:
        """Whether the kernel still has a request of ours to answer, watched or not."""
        return bool(self._open_runs)

    @property
    def _open_runs(self) -> list[KernelRun]:
        return [run for run in self._runs.values() if run.state is None]

    # -- messages ----------------------------------------------------------------------------

    def _on_iopub(self, message: dict[str, Any]) -> None:
        self._heard.set()
        self._last_iopub = time.monotonic()
        msg_type, content = message["header"]["msg_type"], message["content"]
        if msg_type == "shutdown_reply":
            if content.get("restart"):
                self._stop_using("restarted")
            elif not any(run.exiting for run in self._open_runs):
                self._stop_using("died", "it was shut down")
            return
        if msg_type == "status":
            self.busy = content.get("execution_state") == "busy"
        if msg_type.startswith("comm_"):
            self._widgets.follow(msg_type, content)
        run = self._runs.get((message.get("parent_header") or {}).get("msg_id") or "")
        if run is None:
            self._on_foreign(msg_type, content)
            return
        if run.state is not None:
            self._on_late(run, msg_type, content)
            return
        if not self._widgets.capture(run.msg_id, msg_type, content):
            run.take_iopub(msg_type, message)
        self._finish_if_answered(run)

    def _on_late(self, run: KernelRun, msg_type: str, content: dict[str, Any]) -> None:
        """A thread of a cell that has ended prints, or updates what it displayed."""
        if run.collector is None or run.on_change is None or not run.collector.cell_id:
            return
        if not run.outdated or msg_type == "update_display_data":
            self._late.add(run.collector.late(msg_type, content), run.on_change)

    def _on_foreign(self, msg_type: str, content: dict[str, Any]) -> None:
        """What other clients run: it can replace outputs of ours that display ids point to."""
        if msg_type == "execute_input":
            code = str(content.get("code", ""))
            self.displays.forget_source(code)
            self._outdate(lambda old: old.source == code)
        elif msg_type == "update_display_data" and self._open_runs:
            self.displays.update(content)

    def _on_shell(self, message: dict[str, Any]) -> None:
        self._answered.set()
        run = self._runs.get((message.get("parent_header") or {}).get("msg_id") or "")
        if run is not None and message["header"]["msg_type"] in ("execute_reply", "inspect_reply"):
            run.take_reply(message)
            self._finish_if_answered(run)

    def _on_stdin(self, message: dict[str, Any]) -> None:
        run = self._runs.get((message.get("parent_header") or {}).get("msg_id") or "")
        if message["header"]["msg_type"] == "input_request" and run and run.state is None:
            run.stop_asking()
            run.question = asyncio.create_task(self._ask(run, message["content"]))
            run.changed.set()

    async def _ask(self, run: KernelRun, content: dict[str, Any]) -> None:
        """Put an `input()` to the user; who will not answer interrupts the code."""
        secret = bool(content.get("password"))
        question = Question(str(content.get("prompt", "")), secret=secret)
        try:
            answer = await run.on_input(question) if run.on_input else None
        except ToolError as err:
            _log.warning("an input() could not be put to the user: %s", err.message)
            answer = None
        if run.state is not None:
            return
        if answer is None:
            await self._interrupt_input()
            return
        shown = f"{question.prompt}{_SECRET if secret else answer}\n"
        if run.collector is not None:
            run.collector.handle("stream", {"name": "stdin", "text": shown})
        run.changed.set()
        self._channels.send("stdin", self._channels.message("input_reply", {"value": answer}))

    async def _interrupt_input(self) -> None:
        """Once more while nothing comes of it: a kernel that just begins to wait can miss it."""
        from jupyter_core.utils import ensure_async

        for wait_s in _INTERRUPT_AGAIN_S:
            heard = self._last_iopub
            self.note_interrupt()
            await ensure_async(self._kernel.interrupt_kernel())
            await asyncio.sleep(wait_s)  # cancelled when the run ends
            if self._last_iopub != heard:
                return

    def _finish_if_answered(self, run: KernelRun) -> None:
        # A restart interrupts first: the reply then looks like an error of the code.
        # What asked its kernel to exit has ended when the process has.
        if run.state is None and run.answered and not (self._shutting_down or run.exiting):
            self._finish(run)

    def _finish(self, run: KernelRun) -> None:
        run.end()
        for content in self._widgets.take(run.msg_id):
            self._channels.send("shell", self._channels.message("comm_msg", content))

    @property
    def _shutting_down(self) -> bool:
        return bool(getattr(self._kernel, "shutting_down", False))

    # -- death -------------------------------------------------------------------------------

    def _end_all(self, state: EndState, detail: str = "") -> None:
        for run in self._open_runs:
            run.end(state, detail)

    def _stop_using(self, state: EndState, detail: str = "") -> None:
        self.gone = True
        self._end_all(state, detail)

    def _on_lost(self) -> None:
        self._stop_using("died", "the connection to it was lost")

    def _on_autorestart(self) -> None:
        self._stop_using_dead()

    def _stop_using_dead(self) -> None:
        """The process is gone: its exit status says how."""
        status = self._process.poll() if self._process is not None else None
        asked = any(run.exiting for run in self._open_runs)
        self._stop_using(*state_of_process(status, asked=asked))

    def _listen(self) -> None:
        for event in ("restart", "dead"):
            self._kernel.add_restart_callback(self._on_autorestart, event)

    def _unlisten(self) -> None:
        for event in ("restart", "dead"):
            self._kernel.remove_restart_callback(self._on_autorestart, event)

    async def _watch(self) -> None:
        """While runs are open: see what no message tells."""
        shutting_down_s = 0.0
        while self._open_runs:
            await asyncio.sleep(_WATCH_EVERY_S)
            shutting_down = self._shutting_down
            shutting_down_s = shutting_down_s + _WATCH_EVERY_S if shutting_down else 0.0
            if self.kernel_id not in self._manager:
                self._stop_using("died", "it was shut down")
            elif shutting_down and shutting_down_s < _SHUTDOWN_S:
                continue
            elif not await self.alive():
                if _pid(self._kernel) not in (None, self._pid):
                    self._stop_using("restarted")
                else:
                    self._stop_using_dead()
            else:
                self._end_answered()

    def _end_answered(self) -> None:
        quiet_s = time.monotonic() - self._last_iopub
        quiet = quiet_s > _LOST_IDLE_S
        for run in self._open_runs:
            if run.exiting and quiet_s < _EXIT_S:
                continue
            if run.answered or (run.reply is not None and quiet):
                self._finish(run)


def _pid(kernel: Any) -> int | None:
    """The kernel's process, None where it runs elsewhere."""
    return getattr(getattr(kernel, "provisioner", None), "pid", None)
