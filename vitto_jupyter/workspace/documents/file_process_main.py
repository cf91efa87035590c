"""The main function of the process for big files. Started by file_process, imported by nobody."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from typing import BinaryIO

from ...errors import ToolError, VittoError
from .big_work import Kept
from .frame_values import End
from .frames import read_frame, write_frame

_POLITENESS = 5  # what a person waits for goes first


def main() -> None:
    """Answer requests until the server closes the pipe, or ends in whatever way."""
    gc.disable()  # parsed files are millions of objects without circles
    with suppress(AttributeError, OSError):
        os.nice(_POLITENESS)
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever prints must not disturb
    kept = Kept()
    while True:
        try:
            request = read_frame(sys.stdin.buffer)
        except EOFError:
            return
        write_frame(replies, End(_answered(replies, request, kept)))


def _answered(replies: BinaryIO, request: object, kept: Kept) -> VittoError | OSError | None:
    try:
        for answer in request.answers(kept):  # type: ignore[attr-defined]
            write_frame(replies, answer)
    except BrokenPipeError:
        raise
    except (MemoryError, RecursionError) as err:
        fault = "not enough memory for it" if isinstance(err, MemoryError) else "nested too deeply"
        return ToolError(f"The file cannot be read: {fault}.", code="read_failed")
    except (VittoError, OSError) as err:
        return err.with_traceback(None)
    return None
