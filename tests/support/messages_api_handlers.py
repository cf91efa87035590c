"""The HTTP side of the scripted Messages API: requests in, records kept, answers or faults out."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import time
from collections.abc import Callable
from typing import Any

import tornado.web
from messages_api_checks import RequestChecks
from messages_api_events import spoil, sse, stream_events
from messages_api_models import MODELS, model_list
from messages_api_script import ScriptedModel
from messages_api_values import (
    MAX_BODY,
    STATUS_TEXT,
    STATUS_TYPES,
    VERSIONS,
    ApiError,
    bad,
    contains_key,
    new_id,
)
from tornado.iostream import StreamClosedError

SENT_US = b"@sent_us@"  # in a text: becomes the microseconds (mod 10^9) at which it is sent
PACING = ("tokens_per_s", "ttft_ms", "tokens_per_delta", "flush_every", "ping_every_s")


class ClientGone(Exception):
    """The client closed the connection."""


class Base(tornado.web.RequestHandler):
    """Records each request and answers errors in the API's shape."""

    fake: ScriptedModel

    def initialize(self, fake: ScriptedModel) -> None:
        self.fake = fake
        self.gone = asyncio.Event()

    def on_connection_close(self) -> None:
        self.gone.set()

    def prepare(self) -> None:
        self.request_id = new_id("req")
        self.set_header("request-id", self.request_id)
        self.set_header("anthropic-organization-id", "00000000-0000-4000-8000-000000000000")
        self.clear_header("Server")

    def begin(self) -> dict:
        headers = {k.lower(): v for k, v in self.request.headers.items()}
        sent = [name for name in ("x-api-key", "authorization") if name in headers]
        names = {"x-api-key": "x-api-key", "authorization": "bearer"}
        self.token = headers.get("x-api-key") or headers.get("authorization", "")[7:]
        shown = {k: (f"<redacted {len(v)}>" if k in sent else v) for k, v in headers.items()}
        record = {
            "n": len(self.fake.requests) + 1,
            "t": time.time(),
            "method": self.request.method,
            "path": self.request.path,
            "query": self.request.query,
            "headers": shown,
            "auth": names[sent[0]] if sent else None,
            "auths": [names[name] for name in sent],
            "peer": self.request.connection.context.address[1],
            "bytes": len(self.request.body),
            "body": None,
            "status": None,
            "error": None,
            "warnings": [],
            "turn": None,
            "response": None,
            "events": 0,
            "client_closed": False,
            "fault": None,
            "t_first": None,
            "t_closed": None,
            "t_end": None,
            "request_id": self.request_id,
        }
        self.fake.requests.append(record)
        self.headers_in = headers
        return record

    def check_credentials(self, record: dict) -> None:
        if record["auth"] is None:
            raise ApiError(401, "authentication_error", "x-api-key header is required")
        if self.fake.api_key is not None and self.token != self.fake.api_key:
            raise ApiError(401, "authentication_error", "invalid x-api-key")

    def checks(self, record: dict, *, counting: bool = False) -> tuple[dict, RequestChecks]:
        self.check_credentials(record)
        if len(self.request.body) > MAX_BODY:
            raise ApiError(413, "request_too_large", "Request exceeds the maximum size")
        if self.fake.validate_on:
            self.check_version()
        try:
            body = json.loads(self.request.body)
        except ValueError as err:
            raise bad(f"The request body is not valid JSON: {err}") from None
        record["body"] = body
        for field in self.fake.refuses:
            if contains_key(body, field):
                record["fault"] = "refuses"
                raise bad(f"{field}: Extra inputs are not permitted")
        checks = RequestChecks(self.fake, body, self.headers_in, counting)
        if self.fake.validate_on:
            try:
                checks.run()
            finally:
                record["warnings"] = checks.warnings
        else:
            checks.spec = self.fake.model_spec(body.get("model", "")) or MODELS["claude-opus-5"]
            thinking = body.get("thinking") or {}
            checks.thinking_on = thinking.get("type") in ("enabled", "adaptive")
        return body, checks

    def check_version(self) -> None:
        version = self.headers_in.get("anthropic-version")
        if version is None:
            raise bad("anthropic-version: header is required")
        if version not in VERSIONS:
            raise bad(f'anthropic-version: "{version}" is not a valid version')

    def refuse(self, record: dict, err: ApiError) -> None:
        error = {"type": err.etype, "message": err.message}
        record.update(status=err.status, error=error, t_end=time.time())
        self.set_status(err.status)
        for name, value in err.headers.items():
            self.set_header(name, str(value))
        self.set_header("content-type", "application/json")
        self.write(json.dumps(err.body(self.request_id)))
        self.done(record)

    def done(self, record: dict) -> None:
        record["t_end"] = record["t_end"] or time.time()
        if self.fake.log:
            with open(self.fake.log, "a", encoding="utf-8") as f:
                f.write(json.dumps(record, ensure_ascii=False) + "\n")

    async def nap(self, seconds: float) -> None:
        """Sleep.

        Raises:
            ClientGone: at once when the client goes away meanwhile.
        """
        if seconds > 0:
            try:
                await asyncio.wait_for(self.gone.wait(), seconds)
            except TimeoutError:
                pass
        if self.gone.is_set():
            raise ClientGone


