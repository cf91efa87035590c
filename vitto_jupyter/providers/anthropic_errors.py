"""What goes wrong with a Messages API server, in words for a person. Pure; used by anthropic.py.

Messages name the host, never the key: what the server said is cleaned before it is shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from ..errors import ProviderError

_SECRET = re.compile(
    r"\b(?:sk|pk)-[\w.*-]{4,}|\bbearer\s+\S{4,}|(?<![\w-])(?=[\w-]*\d)[\w-]{32,}", re.IGNORECASE
)
_MAX_SAID = 300


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error answer. `status` is None or 200 when it came inside a stream."""

    status: int | None
    type: str = ""
    said: str = ""
    retry_after_s: float | None = None
    should_retry: bool | None = None


@dataclass(frozen=True, slots=True)
class _Kind:
    """A row of the table: `text` and `hint` may name {host}, {model} and {status}."""

    code: str
    text: str
    hint: str = ""
    retryable: bool = False


_BUG = (
    "This is a fault of Vitto, or the server does not support a parameter. "
    "Please report it with this message."
)
_NEW_SESSION = "Start a new session; the old one stays readable."
_LATER = "Try again later, or choose another model."

_KINDS = {
    kind.code: kind
    for kind in (
        _Kind(
            "bad_key",
            "{host} does not accept the API key.",
            "Check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN where Jupyter is started, "
            "then restart Jupyter.",
        ),
        _Kind(
            "bad_header",
            "A header for {host} holds a character that is not allowed there.",
            "Look for line breaks in ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN and "
            "ANTHROPIC_CUSTOM_HEADERS, then restart Jupyter.",
        ),
        _Kind(
            "no_permission",
            "The API key may not use {model} at {host}.",
            "Choose another model, or ask whoever manages the key.",
        ),
        _Kind(
            "billing",
            "The account behind the API key cannot be charged by {host}.",
            "Check the credit and the spending limits of the account.",
        ),
        _Kind(
            "model_not_found",
            "{host} does not offer the model {model}.",
            "Choose another model; the name must be one that the server lists.",
        ),
        _Kind(
            "rate_limited",
            "{host} limits how much this API key may ask at once.",
            "Wait a little, or ask for a higher limit.",
            retryable=True,
        ),
        _Kind("overloaded", "{host} is overloaded.", _LATER, retryable=True),
        _Kind("server_error", "{host} had an error of its own{status}.", _LATER, retryable=True),
        _Kind("timeout", "{host} took too long{status}.", _LATER, retryable=True),
        _Kind(
            "unreachable",
            "{host} cannot be reached.",
            "Check the network, the proxy and the base URL; a local server must be running.",
            retryable=True,
        ),
        _Kind(
            "untrusted",
            "The certificate of {host} is not trusted.",
            "Install the CA certificates of this system (SSL_CERT_FILE names a file of them).",
        ),
        _Kind("silent", "{host} has sent nothing for too long.", _LATER, retryable=True),
        _Kind("cut", "The answer from {host} broke off.", _LATER, retryable=True),
        _Kind("unreadable", "The answer from {host} could not be read.", _LATER, retryable=True),
        _Kind(
            "not_an_api",
            "{host} did not answer as a Messages API server.",
            "Check the base URL: a proxy or another service seems to answer there.",
        ),
        _Kind(
            "too_large",
            "The request is larger than {host} accepts.",
            _NEW_SESSION,
        ),
        _Kind(
            "context_too_long",
            "The conversation no longer fits into the context window of {model}.",
            _NEW_SESSION,
        ),
        _Kind(
            "foreign_thinking",
            "{host} does not accept the earlier thinking of this conversation.",
            "It was made with another account or server, or was changed. " + _NEW_SESSION,
        ),
        _Kind("invalid_request", "{host} refused the request{status}.", _BUG),
        _Kind(
            "no_credentials",
            "The credentials for {host} cannot be used.",
            "Set ANTHROPIC_API_KEY where Jupyter is started, or sign in again; "
            "then restart Jupyter.",
        ),
        _Kind("no_models", "{host} lists no models.", "Name a model in the settings of Vitto."),
    )
}

