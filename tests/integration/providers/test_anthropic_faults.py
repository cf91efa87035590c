"""Every way a Messages API server can fail, over real HTTP and through the real SDK."""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import Any

import pytest
from messages_api import MessagesApi
from provider_turns import KEY, MODEL, Serve, pieces_of, provider_for, request, shown

from vitto_jupyter.errors import ProviderError
from vitto_jupyter.providers.anthropic import AnthropicProvider
from vitto_jupyter.providers.base import Answer, Message, TextPiece, ToolInputPiece
from vitto_jupyter.settings import Settings

SAID = "one two three four five six seven eight nine ten"
TURN: dict[str, Any] = {
    "blocks": [
        {"type": "text", "text": SAID},
        {"type": "tool_use", "name": "edit", "input": {"cell": "a1", "source": "x = 1"}},
    ]
}


def faulty(**fault: Any) -> dict[str, Any]:
    return {**TURN, "fault": fault}


async def error_of(provider: AnthropicProvider) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await pieces_of(provider)
    return caught.value


@pytest.mark.parametrize(
    ("fault", "code", "retryable"),
    [
        ({"status": 400, "message": "messages: something is off"}, "invalid_request", False),
        ({"status": 400, "message": "prompt is too long: 9 tokens > 8"}, "context_too_long", False),
        ({"status": 401, "message": "invalid x-api-key"}, "bad_key", False),
        ({"status": 402}, "billing", False),
        ({"status": 403}, "no_permission", False),
        ({"status": 404, "message": f"model: {MODEL}"}, "model_not_found", False),
        ({"status": 404, "body": "<h1>Nothing here</h1>"}, "not_an_api", False),
        ({"status": 413}, "too_large", False),
        ({"status": 429, "retry_after": 3}, "rate_limited", True),
        ({"status": 500}, "server_error", True),
        ({"status": 502, "body": "<html>Bad gateway</html>"}, "server_error", True),
        ({"status": 529}, "overloaded", True),
        ({"status": 529, "headers": {"x-should-retry": "false"}}, "overloaded", False),
    ],
)
async def test_an_error_answer_is_told_in_words(
    serve: Serve, fault: dict[str, Any], code: str, retryable: bool
):
    server = serve(faulty(kind="http", **fault))
    error = await error_of(provider_for(server))
    assert (error.code, error.retryable) == (code, retryable)
    assert error.retry_after_s == fault.get("retry_after")
    assert f"127.0.0.1:{server.port}" in error.message or MODEL in error.message
    assert error.hint


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ({"kind": "error_event", "after_events": 4}, "overloaded"),
        ({"kind": "error_event", "after_events": 4, "type": "api_error"}, "server_error"),
        ({"kind": "cut", "after_events": 0}, "cut"),
        ({"kind": "cut", "after_events": 6}, "cut"),
        ({"kind": "cut", "after_events": 6, "half_event": True}, "cut"),
        ({"kind": "cut", "after_events": 6, "rst": True}, "cut"),
        ({"kind": "end_early", "after_events": 6}, "cut"),
        ({"kind": "stall", "after_events": 6, "seconds": 30}, "silent"),
        ({"kind": "delay", "seconds": 30}, "silent"),
        ({"kind": "malformed", "how": "bad_json"}, "unreadable"),
        ({"kind": "malformed", "how": "empty_body"}, "cut"),
    ],
    ids=lambda value: "-".join(map(str, value.values())) if isinstance(value, dict) else value,
)
async def test_a_stream_that_fails_is_an_error_that_may_be_retried(
    serve: Serve, fault: dict[str, Any], code: str
):
    server = serve(faulty(**fault, times=1))
    provider = provider_for(server, silence_s=1.0 if code == "silent" else 20.0)
    error = await error_of(provider)
    assert (error.code, error.retryable) == (code, True)
    # nothing of the broken attempt is left behind: the same request then succeeds
    answer = (await pieces_of(provider))[-1]
    assert isinstance(answer, Answer)
    assert answer.stop_reason == "tool_use"


async def test_a_page_instead_of_a_stream_is_no_messages_api(serve: Serve):
    error = await error_of(provider_for(serve(faulty(kind="malformed", how="html"))))
    assert (error.code, error.retryable) == ("not_an_api", False)
    assert "Bad gateway" in error.message