class Messages(Base):
    """`POST /v1/messages`: the next scripted turn, streamed or whole, or its fault."""

    async def post(self) -> None:
        record = self.begin()
        try:
            await self.answer(record)
        except ApiError as err:
            self.refuse(record, err)
        except (ClientGone, StreamClosedError):
            record.update(client_closed=True, t_closed=time.time())
            self.done(record)

    async def answer(self, record: dict) -> None:
        body, checks = self.checks(record)
        turn = self.fake.pick(body, record)
        faults = await self.due_faults(record, turn)
        if faults is None:
            return
        if "_left" in turn and not any("times" in fault for fault in faults.values()):
            turn["_left"] -= 1
        record["fault"] = ",".join(faults) or None
        pacing = {key: turn.get(key, self.fake.defaults[key]) for key in PACING}
        if "delay" in faults:
            await self.nap(faults["delay"].get("seconds", 1))
        message, whole, blocks = self.fake.compose(turn, body, checks)
        record["response"] = whole
        self.rate_limit_headers()
        if body.get("stream"):
            eager = {t["name"] for t in body.get("tools") or [] if t.get("eager_input_streaming")}
            final = self.fake.final_delta(whole)
            events = stream_events(message, blocks, eager, pacing["tokens_per_delta"], final)
            await StreamSender(self, record, pacing, faults).send(events)
        else:
            await self.send_whole(record, whole, pacing, faults)
        self.done(record)

    async def due_faults(self, record: dict, turn: dict) -> dict[str, dict] | None:
        """The faults of this attempt by kind; None when one has answered the request."""
        faults: dict[str, dict] = {}
        for fault in turn["_faults"]:
            done = fault.setdefault("_done", 0)
            times = fault.get("times", 1 if fault["kind"] == "http" else None)
            if times is not None and done >= times:
                continue
            fault["_done"] = done + 1
            if fault["kind"] == "http":
                record["fault"] = "http"
                await self.http_fault(record, fault)
                return None
            faults[fault["kind"]] = fault
        return faults

    async def send_whole(self, record: dict, whole: dict, pacing: dict, faults: dict) -> None:
        rate = pacing["tokens_per_s"]
        spent = whole["usage"]["output_tokens"] / rate if rate else 0
        await self.nap(pacing["ttft_ms"] / 1000 + spent)
        record.update(status=200, t_first=time.time())
        self.set_header("content-type", "application/json")
        how = faults.get("malformed", {}).get("how")
        spoiled = {"empty_body": "", "html": "<html><body>502</body></html>"}
        text = json.dumps(whole)
        self.write(spoiled.get(how, text[:-20]) if how else text)

    def rate_limit_headers(self) -> None:
        limits = {"requests": 4000, "input-tokens": 2_000_000, "output-tokens": 400_000}
        for kind, limit in limits.items():
            self.set_header(f"anthropic-ratelimit-{kind}-limit", str(limit))
            self.set_header(f"anthropic-ratelimit-{kind}-remaining", str(limit - 1))
            self.set_header(f"anthropic-ratelimit-{kind}-reset", "2030-01-01T00:00:00Z")

    async def http_fault(self, record: dict, fault: dict) -> None:
        status = fault.get("status", 500)
        await self.nap(fault.get("delay_s", 0))
        headers = dict(fault.get("headers", {}))
        if "retry_after" in fault:
            headers["retry-after"] = fault["retry_after"]
        if "body" not in fault:
            etype = fault.get("type") or STATUS_TYPES.get(status, "api_error")
            text = fault.get("message") or STATUS_TEXT.get(status, "Scripted error")
            self.refuse(record, ApiError(status, etype, text, headers))
            return
        record.update(status=status, error={"type": "raw", "message": fault["body"][:200]})
        self.set_status(status)
        self.set_header("content-type", fault.get("content_type", "text/html"))
        for name, value in headers.items():
            self.set_header(name, str(value))
        self.write(fault["body"])
        self.done(record)

    def drop(self, *, rst: bool) -> None:
        """Close the socket in mid-stream; with `rst` by a TCP reset."""
        stream = self.request.connection.stream  # type: ignore[attr-defined]
        if rst:
            stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        stream.close()


