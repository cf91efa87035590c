"""How requests and kernel processes end, told from what kernels say and leave. Pure.

Imported by the kernel adapters only.
"""

from __future__ import annotations

import re
import signal
from typing import Any, Literal

EndState = Literal["ok", "error", "interrupted", "aborted", "died", "ended", "restarted"]

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_FRAME = re.compile(r"^(?=Cell In\[|File )", re.MULTILINE)
_RAISE = re.compile(r"^Cell In\[.*^-+> ?\d+ +raise\b", re.MULTILINE | re.DOTALL)
_SIGNALS = {
    "SIGKILL": "it was killed (SIGKILL), as happens when memory runs out",
    "SIGSEGV": "it crashed (SIGSEGV, a segmentation fault)",
}
_MAX_EXIT_STATUS = 255  # larger ones are crashes on Windows


def state_of_reply(reply: dict[str, Any], *, executed: bool, interrupted: bool) -> EndState:
    """What an execute_reply says.

    Args:
        executed: The kernel had begun with it.
        interrupted: We sent an interrupt meanwhile.
    """
    match reply.get("status"):
        case "ok":
            return "ok"
        case "aborted" | "abort":  # the latter is bash_kernel's word for an interrupt
            return "interrupted" if executed else "aborted"
    name = str(reply.get("ename") or "")
    if "interrupt" in name.lower() and (interrupted or not _raises(reply.get("traceback"))):
        return "interrupted"
    return "error"


def _raises(traceback: Any) -> bool:
    """Whether the cell itself raised the error, as IPython shows it."""
    text = _ANSI.sub("", "\n".join(map(str, traceback))) if isinstance(traceback, list) else ""
    return _RAISE.match(_FRAME.split(text)[-1]) is not None


def asks_to_exit(reply: dict[str, Any]) -> bool:
    """Whether the code asked its kernel to end: `exit()`, `quit()`."""
    return any(
        entry.get("source") == "ask_exit" and not entry.get("keepkernel")
        for entry in reply.get("payload") or ()
    )


def state_of_process(exit_status: int | None, *, asked: bool) -> tuple[EndState, str]:
    """How a kernel process that is gone ended, and more in words; `asked`: by its own code.

    `exit_status` as in subprocess: negative for a signal, None when nobody knows.
    """
    if asked:
        return "ended", ""
    if exit_status is None:
        return "died", ""
    if exit_status < 0:
        name = _signal_name(-exit_status)
        return "died", _SIGNALS.get(name, f"it was ended by {name}")
    if exit_status > _MAX_EXIT_STATUS:
        return "died", f"it crashed (status {exit_status:#x})"
    return "ended", f"exit status {exit_status}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
