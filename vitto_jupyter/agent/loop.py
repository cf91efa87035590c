"""The agent loop: from a prompt to an outcome. asyncio and values only.

Imported by services. The caller emits turn.started and turn.finished; the loop everything
between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import ProviderError, StorageFailed
from ..protocol.base import JsonObject
from ..protocol.events import FinishReason, Mode, Notice, UsageUpdated
from ..providers.base import Answer, Message, ModelRequest, Provider, TokenUsage
from ..settings import Settings
from ..tools.toolset import Toolset
from . import outcomes
from .answers import ReadAnswer, read_answer
from .asking import ask_model
from .calls import CallPorts, MakeContext
from .context import turn_note, user_message
from .conversation import Conversation, call_ids
from .failures import RepeatedFailures
from .guard import NO_GUARD, Guard
from .outcomes import Outcome
from .ports import Approver, Asker, Clock, EventSink
from .step import Step

MAX_CUTS = 2
_CUT_OFF = "Not run: your answer was cut off at the output limit while it wrote this call."
_CUT_GO_ON = (
    "Your answer was cut off at the output limit. Go on from where it stopped, in smaller "
    "pieces: shorter text, and several small calls in place of a large one."
)
_NOT_HANDED_OVER = "Not run: your answer ended without handing over to tools. Send the call again."


async def run_turn(
    *,
    conversation: Conversation,
    prompt: Sequence[JsonObject],
    context: str,
    provider: Provider,
    model: str,
    effort: str | None,
    toolset: Toolset,
    make_context: MakeContext,
    mode: Mode,
    approver: Approver,
    sink: EventSink,
    clock: Clock,
    settings: Settings,
    previous: FinishReason | None = None,
    guard: Guard = NO_GUARD,
    asker: Asker | None = None,
) -> Outcome:
    """Run one turn to its end; afterwards the conversation takes the next prompt, always.

    Args:
        prompt: Blocks of the user message, see `context.prompt_blocks`.
        context: The `<context>` text in front of it, see `context.context_text`; may be "".
        make_context: Makes the ToolContext of a call around the sink of its live output.
        previous: How the session's last turn ended, when known: the model is told of a turn
            that got no full answer.
        guard: What is kept apart from the model and from the tools.
        asker: Takes the questions of calls to the user; None: nobody is there to answer.

    Returns:
        "done", "limit" or "error", with words for a person unless "done".

    Raises:
        asyncio.CancelledError: the task was cancelled; all calls have a result by then.
    """
    turn = _Turn(
        conversation=conversation,
        model=_Model(provider, model, effort),
        calls=CallPorts(
            toolset=toolset,
            make_context=make_context,
            mode=mode,
            approver=approver,
            sink=sink,
            settings=settings,
            guard=guard,
            asker=asker,
        ),
        clock=clock,
    )
    try:
        await conversation.repair()
        note = turn_note(conversation.messages, previous=previous, mode=mode)
        await conversation.append(user_message(prompt, context=context, note=note))
        return await turn.run()
    except (ProviderError, StorageFailed) as err:
        return outcomes.failure(err)


@dataclass(frozen=True, slots=True)
class _Model:
    provider: Provider
    name: str
    effort: str | None


class _Turn:
    """The state of a running turn."""

    def __init__(
        self, *, conversation: Conversation, model: _Model, calls: CallPorts, clock: Clock
    ) -> None:
        self._conversation = conversation
        self._model = model
        self._calls = calls
        self._clock = clock
        self._sink = calls.sink
        self._settings = calls.settings
        self._failures = RepeatedFailures(calls.settings.max_same_failure)
        self._usage = TokenUsage()
        self._cuts = 0

    async def run(self) -> Outcome:
        limit = self._settings.max_requests_per_turn
        for number in range(1, limit + 1):
            answer = await self._ask(number)
            await self._add_usage(answer.usage)
            outcome = await self._take(answer)
            if outcome is not None:
                return outcome
        return outcomes.too_many_requests(limit)

    async def _ask(self, number: int) -> Answer:
        request = ModelRequest(
            model=self._model.name,
            system=self._conversation.system,
            tools=self._conversation.tools,
            messages=self._conversation.messages,
            effort=self._model.effort,
        )
        return await ask_model(
            request,
            number=number,
            provider=self._model.provider,
            sink=self._sink,
            clock=self._clock,
            max_retries=self._settings.max_retries,
        )

    async def _add_usage(self, usage: TokenUsage) -> None:
        total = self._usage
        self._usage = TokenUsage(
            input_tokens=total.input_tokens + usage.input_tokens,
            output_tokens=total.output_tokens + usage.output_tokens,
            cache_read_tokens=total.cache_read_tokens + usage.cache_read_tokens,
            cache_write_tokens=total.cache_write_tokens + usage.cache_write_tokens,
        )
        await self._sink.emit(
            UsageUpdated(
                input_tokens=self._usage.input_tokens,
                output_tokens=self._usage.output_tokens,
                cache_read_tokens=self._usage.cache_read_tokens,
                cache_write_tokens=self._usage.cache_write_tokens,
            )
        )

    async def _take(self, answer: Answer) -> Outcome | None:
        """Act on a complete answer; None means that the model is to be asked again."""
        read = read_answer(answer, taken=call_ids(self._conversation.messages))
        match answer.stop_reason:
            case "tool_use" if read.calls:
                return await self._run_calls(read)
            case "end_turn" | "stop_sequence" | "tool_use" | "pause_turn" if read.calls:
                return await self._refuse_unhanded(read)
            case "end_turn" | "stop_sequence" | "tool_use":
                return await self._end(read)
            case "pause_turn":
                await self._keep(read)  # sent back as it is, the model goes on from there
                return None
            case "max_tokens":
                return await self._go_on_after_cut(read)
            case "model_context_window_exceeded":
                await self._keep(read, why=_CUT_OFF)
                return outcomes.context_full()
            case "refusal":
                # kept out of the conversation: with it there, later requests are refused too
                return outcomes.refused(answer.stop_detail)
        await self._keep(read, why=_NOT_HANDED_OVER)
        return outcomes.unknown_stop(answer.stop_reason)

    async def _run_calls(self, read: ReadAnswer) -> Outcome | None:
        step = Step(read.calls, self._calls, self._failures)
        await step.run(self._conversation, Message("assistant", read.content))
        return outcomes.same_failure() if step.gave_up else None

    async def _refuse_unhanded(self, read: ReadAnswer) -> Outcome | None:
        """Calls run on "tool_use" alone: with any other reason they may be incomplete."""
        self._cuts += 1
        await self._keep(read, why=_NOT_HANDED_OVER)
        return outcomes.never_handed_over() if self._cuts > MAX_CUTS else None

    async def _end(self, read: ReadAnswer) -> Outcome:
        if not read.content:
            await self._notify("empty_answer", "The model gave an empty answer.")
        await self._keep(read)
        return outcomes.DONE

    async def _go_on_after_cut(self, read: ReadAnswer) -> Outcome | None:
        self._cuts += 1
        if self._cuts > MAX_CUTS:
            await self._keep(read, why=_CUT_OFF)
            return outcomes.cut_too_often()
        await self._keep(read, why=_CUT_OFF, request=_CUT_GO_ON)
        await self._notify("cut_off", "The answer reached the output limit; it goes on.")
        return None

    async def _keep(self, read: ReadAnswer, *, why: str = "", request: str = "") -> None:
        """Put an answer into the conversation; its calls, if any, are answered with `why`."""
        step = Step(read.calls, self._calls, self._failures)
        message = Message("assistant", read.content)
        await step.refuse(self._conversation, message, why=why, request=request)

    async def _notify(self, code: str, text: str) -> None:
        await self._sink.emit(Notice(level="info", code=code, text=text))