_BY_TYPE = {
    "authentication_error": "bad_key",
    "billing_error": "billing",
    "permission_error": "no_permission",
    "not_found_error": "model_not_found",
    "request_too_large": "too_large",
    "rate_limit_error": "rate_limited",
    "timeout_error": "timeout",
    "overloaded_error": "overloaded",
    "api_error": "server_error",
    "exceed_context_size_error": "context_too_long",
}
_BY_STATUS = {
    401: "bad_key",
    402: "billing",
    403: "no_permission",
    404: "model_not_found",
    408: "timeout",
    409: "server_error",
    413: "too_large",
    429: "rate_limited",
    504: "timeout",
    529: "overloaded",
}
# the API has no code for these; each pattern is as narrow as the texts in use allow
_BY_WORDS = (
    (re.compile(r"prompt is too long|context (?:window|length|size)|maximum context"), "context"),
    (re.compile(r"credit balance|spend(?:ing)? limit"), "billing"),
    (re.compile(r"signature.{0,40}thinking|thinking.{0,80}(?:modified|signature)"), "thinking"),
)
_WORD_CODES = {"context": "context_too_long", "billing": "billing", "thinking": "foreign_thinking"}


@dataclass(frozen=True, slots=True)
class Blame:
    """Makes the errors of one server. `secrets` are never shown, even if the server says them."""

    host: str
    secrets: tuple[str, ...] = ()

    def error(self, code: str, *, model: str = "", said: str = "", **given: Any) -> ProviderError:
        """The error for a code of the table; `said` is quoted, `given` overrides its row."""
        kind = _KINDS[code]
        status = given.pop("status", None)
        names = {
            "host": self.host,
            "model": f'"{model}"' if model else "this model",
            "status": f" (HTTP {status})" if status and status != 200 else "",
        }
        quoted = self.clean(said)
        return ProviderError(
            kind.text.format(**names) + (f" It says: {quoted}" if quoted else ""),
            code=code,
            hint=kind.hint.format(**names),
            retryable=given.get("retryable", kind.retryable),
            retry_after_s=given.get("retry_after_s"),
        )

    def refused(self, refusal: Refusal, *, model: str) -> ProviderError:
        """The error for an error answer."""
        code = code_of(refusal)
        retryable = _KINDS[code].retryable
        return self.error(
            code,
            model=model,
            said=refusal.said,
            status=refusal.status,
            retryable=retryable if refusal.should_retry is None else refusal.should_retry,
            retry_after_s=refusal.retry_after_s,
        )

    def clean(self, said: str) -> str:
        """One short line of what a server said, without keys and markup."""
        for secret in self.secrets:
            said = said.replace(secret, "…")
        said = " ".join(re.sub(r"<[^>]*>", " ", said).split())
        said = _SECRET.sub("…", said)
        return said if len(said) <= _MAX_SAID else said[: _MAX_SAID - 1] + "…"


def code_of(refusal: Refusal) -> str:
    """The code for an error answer: by its words where they are all there is, type, status."""
    status = refusal.status or 200
    if status in (200, 400, 413, 422):
        said = refusal.said.lower()
        for pattern, word in _BY_WORDS:
            if pattern.search(said):
                return _WORD_CODES[word]
    if status == 404 and "model" not in refusal.said.lower():
        return "not_an_api"
    if refusal.type in _BY_TYPE:
        return _BY_TYPE[refusal.type]
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    # inside a stream (200) the request had been accepted: the fault is the server's
    return "server_error" if status >= 500 or status == 200 else "invalid_request"


def refusal_of(status: int | None, body: Any, headers: Mapping[str, str]) -> Refusal:
    """Read an error answer; `body` is its JSON or, failing that, its text."""
    error = body.get("error", body) if isinstance(body, dict) else {}
    detail = error if isinstance(error, dict) else {"message": str(error)}
    said = detail.get("message") or (body if isinstance(body, str) else "")
    wish = headers.get("x-should-retry")
    return Refusal(
        status=status,
        type=str(detail.get("type") or ""),
        said=str(said),
        retry_after_s=retry_after_s(headers, now=datetime.now(UTC)),
        should_retry=None if wish is None else wish == "true",
    )


def retry_after_s(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """How long the server asks to wait, in seconds; None when it does not say."""
    milliseconds, after = headers.get("retry-after-ms"), headers.get("retry-after")
    try:
        if milliseconds is not None:
            return max(0.0, float(milliseconds) / 1000)
        if after is not None and re.fullmatch(r"\s*[\d.]+\s*", after):
            return max(0.0, float(after))
        if after is not None:
            return max(0.0, (parsedate_to_datetime(after) - now).total_seconds())
    except (ValueError, TypeError):
        return None
    return None
