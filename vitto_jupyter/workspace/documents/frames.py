"""Python values through a pipe between two processes of ours. Blocking.

A frame is its kind, its length and its content. Bytes travel as they are: a copy of 100 MB as
text would be dear.
"""

from __future__ import annotations

from typing import IO, Any

from .frame_values import BadFrame, decode, encode

_VALUE, _BYTES = b"v", b"b"
_LENGTH_BYTES = 8


def write_frame(pipe: IO[bytes], value: Any) -> None:
    """
    Raises:
        BadFrame, RecursionError: as `encode`; nothing was written.
    """
    kind, content = (_BYTES, value) if type(value) is bytes else (_VALUE, encode(value))
    pipe.write(kind + len(content).to_bytes(_LENGTH_BYTES, "little"))
    pipe.write(content)
    pipe.flush()


def read_frame(pipe: IO[bytes]) -> Any:
    """
    Raises:
        EOFError: the other side has ended.
        BadFrame: what it wrote is no frame of ours.
    """
    head = _exactly(pipe, 1 + _LENGTH_BYTES)
    kind, size = head[:1], int.from_bytes(head[1:], "little")
    if kind not in (_VALUE, _BYTES):
        raise BadFrame(f"wrote a frame of the unknown kind {kind!r}")
    content = _exactly(pipe, size)
    return content if kind == _BYTES else decode(content)


def _exactly(pipe: IO[bytes], count: int) -> bytes:
    content = pipe.read(count)
    if len(content) < count:
        raise EOFError
    return content
