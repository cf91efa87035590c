"""Error answers in words for a person: codes, what may be retried, and never a key."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from vitto_jupyter.providers.anthropic_errors import (
    Blame,
    Refusal,
    code_of,
    refusal_of,
    retry_after_s,
)

BLAME = Blame("api.example.org", secrets=("s3cret-value",))


def body(type: str, message: str) -> dict[str, object]:
    return {"type": "error", "error": {"type": type, "message": message}}


@pytest.mark.parametrize(
    ("status", "type", "said", "code", "retryable"),
    [
        (401, "authentication_error", "invalid x-api-key", "bad_key", False),
        (402, "billing_error", "", "billing", False),
        (400, "invalid_request_error", "Your credit balance is too low", "billing", False),
        (403, "permission_error", "", "no_permission", False),
        (404, "not_found_error", "model: claude-9", "model_not_found", False),
        (404, "not_found_error", "model 'x' not found", "model_not_found", False),
        (404, "", "<h1>File not found</h1>", "not_an_api", False),
        (413, "request_too_large", "", "too_large", False),
        (429, "rate_limit_error", "", "rate_limited", True),
        (529, "overloaded_error", "", "overloaded", True),
        (500, "api_error", "", "server_error", True),
        (502, "", "<html>Bad gateway</html>", "server_error", True),
        (503, "", "", "server_error", True),
        (504, "timeout_error", "", "timeout", True),
        (408, "", "", "timeout", True),
        (400, "invalid_request_error", "tools.0: bad", "invalid_request", False),
        (422, "", "nope", "invalid_request", False),
        (400, "invalid_request_error", "prompt is too long: 9 > 8", "context_too_long", False),
        (400, "", "the request exceeds the available context size", "context_too_long", False),
        (400, "exceed_context_size_error", "", "context_too_long", False),
        (400, "", "Invalid `signature` in `thinking` block.", "foreign_thinking", False),
        (None, "overloaded_error", "Overloaded", "overloaded", True),
        (None, "rate_limit_error", "", "rate_limited", True),
        (None, "what_is_this", "", "server_error", True),
    ],
)
def test_error_answers_are_told_apart(
    status: int | None, type: str, said: str, code: str, retryable: bool
):
    refusal = Refusal(status, type=type, said=said)
    assert code_of(refusal) == code
    error = BLAME.refused(refusal, model="claude-9")
    assert (error.code, error.retryable) == (code, retryable)
    assert error.message and error.hint


def test_a_message_names_the_host_the_model_and_what_the_server_said():
    error = BLAME.refused(refusal_of(404, body("not_found_error", "model: m9"), {}), model="m9")
    assert error.message == 'api.example.org does not offer the model "m9". It says: model: m9'


@pytest.mark.parametrize(
    "said",
    [
        "Incorrect API key provided: sk-ant-api03-AbC123_dEf-456",
        "bad key sk-****cdef",
        "header was Authorization: Bearer abcdef12345",
        "the key s3cret-value is not known",
        "unknown key 0123456789abcdef0123456789abcdef",
    ],
)
def test_a_key_that_the_server_repeats_is_not_shown(said: str):
    error = BLAME.refused(Refusal(401, said=said), model="")
    for key in ("AbC123", "cdef", "abcdef12345", "s3cret", "0123456789abcdef"):
        assert key not in error.message
    assert "…" in error.message


def test_a_page_of_html_is_shown_as_one_short_line():
    said = "<html>\n<title>Bad gateway</title>" + "<p>more</p>\n" * 200
    message = BLAME.refused(refusal_of(502, said, {}), model="").message
    assert message.startswith(
        "api.example.org had an error of its own (HTTP 502). It says: Bad gateway more more"
    )
    assert len(message) < 400


def test_the_server_has_the_last_word_on_retries():
    no = refusal_of(529, body("overloaded_error", ""), {"x-should-retry": "false"})
    yes = refusal_of(400, body("invalid_request_error", ""), {"x-should-retry": "true"})
    assert not BLAME.refused(no, model="").retryable
    assert BLAME.refused(yes, model="").retryable


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "?"}, None),
    ],
)
def test_the_wish_to_wait_is_read(headers: dict[str, str], seconds: float | None):
    now = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
    assert retry_after_s(headers, now=now) == seconds


@pytest.mark.parametrize("shape", [{"error": "plain words"}, {"message": "plain words"}])
def test_errors_in_other_shapes_are_read(shape: dict[str, str]):
    assert refusal_of(400, shape, {}).said == "plain words"
