"""Python values through a pipe between two processes of ours. Blocking."""

from __future__ import annotations

import pickle
from typing import Any, BinaryIO

_LENGTH_BYTES = 8


def write_frame(pipe: BinaryIO, value: Any) -> None:
    content = pickle.dumps(value, protocol=5)
    pipe.write(len(content).to_bytes(_LENGTH_BYTES, "little"))
    pipe.write(content)
    pipe.flush()


def read_frame(pipe: BinaryIO) -> Any:
    """
    Raises:
        EOFError: the other side has ended.
    """
    size = int.from_bytes(_exactly(pipe, _LENGTH_BYTES), "little")
    return pickle.loads(_exactly(pipe, size))


def _exactly(pipe: BinaryIO, count: int) -> bytes:
    content = pipe.read(count)
    if len(content) < count:
        raise EOFError
    return content
