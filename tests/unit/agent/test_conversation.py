"""The conversation is append-only, on disk first, and valid after a crash."""

from __future__ import annotations

import asyncio

import pytest

from vitto_jupyter.agent.conversation import INTERRUPTED, Conversation, open_calls
from vitto_jupyter.errors import StorageFailed
from vitto_jupyter.providers.base import Message, ToolSpec
from vitto_jupyter.testing.doubles import MemoryStore
from vitto_jupyter.testing.requests import check_messages

PROMPT = Message("user", ({"type": "text", "text": "Go."},))


def tool_use(tool_call_id: str) -> dict:
    return {"type": "tool_use", "id": tool_call_id, "name": "look", "input": {}}


def tool_result(tool_call_id: str) -> dict:
    return {"type": "tool_result", "tool_use_id": tool_call_id, "content": []}


def conversation_of(*messages: Message) -> tuple[Conversation, MemoryStore]:
    store = MemoryStore.of(messages)
    return Conversation(system="s", tools=(), store=store, messages=messages), store


async def test_message_is_stored_before_it_counts() -> None:
    conversation, store = conversation_of()
    await conversation.append(PROMPT)
    assert store.messages == [PROMPT] == list(conversation.messages)


async def test_blocks_stay_the_very_objects_that_came() -> None:
    block = {"type": "redacted_thinking", "data": "x", "unknown_field": [1, {"a": None}]}
    conversation, store = conversation_of(PROMPT)
    await conversation.append(Message("assistant", (block,)))
    assert conversation.messages[-1].content[0] is block
    assert store.messages[-1].content[0] is block


async def test_failed_write_adds_nothing_and_says_what_to_do() -> None:
    conversation, store = conversation_of()
    store.fault = OSError(28, "No space left on device")
    with pytest.raises(StorageFailed) as caught:
        await conversation.append(PROMPT)
    assert conversation.messages == ()
    assert "No space left on device" in caught.value.message
    assert "Free space" in caught.value.hint


async def test_cancelled_append_is_whole_in_store_and_memory() -> None:
    gate = asyncio.Event()

    class SlowStore(MemoryStore):
        async def append(self, messages) -> None:
            await gate.wait()
            await super().append(messages)

    store = SlowStore()
    conversation = Conversation(system="s", tools=(), store=store)
    task = asyncio.create_task(conversation.append(PROMPT))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    gate.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert store.messages == list(conversation.messages) == [PROMPT]


async def test_repair_answers_every_call_that_a_crash_left_open() -> None:
    answer = Message("assistant", (tool_use("a"), tool_use("b")))
    conversation, store = conversation_of(PROMPT, answer)
    assert await conversation.repair() == ("a", "b")
    check_messages(conversation.messages)
    last = store.messages[-1]
    assert [block["tool_use_id"] for block in last.content] == ["a", "b"]
    assert all(block["is_error"] for block in last.content)
    assert last.content[0]["content"][0]["text"] == INTERRUPTED
    assert "may or may not have run" in INTERRUPTED


async def test_repair_changes_nothing_when_all_calls_have_results() -> None:
    messages = (
        PROMPT,
        Message("assistant", (tool_use("a"),)),
        Message("user", (tool_result("a"),)),
    )
    conversation, store = conversation_of(*messages)
    assert await conversation.repair() == ()
    assert store.messages == list(messages)


def test_open_calls_are_those_without_result() -> None:
    messages = [
        PROMPT,
        Message("assistant", (tool_use("a"), tool_use("b"))),
        Message("user", (tool_result("a"),)),
    ]
    assert open_calls(messages) == ("b",)


def test_prefix_is_frozen_at_construction() -> None:
    tools = [ToolSpec("look", "", {})]
    conversation = Conversation(system="s", tools=tools, store=MemoryStore())
    tools.clear()
    assert [tool.name for tool in conversation.tools] == ["look"]
