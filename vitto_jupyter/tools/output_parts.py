"""Reading what was cut from outputs, a part at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

from ..errors import DocumentNotFound
from ..workspace.base import Documents, OutputPart
from .images import Fetch

# A page answers over HTTP with a bound on the body: far below it, also when escaped.
_PART_CHARS = 1_000_000
# Reads characters from `start` on, at most `count`.
Read = Callable[[int, int], Awaitable[OutputPart]]


async def parts_of(read: Read) -> AsyncIterator[str]:
    """All of a text, in order.

    Raises:
        DocumentNotFound: it is not there, or became shorter meanwhile.
    """
    start, total = 0, 1
    while start < total:
        part = await read(start, _PART_CHARS)
        if not part.text and start < part.total_chars:
            raise DocumentNotFound("The output changed while it was read.")
        yield part.text
        start, total = start + len(part.text), part.total_chars


def part_reader(documents: Documents, path: str, cell_id: str, index: int, field: str) -> Read:
    async def read(start: int, count: int) -> OutputPart:
        return await documents.output_part(
            path, cell_id, index, field=field, start=start, count=count
        )

    return read


def fetch_from(documents: Documents, path: str) -> Fetch:
    """Reads whole images of the notebook at `path`."""

    async def fetch(cell_id: str, index: int, field: str) -> str:
        read = part_reader(documents, path, cell_id, index, field)
        return "".join([part async for part in parts_of(read)])

    return fetch
