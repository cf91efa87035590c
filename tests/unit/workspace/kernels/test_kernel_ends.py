from typing import Any

import pytest

from vitto_jupyter.workspace.kernels.kernel_ends import (
    asks_to_exit,
    state_of_process,
    state_of_reply,
)

IN_A_CALL = [
    "\x1b[31mKeyboardInterrupt\x1b[39m   Traceback (most recent call last)",
    "\x1b[36mCell\x1b[39m In[1], line 1\n\x1b[32m----> 1\x1b[39m f()",
    "\x1b[36mFile \x1b[39m/lib/a.py:3, in f()\n      1 x\n----> 3     raise KeyboardInterrupt",
    "KeyboardInterrupt: ",
]
RAISED = [
    "KeyboardInterrupt   Traceback (most recent call last)",
    "\x1b[36mCell\x1b[39m\x1b[36m \x1b[39m\x1b[32mIn[1]\x1b[39m, line 2\n      1 x\n"
    "\x1b[32m----> 2\x1b[39m     \x1b[38;5;28;01mraise\x1b[39;00m KeyboardInterrupt",
    "KeyboardInterrupt: ",
]


def error(ename: str, traceback: Any = ()) -> dict[str, Any]:
    return {"status": "error", "ename": ename, "traceback": list(traceback)}


@pytest.mark.parametrize(
    ("reply", "executed", "interrupted", "state"),
    [
        ({"status": "ok"}, True, True, "ok"),
        ({"status": "aborted"}, False, False, "aborted"),
        ({"status": "abort"}, True, False, "interrupted"),
        ({}, True, False, "error"),
        (error("ValueError"), True, True, "error"),
        (error("KeyboardInterrupt", IN_A_CALL), True, False, "interrupted"),
        (error("KeyboardInterrupt", RAISED), True, False, "error"),
        (error("KeyboardInterrupt", RAISED), True, True, "interrupted"),
        (error("InterruptException"), True, False, "interrupted"),
        ({**error("KeyboardInterrupt"), "traceback": None}, True, False, "interrupted"),
    ],
)
def test_what_a_reply_says(
    reply: dict[str, Any], executed: bool, interrupted: bool, state: str
) -> None:
    assert state_of_reply(reply, executed=executed, interrupted=interrupted) == state


@pytest.mark.parametrize(
    ("payload", "asks"),
    [
        (None, False),
        ([{"source": "page"}], False),
        ([{"source": "ask_exit", "keepkernel": False}], True),
        ([{"source": "ask_exit", "keepkernel": True}], False),
    ],
)
def test_whether_the_code_asked_to_exit(payload: Any, asks: bool) -> None:
    assert asks_to_exit({"payload": payload}) is asks


@pytest.mark.parametrize(
    ("status", "asked", "end"),
    [
        (None, False, ("died", "")),
        (None, True, ("ended", "")),
        (0, False, ("ended", "exit status 0")),
        (3, False, ("ended", "exit status 3")),
        (-9, False, ("died", "it was killed (SIGKILL), as happens when memory runs out")),
        (-11, False, ("died", "it crashed (SIGSEGV, a segmentation fault)")),
        (-15, False, ("died", "it was ended by SIGTERM")),
        (-99, False, ("died", "it was ended by signal 99")),
        (0xC0000005, False, ("died", "it crashed (status 0xc0000005)")),
    ],
)
def test_how_a_process_ended(status: int | None, asked: bool, end: tuple[str, str]) -> None:
    assert state_of_process(status, asked=asked) == end