async def test_an_error_with_a_good_status_is_still_an_error(serve: Serve):
    body = '{"error": {"type": "overloaded_error", "message": "busy"}}'
    fault = {"kind": "http", "status": 200, "body": body, "content_type": "application/json"}
    error = await error_of(provider_for(serve(faulty(**fault))))
    assert (error.code, error.retryable) == ("overloaded", True)


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "malformed", "how": "unknown_event"},
        {"kind": "malformed", "how": "unknown_delta"},
        {"kind": "malformed", "how": "no_message_start"},
        {"kind": "malformed", "how": "crlf"},
        {"kind": "malformed", "how": "duplicate_ping"},
        {"kind": "trickle", "bytes": 37, "ms": 0},
        {"kind": "stall", "after_events": 6, "seconds": 2, "pings": True, "ping_every": 0.2},
    ],
    ids=lambda fault: fault.get("how", fault["kind"]),
)
async def test_oddities_that_do_no_harm_change_nothing(serve: Serve, fault: dict[str, Any]):
    pieces = await pieces_of(provider_for(serve(faulty(**fault)), silence_s=1.5))
    answer = pieces[-1]
    assert isinstance(answer, Answer)
    assert shown(pieces, TextPiece) == SAID
    assert shown(pieces, ToolInputPiece) == '{"cell": "a1", "source": "x = 1"}'
    assert answer.content[0] == {"type": "text", "text": SAID}
    assert answer.content[1]["input"] == {"cell": "a1", "source": "x = 1"}


async def test_input_that_is_not_json_is_handed_over_as_text(serve: Serve):
    answer = (await pieces_of(provider_for(serve(faulty(kind="malformed", how="bad_tool_json")))))[
        -1
    ]
    assert isinstance(answer, Answer)
    call = answer.content[1]
    assert call["input"] == {}
    assert answer.invalid_inputs == {call["id"]: '{{{"cell": "a1", "source": "x = 1"}'}


async def test_a_call_that_runs_into_the_output_limit_is_not_taken_for_whole(serve: Serve):
    long_input = {"source": "x" * 200_000}
    server = serve({"blocks": [{"type": "tool_use", "name": "edit", "input": long_input}],
                    "tokens_per_delta": 5_000})  # fmt: skip
    answer = (await pieces_of(provider_for(server)))[-1]
    assert isinstance(answer, Answer)
    assert answer.stop_reason == "max_tokens"
    assert list(answer.invalid_inputs) == [answer.content[0]["id"]]
    assert answer.content[0]["input"] == {}


async def test_a_refusal_says_why(serve: Serve):
    server = serve(
        {"blocks": [], "stop_reason": "refusal", "stop_details": {"explanation": "Not that."}}
    )
    answer = (await pieces_of(provider_for(server)))[-1]
    assert isinstance(answer, Answer)
    assert (answer.stop_reason, answer.stop_detail) == ("refusal", "Not that.")


async def test_a_server_that_is_not_there_is_named():
    with socket.socket() as taken:  # bound but not listening: connections are refused
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        error = await error_of(
            AnthropicProvider(Settings(base_url=f"http://me:pw@127.0.0.1:{port}"))
        )
    assert (error.code, error.retryable) == ("unreachable", True)
    assert f"127.0.0.1:{port}" in error.message
    assert "pw" not in error.message + error.hint


async def test_text_that_cannot_be_encoded_is_no_fault_of_the_server(serve: Serve):
    wanted = request(Message("user", ({"type": "text", "text": "half \ud800"},)))
    with pytest.raises(ProviderError) as caught:
        await pieces_of(provider_for(serve(TURN)), wanted)
    assert (caught.value.code, caught.value.retryable) == ("invalid_request", False)


async def test_the_key_is_in_no_message_and_no_log(serve: Serve, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    server = serve(faulty(kind="http", status=401, message=f"Incorrect API key: {KEY}"))
    error = await error_of(provider_for(server))
    try:
        raise error
    except ProviderError:
        logging.getLogger(__name__).exception("the turn failed")
    assert error.code == "bad_key"
    assert KEY not in error.message + error.hint + caplog.text


def client_has_gone(server: MessagesApi) -> bool:
    return bool(server.calls()[-1]["client_closed"])


async def test_closing_the_stream_closes_the_connection(serve: Serve):
    server = serve({"blocks": [{"type": "text", "words": 500}], "tokens_per_s": 50})
    stream = provider_for(server).stream(request())
    await anext(stream)
    await stream.aclose()
    await asyncio.to_thread(server.wait, client_has_gone)


async def test_cancelling_the_reader_closes_the_connection(serve: Serve):
    server = serve({"blocks": [{"type": "text", "words": 50}], "ttft_ms": 60_000})
    provider = provider_for(server)
    await provider.models()
    task = asyncio.create_task(pieces_of(provider))
    await asyncio.to_thread(server.wait, MessagesApi.calls)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(server.wait, client_has_gone)


async def test_a_finished_answer_leaves_a_connection_that_is_used_again(serve: Serve):
    server = serve({"blocks": [{"type": "text", "text": "a"}], "repeat": 3})
    provider = provider_for(server)
    for _ in range(3):
        await pieces_of(provider)
    assert len({record["peer"] for record in server.calls()}) == 1
