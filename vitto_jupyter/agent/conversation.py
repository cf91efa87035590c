"""The conversation: what the model has seen, append-only. Imported by agent and services.

Blocks stay as they came, thinking signatures included: recent models refuse a request whose
earlier part was rewritten (ARCHITECTURE decision 10).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..errors import StorageFailed
from ..protocol.base import JsonObject
from ..providers.base import Message, ToolSpec
from .completion import to_completion
from .ports import ConversationStore

INTERRUPTED = (
    "Interrupted: the server stopped while this call was open. It may or may not have run, in "
    "whole or in part. Look at what is there before you repeat it."
)


class Conversation:
    """A frozen prefix (`system`, `tools`) and the messages so far; used by one turn at a time.

    Args:
        messages: What the store holds already.
        store: Takes every further message before it counts here.
    """

    def __init__(
        self,
        *,
        system: str,
        tools: Sequence[ToolSpec],
        store: ConversationStore,
        messages: Iterable[Message] = (),
    ) -> None:
        self.system = system
        self.tools = tuple(tools)
        self._messages = list(messages)
        self._store = store

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(self._messages)

    async def append(self, *messages: Message) -> None:
        """Add messages at the end, on disk first; a cancellation waits until they are there.

        Raises:
            StorageFailed: nothing was added.
        """
        if messages:
            await to_completion(self._append(messages))

    async def _append(self, messages: Sequence[Message]) -> None:
        try:
            await self._store.append(messages)
        except OSError as err:
            raise StorageFailed(
                f"The conversation could not be saved: {err.strerror or err}."
            ) from err
        self._messages.extend(messages)

    async def repair(self) -> tuple[str, ...]:
        """Answer the calls that a crash left open, so that the next request is valid.

        Returns:
            The ids of the calls that were open.
        """
        open_ids = open_calls(self._messages)
        if open_ids:
            blocks = tuple(_interrupted(tool_call_id) for tool_call_id in open_ids)
            await self.append(Message("user", blocks))
        return open_ids


def open_calls(messages: Iterable[Message]) -> tuple[str, ...]:
    """The ids of tool calls without a result, in order."""
    found: dict[str, None] = {}
    for message in messages:
        for block in message.content:
            if block.get("type") == "tool_use":
                found[str(block.get("id"))] = None
            elif block.get("type") == "tool_result":
                found.pop(str(block.get("tool_use_id")), None)
    return tuple(found)


def call_ids(messages: Iterable[Message]) -> frozenset[str]:
    """The ids of all tool calls."""
    return frozenset(
        str(block.get("id"))
        for message in messages
        for block in message.content
        if block.get("type") == "tool_use"
    )


def _interrupted(tool_call_id: str) -> JsonObject:
    return {
        "type": "tool_result",
        "tool_use_id": tool_call_id,
        "content": [{"type": "text", "text": INTERRUPTED}],
        "is_error": True,
    }
