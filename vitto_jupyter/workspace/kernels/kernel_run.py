"""One execute request and how it ends. Pure; imported by the kernel adapters."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ..base import Ask, OutputChange
from .execution import Collector
from .kernel_ends import EndState, asks_to_exit, state_of_reply


@dataclass
class KernelRun:
    """A request on its way. It is over with the reply *and* the idle status, in any order.

    `collector` None: a silent request of ours, only its reply matters. `changed` is set with
    every message and at the end. `question` asks the user; it is void when the run ends.
    `outdated`: the outputs of its cell are by now those of another run.
    """

    msg_id: str
    collector: Collector | None
    on_change: OutputChange | None = None
    on_input: Ask | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    reply: dict[str, Any] | None = None
    idle: bool = False
    state: EndState | None = None
    execution_count: int | None = None
    timing: dict[str, str] = field(default_factory=dict)
    detail: str = ""
    question: asyncio.Task[None] | None = None
    interrupted: bool = False
    exiting: bool = False
    outdated: bool = False

    @property
    def answered(self) -> bool:
        return self.reply is not None and self.idle

    def take_iopub(self, msg_type: str, message: dict[str, Any]) -> None:
        content = message["content"]
        if msg_type == "status":
            status = content["execution_state"]
            self.timing[f"iopub.status.{status}"] = _date(message)
            self.idle = self.idle or status == "idle"
        elif msg_type == "execute_input":
            self.timing["iopub.execute_input"] = _date(message)
            self.execution_count = content.get("execution_count")
        elif self.collector is not None:
            self.collector.handle(msg_type, content)
        self.changed.set()

    def take_reply(self, message: dict[str, Any]) -> None:
        content = message["content"]
        started = (message.get("metadata") or {}).get("started")
        if started:
            self.timing["shell.execute_reply.started"] = _iso(started)
        self.timing["shell.execute_reply"] = _date(message)
        self.reply = content
        self.exiting = asks_to_exit(content)
        if isinstance(content.get("execution_count"), int) and content.get("status") != "aborted":
            self.execution_count = content["execution_count"]
        if self.collector is not None:
            self.collector.handle_payload(content.get("payload") or [])
        self.changed.set()

    @property
    def asks(self) -> bool:
        return self.question is not None and not self.question.done()

    def end(self, state: EndState | None = None, detail: str = "") -> None:
        """The run is over; without `state` as the reply says. The first call decides."""
        if self.state is not None:
            return
        executed = "iopub.execute_input" in self.timing
        self.state = state or state_of_reply(
            self.reply or {}, executed=executed, interrupted=self.interrupted
        )
        self.detail = detail
        self.stop_asking()
        self.changed.set()

    def stop_asking(self) -> None:
        if self.question is not None:
            self.question.cancel()


def _date(message: dict[str, Any]) -> str:
    return _iso(message["header"].get("date") or datetime.now(UTC))


def _iso(date: datetime | str) -> str:
    """ISO 8601 as JupyterLab keeps it in the cell metadata `execution`."""
    text = date.isoformat() if isinstance(date, datetime) else date
    return text.replace("+00:00", "Z")