class StreamSender:
    """Sends the events of one answer at the scripted pace, with the scripted faults."""

    def __init__(self, handler: Messages, record: dict, pacing: dict, faults: dict) -> None:
        self.handler, self.record, self.pacing, self.faults = handler, record, pacing, faults
        self.unflushed = 0
        self.owed_tokens = 0.0

    async def send(self, events: list[tuple[bytes, float]]) -> None:
        handler, how = self.handler, self.faults.get("malformed", {}).get("how")
        kind = "text/html" if how == "html" else "text/event-stream; charset=utf-8"
        handler.set_header("content-type", kind)
        handler.set_header("cache-control", "no-cache")
        self.record["status"] = 200
        await handler.nap(self.pacing["ttft_ms"] / 1000)
        if how == "html":
            handler.write("<html><body>Bad gateway</body></html>")
            return
        if how == "empty_body":
            await handler.flush()
            return
        began = self.record["t_first"] = time.time()
        self.start = self.last_ping = time.monotonic()
        for n, (data, tokens) in enumerate(spoil(events, how) if how else events):
            if await self.fault_at(n, data):
                return
            await self.wait_for_tokens(tokens)
            await self.write(data)
            self.record["events"] = n + 1
            await handler.nap(0)
        self.record["stream_s"] = round(time.time() - began, 6)

    async def write(self, data: bytes) -> None:
        if SENT_US in data:
            data = data.replace(SENT_US, b"%09d" % (time.time_ns() // 1000 % 10**9))
        trickle = self.faults.get("trickle")
        if trickle:
            size = trickle.get("bytes", 5)
            for i in range(0, len(data), size):
                self.handler.write(data[i : i + size])
                await self.handler.flush()
                await self.handler.nap(trickle.get("ms", 5) / 1000)
            return
        self.handler.write(data)
        self.unflushed += 1
        if self.unflushed >= max(1, int(self.pacing["flush_every"])):
            await self.flush()

    async def flush(self) -> None:
        self.unflushed = 0
        await self.handler.flush()

    async def ping(self) -> None:
        self.handler.write(sse("ping", {"type": "ping"}))
        await self.flush()

    async def wait_for_tokens(self, tokens: float) -> None:
        """Until `tokens` more could have been made at the scripted rate."""
        rate = self.pacing["tokens_per_s"]
        if not rate or not tokens:
            return
        self.owed_tokens += tokens
        ping_every = self.pacing["ping_every_s"]
        while (late := self.start + self.owed_tokens / rate - time.monotonic()) > 0:
            if self.unflushed:
                await self.flush()
            pause = min(late, ping_every or late)
            await self.handler.nap(pause)
            if pause < late and time.monotonic() - self.last_ping >= ping_every:
                await self.ping()
                self.last_ping = time.monotonic()

    async def fault_at(self, n: int, data: bytes) -> bool:
        """Does what is scripted before event `n`; True when the answer ends there."""
        for kind, act in self.acts().items():
            fault = self.faults.get(kind)
            if fault is not None and fault.get("after_events", 5) == n:
                await self.flush()
                if await act(fault, data):
                    return True
        return False

    def acts(self) -> dict[str, Callable[[dict, bytes], Any]]:
        return {
            "cut": self.cut,
            "end_early": self.end_early,
            "error_event": self.error_event,
            "stall": self.stall,
        }

    async def cut(self, fault: dict, data: bytes) -> bool:
        if fault.get("half_event"):
            self.handler.write(data[: len(data) // 2])
            await self.handler.flush()
        self.handler.drop(rst=bool(fault.get("rst")))
        return True

    async def end_early(self, fault: dict, data: bytes) -> bool:
        return True

    async def error_event(self, fault: dict, data: bytes) -> bool:
        error = {
            "type": fault.get("type", "overloaded_error"),
            "message": fault.get("message", "Overloaded"),
        }
        body = {"type": "error", "error": error, "request_id": self.handler.request_id}
        self.handler.write(sse("error", body))
        return True

    async def stall(self, fault: dict, data: bytes) -> bool:
        seconds = fault.get("seconds", 1)
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if fault.get("pings"):
                await self.ping()
            await self.handler.nap(min(fault.get("ping_every", 1), left))
        self.start += seconds
        return False


class CountTokens(Base):
    def post(self) -> None:
        record = self.begin()
        try:
            body, _ = self.checks(record, counting=True)
            answer = {"input_tokens": self.fake.prompt_tokens(body)}
            record.update(status=200, response=answer)
            self.write(answer)
            self.done(record)
        except ApiError as err:
            self.refuse(record, err)


class Models(Base):
    """`GET /v1/models`, in the shape that the script's `models` option asks for."""

    def get(self) -> None:
        record = self.begin()
        try:
            self.check_credentials(record)
            if self.fake.models == "none":
                raise ApiError(404, "not_found_error", "Not found")
            after = self.get_query_argument("after_id", None)
            limit = min(int(self.get_query_argument("limit", "20")), self.fake.models_per_page)
            answer = model_list(self.fake.listed_models(), self.fake.models, after, limit)
            record.update(status=200, response={"models": True})
            self.write(answer)
            self.done(record)
        except ApiError as err:
            self.refuse(record, err)


class Admin(tornado.web.RequestHandler):
    """Records and script for tests in another process."""

    def initialize(self, fake: ScriptedModel, stats: Callable[[], dict]) -> None:
        self.fake, self.stats = fake, stats

    def get(self, what: str) -> None:
        if what == "requests":
            self.set_header("content-type", "application/json")
            self.write(json.dumps(self.fake.requests, ensure_ascii=False))
        elif what == "stats":
            self.write(self.stats())
        else:
            self.set_status(404)

    def post(self, what: str) -> None:
        if what == "script":
            self.fake.reset(json.loads(self.request.body))
        elif what == "reset":
            self.fake.reset()
        else:
            self.set_status(404)
        self.write({"ok": self.get_status() == 200})


class NotFound(Base):
    def handle(self, *_: Any) -> None:
        self.refuse(self.begin(), ApiError(404, "not_found_error", "Not found"))

    get = post = put = delete = head = options = patch = handle  # type: ignore[assignment]
