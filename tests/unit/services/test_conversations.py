"""Conversations on disk: byte for byte, and readable after any cut."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from vitto_jupyter.errors import StorageFailed
from vitto_jupyter.providers.base import Message, ToolSpec
from vitto_jupyter.services import session_files
from vitto_jupyter.services.conversations import ConversationFile

TOOLS = (ToolSpec("look", "Looks.", {"type": "object", "properties": {"a": {}}}, True),)
MESSAGES = (
    Message("user", ({"type": "text", "text": "Hi ü 🙂 \u2028"},)),
    Message("assistant", ({"type": "thinking", "thinking": "Hm", "signature": "s=="},)),
)


async def stored(folder: Path) -> ConversationFile:
    file = ConversationFile(folder)
    file.create(system="Be brief.", tools=TOOLS)
    await file.append(MESSAGES)
    return file


def put_aside_in(folder: Path) -> bytes:
    (aside,) = folder.glob("conversation.jsonl.damaged-*")
    return aside.read_bytes()


async def test_what_was_stored_comes_back(tmp_path: Path) -> None:
    await stored(tmp_path)
    found = ConversationFile(tmp_path).open()
    assert (found.system, found.tools, found.messages) == ("Be brief.", TOOLS, MESSAGES)


async def test_more_is_added_after_reopening(tmp_path: Path) -> None:
    await stored(tmp_path)
    file = ConversationFile(tmp_path)
    file.open()
    await file.append(MESSAGES[:1])
    assert ConversationFile(tmp_path).open().messages == (*MESSAGES, MESSAGES[0])


async def test_half_a_surrogate_pair_survives(tmp_path: Path) -> None:
    file = await stored(tmp_path)
    await file.append([Message("user", ({"type": "text", "text": "\ud83d"},))])
    assert ConversationFile(tmp_path).open().messages[-1].content[0]["text"] == "\ud83d"


async def test_a_file_cut_at_any_byte_keeps_its_complete_messages(tmp_path: Path) -> None:
    await stored(tmp_path)
    path = tmp_path / "conversation.jsonl"
    content = path.read_bytes()
    for cut in range(len(content) + 1):
        path.write_bytes(content[:cut])
        found = ConversationFile(tmp_path).open()
        lines = content[:cut].count(b"\n")
        assert (found is None) == (lines == 0)
        assert found is None or found.messages == MESSAGES[: lines - 1]


async def test_a_changed_byte_costs_what_follows_and_nothing_is_taken_for_something_else(
    tmp_path: Path,
) -> None:
    await stored(tmp_path)
    path = tmp_path / "conversation.jsonl"
    content = path.read_bytes()
    for position in range(len(content)):
        changed = bytearray(content)
        changed[position] ^= 0x01
        path.write_bytes(changed)
        found = ConversationFile(tmp_path).open()
        line = content[:position].count(b"\n")
        if line == 0:
            assert found is None
        else:
            assert found is not None and found.messages == MESSAGES[: line - 1]


async def test_what_is_damaged_is_put_aside(tmp_path: Path) -> None:
    await stored(tmp_path)
    path = tmp_path / "conversation.jsonl"
    lines = path.read_bytes().split(b"\n")
    lines[1] = b'{"role": "user", "con'
    path.write_bytes(b"\n".join(lines))
    assert ConversationFile(tmp_path).open().messages == ()
    assert put_aside_in(tmp_path) == b"\n".join(lines[1:])


async def test_a_full_disk_adds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = await stored(tmp_path)

    def refuse(descriptor: int, content) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(session_files.os, "write", refuse)
        with pytest.raises(StorageFailed):
            await file.append(MESSAGES[:1])
    assert ConversationFile(tmp_path).open().messages == MESSAGES


async def test_a_closed_file_takes_nothing_more(tmp_path: Path) -> None:
    file = await stored(tmp_path)
    file.close()
    with pytest.raises(StorageFailed):
        await file.append(MESSAGES)
    assert ConversationFile(tmp_path).open().messages == MESSAGES
