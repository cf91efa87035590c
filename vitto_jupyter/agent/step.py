"""A step: all tool calls of one answer, run, recorded and answered together."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from itertools import groupby

from ..protocol.base import JsonObject
from ..protocol.events import ToolFinished, ToolRequested
from ..protocol.tool import ToolResult
from ..providers.base import Message
from ..tools.base import failed
from .answers import Call
from .calls import CallPorts, effect_of, run_call
from .completion import side_by_side, to_completion
from .conversation import Conversation, open_calls
from .failures import RepeatedFailures
from .results import result_block

MAX_SIDE_BY_SIDE = 8

_LOOK = "What it did up to then stays done; look at what is there before you repeat it."
_STOPPED = {  # by (stopped by the user, had started)
    (True, False): "Not run: the user stopped the turn before this call began.",
    (True, True): f"Stopped by the user while it ran. {_LOOK}",
    (False, False): "Not run: the turn broke off before this call began.",
    (False, True): f"The turn broke off while this call ran. {_LOOK}",
}


class Step:
    """The calls of one answer and their results so far.

    Call `run` or `refuse`, once; then `gave_up` tells whether the model kept repeating a call
    that fails.
    """

    def __init__(self, calls: Sequence[Call], ports: CallPorts, failures: RepeatedFailures) -> None:
        self.gave_up = False
        self._calls = calls
        self._ports = ports
        self._failures = failures
        self._results: dict[str, ToolResult] = {}
        self._started: set[str] = set()

    async def run(self, conversation: Conversation, answer: Message) -> None:
        """Put `answer` into the conversation, run its calls, put their results there.

        However it ends, a call in the conversation has a result there: what came of it, or
        that it was stopped.
        """
        try:
            await conversation.append(answer)
            await self._announce()
            await self._run_groups()
        except BaseException as err:  # noqa: BLE001 it is raised again
            try:
                by_user = isinstance(err, asyncio.CancelledError)
                await to_completion(self._close(conversation, by_user=by_user))
            finally:
                raise err  # a failure to close must not hide it, a cancellation least of all
        await conversation.append(self._answer_all())

    async def refuse(
        self, conversation: Conversation, answer: Message, *, why: str, request: str = ""
    ) -> None:
        """Put `answer` into the conversation and answer its calls, unrun, with `why`.

        `request` follows as text, to tell the model how to go on.
        """
        self._results = {call.tool_call_id: failed(why) for call in self._calls}
        said: tuple[JsonObject, ...] = ({"type": "text", "text": request},) if request else ()
        reply = Message("user", (*self._answer_all().content, *said))
        await conversation.append(*(m for m in (answer, reply) if m.content))
        await self._announce()
        for call in self._calls:
            await self._show_result(call)

    async def _announce(self) -> None:
        for call in self._calls:
            await self._ports.sink.emit(
                ToolRequested(
                    tool_call_id=call.tool_call_id,
                    name=call.name,
                    input=call.input,
                    effect=effect_of(call, self._ports.toolset),
                )
            )

    async def _run_groups(self) -> None:
        slots = asyncio.Semaphore(MAX_SIDE_BY_SIDE)
        for group in self._groups():
            await side_by_side(self._run_in(slots, call) for call in group)

    def _groups(self) -> Iterator[list[Call]]:
        """Neighbouring reads together, every other call alone: the order of effects is kept."""
        toolset = self._ports.toolset
        for is_read, calls in groupby(self._calls, lambda c: effect_of(c, toolset) == "read"):
            if is_read:
                yield list(calls)
            else:
                yield from ([call] for call in calls)

    async def _run_in(self, slots: asyncio.Semaphore, call: Call) -> None:
        async with slots:
            self._results[call.tool_call_id] = await self._result_of(call)
            await to_completion(self._show_result(call))

    async def _result_of(self, call: Call) -> ToolResult:
        if self._failures.exhausted(call):
            self.gave_up = True
            return failed("Not run: this same call has failed too often in this turn.")
        result = await run_call(
            call, self._ports, on_started=lambda: self._started.add(call.tool_call_id)
        )
        return self._failures.count(call, result, effect_of(call, self._ports.toolset))

    async def _show_result(self, call: Call) -> None:
        result = self._results[call.tool_call_id]
        await self._ports.sink.emit(ToolFinished(tool_call_id=call.tool_call_id, result=result))

    def _answer_all(self) -> Message:
        """The results of all calls, in the order of the calls."""
        return Message(
            "user",
            tuple(
                result_block(call.tool_call_id, self._results[call.tool_call_id])
                for call in self._calls
            ),
        )

    async def _close(self, conversation: Conversation, *, by_user: bool) -> None:
        """Answer what is still open; the conversation first, it must be valid whatever follows."""
        if not open_calls(conversation.messages):
            return  # the answer itself never got there
        stopped = [call for call in self._calls if call.tool_call_id not in self._results]
        for call in stopped:
            why = _STOPPED[by_user, call.tool_call_id in self._started]
            self._results[call.tool_call_id] = failed(why, cancelled=True)
        await conversation.append(self._answer_all())
        for call in stopped:
            await self._show_result(call)
