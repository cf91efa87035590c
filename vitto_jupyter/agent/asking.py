"""One request to the model: shown while it streams, sent again after faults that may pass."""

from __future__ import annotations

import asyncio
import logging
import random
from contextlib import aclosing

from ..errors import ProviderError
from ..protocol.events import ModelRequested, Notice, TextDelta, ThinkingDelta, ToolInputDelta
from ..providers.base import (
    Answer,
    ModelRequest,
    Piece,
    Provider,
    TextPiece,
    ThinkingPiece,
    ToolInputPiece,
)
from .ports import Clock, EventSink
from .retries import retry_delay_s
from .texts import clean

_log = logging.getLogger(__name__)
SLICE_S = 0.005


async def ask_model(
    request: ModelRequest,
    *,
    number: int,
    provider: Provider,
    sink: EventSink,
    clock: Clock,
    max_retries: int,
) -> Answer:
    """The answer to `request`, the turn's `number`-th. Nothing of a broken attempt is kept.

    Raises:
        ProviderError: it failed for good; the message says how often it was tried.
    """
    waited_s = 0.0
    attempt = 0
    while True:
        attempt += 1
        await sink.emit(ModelRequested(request=number, attempt=attempt))
        try:
            return await _stream(request, provider, sink)
        except ProviderError as err:
            fault = err
        delay_s = retry_delay_s(
            fault,
            failures=attempt,
            max_retries=max_retries,
            waited_s=waited_s,
            jitter=random.random(),
        )
        if delay_s is None:
            raise _given_up(fault, attempt) from fault
        _log.warning("request %s failed, again in %.1f s: %s", number, delay_s, fault.code)
        await sink.emit(
            Notice(
                level="warning",
                code="retrying",
                text=fault.message,
                retry_at=clock.now_iso(after_s=delay_s),
            )
        )
        await clock.sleep(delay_s)
        waited_s += delay_s


async def _stream(request: ModelRequest, provider: Provider, sink: EventSink) -> Answer:
    loop = asyncio.get_running_loop()
    yielded_at = loop.time()
    async with aclosing(provider.stream(request)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Answer):
                return piece
            await _show(piece, sink)
            if loop.time() - yielded_at > SLICE_S:
                # a stream that never waits must not keep the server from its work
                await asyncio.sleep(0)
                yielded_at = loop.time()
    raise ProviderError("The model's answer broke off.", code="stream_cut", retryable=True)


async def _show(piece: Piece, sink: EventSink) -> None:
    match piece:
        case TextPiece(text=text) if text:
            await sink.emit(TextDelta(text=clean(text)))
        case ThinkingPiece(text=text) if text:
            await sink.emit(ThinkingDelta(text=clean(text)))
        case ToolInputPiece():
            await sink.emit(
                ToolInputDelta(
                    tool_call_id=piece.tool_call_id,
                    name=piece.name,
                    partial_json=clean(piece.partial_json),
                )
            )


def _given_up(err: ProviderError, attempts: int) -> ProviderError:
    tried = f" It was tried {attempts} times." if attempts > 1 else ""
    later = "Your prompt is kept: send “go on” to try again, now or in some minutes."
    return ProviderError(
        f"{err.message}{tried}",
        code=err.code,
        hint=err.hint or (later if err.retryable else ""),
        retryable=err.retryable,
        retry_after_s=err.retry_after_s,
    )
