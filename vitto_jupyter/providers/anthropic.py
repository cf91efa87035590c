"""The Anthropic provider: any server that speaks the Messages API, through the official SDK.

The only module that knows the `anthropic` and `httpx2` packages. They are imported on first
use, in a thread: it takes seconds. Credentials are found by the SDK's own rules; a server that
is not Anthropic's may do without.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, aclosing, contextmanager, suppress
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..errors import ProviderError
from ..settings import Settings
from .anthropic_endpoint import Endpoint, config_dir, credentials_in, endpoint_of
from .anthropic_errors import Blame, refusal_of
from .anthropic_models import bare_model, model_infos, rows_of
from .anthropic_request import build_body, refused_fields
from .anthropic_stream import AnswerBuilder, parse_event
from .base import Availability, ModelInfo, ModelRequest, Piece

if TYPE_CHECKING:
    import anthropic
    import httpx2

CONNECT_TIMEOUT_S = 8.0
LIST_TIMEOUT_S = 15.0
MODELS_FRESH_S = 600.0
_PLACEHOLDER_KEY = "none-needed"
_PAGE = 1000
_MAX_PAGES = 20
_DRAIN_S = 0.25
# what a request for the model list says about the server: no list there, or no use to go on
_NO_LIST = ("not_an_api", "invalid_request", "no_permission", "server_error", "unreadable")
_FATAL = ("unreachable", "untrusted", "rate_limited", "overloaded", "no_credentials")


@dataclass(frozen=True, slots=True)
class _Connection:
    """The SDK and a client of it, once they are needed."""

    sdk: ModuleType
    http: ModuleType
    client: anthropic.AsyncAnthropic
    blame: Blame


class AnthropicProvider:
    """Answers from Claude or whatever else stands behind the configured base URL.

    Args:
        settings: `base_url` and `model` are read.
        silence_s: How long the server may send nothing before that is an error. Anthropic
            sends pings meanwhile; a local server can read a long prompt for minutes.
    """

    name = "anthropic"

    def __init__(self, settings: Settings, *, silence_s: float | None = None) -> None:
        self._settings = settings
        self._endpoint = endpoint_of(settings.base_url, os.environ)
        official = self._endpoint.is_official
        self.label = "Claude" if official else f"Messages API at {self._endpoint.host}"
        self._silence_s = silence_s or (120.0 if official else 600.0)
        self._blame = Blame(self._endpoint.host)
        self._connection: _Connection | None = None
        self._connecting = asyncio.Lock()
        self._models: tuple[ModelInfo, ...] = ()
        self._models_at = 0.0
        self._has_no_list = False
        self._without: dict[str, frozenset[str]] = {}  # by model

    async def availability(self) -> Availability:
        return await asyncio.to_thread(self._find_credentials)

    async def models(self) -> tuple[ModelInfo, ...]:
        """See the port; for the default, `anthropic_models.model_infos`."""
        connection = await self._connected()
        if not self._models or time.monotonic() - self._models_at > MODELS_FRESH_S:
            self._models = await self._list_models(connection)
            self._models_at = time.monotonic()
        return self._models

    async def stream(self, request: ModelRequest) -> AsyncIterator[Piece]:
        connection = await self._connected()
        info = await self._info(request.model)
        request = replace(request, model=info.id)
        builder = AnswerBuilder()
        with _translated(connection, model=info.id):
            async with AsyncExitStack() as stack:
                response = await self._open(connection, stack, request, info)
                events = connection.sdk.AsyncStream.raw_events(response)
                await stack.enter_async_context(aclosing(events))
                async for event in events:
                    piece = builder.feed(_read(event, connection, model=info.id))
                    if piece is not None:
                        yield piece
                    if builder.finished:
                        await _drain(events, connection)
                        break
        answer = builder.answer()
        if answer is None:
            raise connection.blame.error("cut")
        yield answer

    async def close(self) -> None:
        """Close idle connections; the provider can still be used."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.client.close()

    # -- credentials and connection

    def _find_credentials(self) -> Availability:
        found = credentials_in(os.environ)
        if found == "discoverable":
            try:
                self._connect()
            except ProviderError as err:
                return Availability(available=False, reason=err.message, hint=err.hint)
            return Availability(available=True)
        if found == "static" or not self._endpoint.is_official:
            return Availability(available=True)
        return self._nothing_found()

    def _nothing_found(self) -> Availability:
        return Availability(
            available=False,
            reason=(
                "No credentials for Claude were found: looked at ANTHROPIC_API_KEY, "
                "ANTHROPIC_AUTH_TOKEN, ANTHROPIC_PROFILE, a workload identity and "
                f"{config_dir(os.environ)}."
            ),
            hint=(
                "Set ANTHROPIC_API_KEY where Jupyter is started and restart Jupyter, or set "
                "ANTHROPIC_BASE_URL to a local server that speaks the Messages API."
            ),
        )

    async def _connected(self) -> _Connection:
        async with self._connecting:
            if self._connection is None:
                self._connection = await asyncio.to_thread(self._connect)
            return self._connection

    def _connect(self) -> _Connection:
        """Import the SDK and make a client; slow, so call it in a thread."""
        sdk = importlib.import_module("anthropic")
        http = importlib.import_module("httpx2")
        try:
            client = self._client(sdk, http)
        except (sdk.AnthropicError, OSError, ValueError, RuntimeError) as err:
            raise self._blame.error("no_credentials", said=str(err)) from err
        if client is None:
            missing = self._nothing_found()
            raise ProviderError(missing.reason, code="no_credentials", hint=missing.hint)
        secrets = tuple(filter(None, (client.api_key, client.auth_token)))
        host = Endpoint(str(client.base_url)).host  # a profile may bring its own server
        return _Connection(sdk, http, client, Blame(host, secrets))

    def _client(self, sdk: ModuleType, http: ModuleType) -> anthropic.AsyncAnthropic | None:
        """A client with the credentials that the SDK finds; None when it needs some."""
        client = sdk.AsyncAnthropic(
            base_url=self._endpoint.base_url or None,
            max_retries=0,  # the loop retries, and shows it
            timeout=http.Timeout(self._silence_s, connect=CONNECT_TIMEOUT_S),
        )
        if client.api_key:
            client.api_key = client.api_key.strip()  # a key from a file often ends in a line break
        if client.api_key and not self._endpoint.is_official:
            # 2.x sends the key as a bearer token only; some gateways read X-Api-Key only
            return client.with_options(default_headers={"X-Api-Key": client.api_key})
        found = client.api_key or client.auth_token or client.credentials
        if found or credentials_in(os.environ) == "static":
            return client
        if self._endpoint.is_official:
            return None
        return client.with_options(api_key=_PLACEHOLDER_KEY)

    # -- models

    async def _info(self, model: str) -> ModelInfo:
        """What is known of a model; "" means the default.

        A server without a usable list is no fault here: the request itself will tell.
        """
        if not self._models and self._has_no_list and model:
            return bare_model(model)
        try:
            models = self._models or await self.models()
        except ProviderError as err:
            if not model or err.code in _FATAL:
                raise
            self._has_no_list = True
            return bare_model(model)
        if not model:
            return models[0]
        return next((info for info in models if info.id == model), bare_model(model))

    async def _list_models(self, connection: _Connection) -> tuple[ModelInfo, ...]:
        try:
            rows = await _all_rows(connection)
        except ProviderError as err:
            if err.code not in _NO_LIST or not self._settings.model:
                raise
            rows = []
        infos = model_infos(rows, self._settings.model)
        if not infos:
            raise connection.blame.error("no_models")
        return infos

    # -- requests

    async def _open(
        self,
        connection: _Connection,
        stack: AsyncExitStack,
        request: ModelRequest,
        info: ModelInfo,
    ) -> httpx2.Response:
        """Send the request; again without what the server refuses, which is remembered."""
        streaming = connection.client.messages.with_streaming_response
        while True:
            without = self._without.get(info.id, frozenset())
            body = build_body(request, info, without=without)
            try:
                response = await stack.enter_async_context(streaming.create(stream=True, **body))
            except connection.sdk.APIStatusError as err:
                said = refusal_of(err.status_code, err.body, err.response.headers).said
                refused = refused_fields(err.status_code, said, body) - without
                if not refused:
                    raise
                self._without[info.id] = without | refused
                continue
            await _check_content(connection, response.http_response, model=info.id)
            return response.http_response


