"""When a run is over, and what it remembers of its messages."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from vitto_jupyter.workspace.kernels.execution import Collector, Displays
from vitto_jupyter.workspace.kernels.kernel_run import KernelRun

AT = datetime(2026, 11, 30, 12, 0, 0, 123456, tzinfo=UTC)


def run() -> KernelRun:
    return KernelRun("m1", Collector("c1", "", Displays()))


def message(content: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"header": {"date": AT}, "metadata": metadata, "content": content}


def idle(a_run: KernelRun) -> None:
    a_run.take_iopub("status", message({"execution_state": "idle"}))


def reply(a_run: KernelRun, status: str = "ok", **content: Any) -> None:
    a_run.take_reply(message({"status": status, **content}, started="2026-11-30T12:00:00Z"))


@pytest.mark.parametrize("order", [(idle, reply), (reply, idle)])
def test_answered_needs_the_reply_and_idle_in_any_order(order: Any) -> None:
    a_run = run()
    order[0](a_run)
    assert not a_run.answered
    order[1](a_run)
    assert a_run.answered


@pytest.mark.parametrize(
    ("status", "state"), [("ok", "ok"), ("error", "error"), ("aborted", "aborted")]
)
def test_the_state_is_that_of_the_reply(status: str, state: str) -> None:
    a_run = run()
    reply(a_run, status)
    a_run.end()
    assert a_run.state == state


def test_the_first_end_decides() -> None:
    a_run = run()
    a_run.end("restarted")
    a_run.end("died")
    assert a_run.state == "restarted"


def test_timing_is_named_as_in_jupyterlab() -> None:
    a_run = run()
    a_run.take_iopub("status", message({"execution_state": "busy"}))
    a_run.take_iopub("execute_input", message({"code": "", "execution_count": 3}))
    reply(a_run, execution_count=3)
    idle(a_run)
    assert a_run.execution_count == 3
    assert a_run.timing == {
        "iopub.status.busy": "2026-11-30T12:00:00.123456Z",
        "iopub.execute_input": "2026-11-30T12:00:00.123456Z",
        "shell.execute_reply.started": "2026-11-30T12:00:00Z",
        "shell.execute_reply": "2026-11-30T12:00:00.123456Z",
        "iopub.status.idle": "2026-11-30T12:00:00.123456Z",
    }
