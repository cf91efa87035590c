"""Conversations on disk: the frozen prefix in the first line, then one message a line.

The `ConversationStore` of agent/ports.py. Imported by sessions.
"""

from __future__ import annotations

import asyncio
import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ..errors import StorageFailed
from ..protocol.base import JsonObject
from ..providers.base import Message, ToolSpec
from .session_files import append_bytes, put_aside, write_whole

FILE = "conversation.jsonl"
_CHECKED = re.compile(rb'(.+)(,"sum":"[0-9a-f]{8}"\})', re.DOTALL)


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """What the file held, as complete messages."""

    system: str
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]


class ConversationFile:
    """One conversation's file. `close` ends it: appends of a turn left behind are refused."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._size = 0
        self._closed = False

    def create(self, *, system: str, tools: Sequence[ToolSpec]) -> None:
        """Start the file with the prefix, which is never rewritten. Blocking."""
        head = _line({"system": system, "tools": [asdict(tool) for tool in tools]})
        write_whole(self._path, head)
        self._size = len(head)

    def open(self) -> StoredConversation | None:
        """Read the file; None when there is none or its prefix is lost. Blocking.

        The complete lines up to the first damaged one count; the rest is put aside, since a
        request whose middle is missing would be refused for ever.
        """
        if not self._path.exists():
            return None
        content = self._path.read_bytes()
        records, self._size = _complete_records(content)
        if self._size < len(content):
            put_aside(self._path, content[self._size :])
            write_whole(self._path, content[: self._size])
        if not records:
            return None
        head, messages = records[0], records[1:]
        return StoredConversation(
            system=head["system"],
            tools=tuple(ToolSpec(**tool) for tool in head["tools"]),
            messages=tuple(Message(m["role"], tuple(m["content"])) for m in messages),
        )

    async def append(self, messages: Sequence[Message]) -> None:
        if self._closed:
            raise StorageFailed("The turn was ended while it still worked.")
        content = b"".join(_line({"role": m.role, "content": list(m.content)}) for m in messages)
        await asyncio.to_thread(append_bytes, self._path, content, size=self._size, sync=True)
        self._size += len(content)

    def close(self) -> None:
        self._closed = True


def _line(record: JsonObject) -> bytes:
    """A record with a checksum at its end: a changed byte, in a signature say, would make every
    later request invalid."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    try:
        content = text.encode()
    except UnicodeEncodeError:  # half a surrogate pair: its escape keeps the bytes readable
        content = json.dumps(record, separators=(",", ":")).encode()
    return content[:-1] + _checksum(content) + b"\n"


def _checksum(content: bytes) -> bytes:
    return b',"sum":"%08x"}' % zlib.crc32(content)


def _complete_records(content: bytes) -> tuple[list[JsonObject], int]:
    """The records up to the first damaged line, and how many bytes they take."""
    records: list[JsonObject] = []
    size = 0
    while (end := content.find(b"\n", size)) >= 0:
        record = _parsed(content[size:end])
        if record is None or not _fits(record, first=not records):
            break
        records.append(record)
        size = end + 1
    return records, size


def _parsed(line: bytes) -> JsonObject | None:
    checked = _CHECKED.fullmatch(line)
    if checked is None or _checksum(checked[1] + b"}") != checked[2]:
        return None
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _fits(record: JsonObject, *, first: bool) -> bool:
    if first:
        return isinstance(record.get("system"), str) and _are_tools(record.get("tools"))
    return record.get("role") in ("user", "assistant") and isinstance(record.get("content"), list)


def _are_tools(tools: object) -> bool:
    names = set(ToolSpec.__dataclass_fields__)
    return isinstance(tools, list) and all(isinstance(t, dict) and set(t) == names for t in tools)