async def _all_rows(connection: _Connection) -> list[dict[str, Any]]:
    """The models of all pages of the list, as the server gives them."""
    rows: list[dict[str, Any]] = []
    params: dict[str, Any] = {"limit": _PAGE}
    with _translated(connection, model=""):
        for _ in range(_MAX_PAGES):
            answer = await connection.client.get(
                "/v1/models",
                cast_to=object,
                options={"params": params, "timeout": LIST_TIMEOUT_S},
            )
            rows += rows_of(answer)
            if not isinstance(answer, dict) or not answer.get("has_more"):
                break
            params = {"limit": _PAGE, "after_id": answer.get("last_id")}
    return rows


def _read(event: Any, connection: _Connection, *, model: str) -> dict[str, Any]:
    """The JSON of an event.

    Raises:
        ProviderError: the event is an error.
        ValueError: it is not JSON.
    """
    parsed = parse_event(event.data) if event.data else {}
    if event.event == "error" or parsed.get("type") == "error":
        raise connection.blame.refused(refusal_of(None, parsed, {}), model=model)
    return parsed


async def _drain(events: AsyncIterator[Any], connection: _Connection) -> None:
    """Read to the end of a finished answer, so that its connection can be used again."""
    with suppress(TimeoutError, connection.http.HTTPError):
        async with asyncio.timeout(_DRAIN_S):
            async for _ in events:
                pass


async def _check_content(connection: _Connection, response: httpx2.Response, *, model: str) -> None:
    """Refuse a good status with something else than a stream: a proxy's page, or an error."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("text/html", "application/json"):
        return
    text = (await response.aread()).decode("utf-8", "replace")
    with suppress(ValueError):
        body = json.loads(text)
        if isinstance(body, dict) and "error" in body:
            raise connection.blame.refused(
                refusal_of(response.status_code, body, response.headers), model=model
            )
    raise connection.blame.error("not_an_api", said=text)


@contextmanager
def _translated(connection: _Connection, *, model: str) -> Iterator[None]:
    """Turn what the SDK and its HTTP client raise into ProviderError."""
    sdk, http, blame = connection.sdk, connection.http, connection.blame
    try:
        yield
    except sdk.APIStatusError as err:
        refusal = refusal_of(err.status_code, err.body, err.response.headers)
        # not chained: the SDK's text repeats what the server said, which may hold the key
        raise blame.refused(refusal, model=model) from None
    except sdk.APITimeoutError as err:
        connecting = isinstance(err.__cause__, http.ConnectTimeout)
        raise blame.error("unreachable" if connecting else "silent") from err
    except sdk.APIConnectionError as err:
        if isinstance(err.__cause__, http.LocalProtocolError):
            # not chained: the text of the cause is the header, and that may be the key
            raise blame.error("bad_header") from None
        cause = str(err.__cause__ or err)
        code = "untrusted" if "CERTIFICATE_VERIFY_FAILED" in cause else "unreachable"
        raise blame.error(code, said=cause) from err
    except http.TimeoutException as err:
        raise blame.error("silent") from err
    except http.HTTPError as err:
        raise blame.error("cut") from err
    except sdk.AnthropicError as err:
        raise blame.error("no_credentials", said=str(err)) from err
    except UnicodeEncodeError as err:  # in what we send; see `parse_event` for what we get
        raise blame.error("invalid_request", said=str(err)) from err
    except ValueError as err:
        raise blame.error("unreadable") from err
