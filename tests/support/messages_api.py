"""A scripted, strict stand-in for the Anthropic Messages API, for tests and measurements.

It speaks the Messages API over HTTP on loopback (SSE streaming and plain JSON), refuses
requests that the real API would refuse, follows a JSON script, can misbehave on purpose, and
records every request so that a test can assert on it. Needs only tornado. Written from the
public wire format. Modules: messages_api_{checks,conversation} refuse, _script decides what to
say, _events makes the stream, _handlers speaks HTTP.

Command line
    python messages_api.py --port 8099 --script demo.json          # prints its base URL
    python messages_api.py --port 0 --tokens-per-s 80 --ttft-ms 300
    ANTHROPIC_BASE_URL=http://127.0.0.1:8099 ANTHROPIC_API_KEY=test your-product
  Options: --host --port --script --tokens-per-s --ttft-ms --tokens-per-delta --api-key
    --no-validate --strict-alternation --any-model --context-window N --models full|ids|none
    --refuses FIELD,.. --no-usage --log FILE (JSON lines, one a request)

In a test
    from messages_api import MessagesApi
    with MessagesApi({"turns": [
            {"blocks": [{"type": "tool_use", "name": "run_cell", "input": {"id": "a1"}}]},
            {"blocks": [{"type": "text", "text": "Done."}]}]}) as srv:
        client = anthropic.Anthropic(api_key="test", base_url=srv.base_url)
        ...
        assert srv.requests[0]["status"] == 200
        assert srv.rejected() == []            # no request was refused by validation
        assert srv.stable_prefix() == 1.0      # each prompt begins with the one before it
        print(srv.cache_hit_rate())
  Options are those of ScriptedModel; a lenient local server is, for instance,
  MessagesApi(script, validate=False, any_model=True, models="ids", extra_models=("qwen3:8b",),
              usage=False, refuses=("thinking", "cache_control"))

Script (a dict / JSON file; every key is optional)
    {"defaults": {"tokens_per_s": 0, "ttft_ms": 0, "tokens_per_delta": 1, "flush_every": 1,
                  "model_answers_when_exhausted": "error" | "echo" | "repeat_last"},
     "context_window": 200000,                # overrides every model's input limit
     "rules": [TURN, ...],                    # tried first, in order; never used up
     "turns": [TURN, ...]}                    # used once each, in order (first that matches)
  TURN
    blocks      what the model says: {"type":"text","text":"..."} | {"type":"text","words":500}
                {"type":"thinking","thinking":"..."} (signature is made) |
                {"type":"redacted_thinking"} | {"type":"tool_use","name":..,"input":{..}} |
                {"type":"compaction","content":"..."} | any other block (sent whole).
                "@sent_us@" in a text becomes the microseconds, modulo 10^9, of its sending.
                A tool input value may be {"$find": "regex", "in": "last_tool_result" |
                "last_user" | "system" | "all", "default": ".."}: group 1 of the match, so a
                script can use ids that the product made up.
    match       {"model": re, "last_user": re, "last_tool_result": re, "system": re, "any": re,
                 "has_tool": name, "has_tools": bool, "stream": bool, "min_messages": n}
    stop_reason default: tool_use if a tool_use block is there, else end_turn
    stop_details, usage (dict merged over the computed usage)
    tokens_per_s, ttft_ms, tokens_per_delta, flush_every, ping_every_s  (per turn)
    repeat      true: never used up; n: used n times
    fault       one FAULT or a list; a fault with "times": n happens n times BEFORE the turn is
                given (each time the request fails and the turn stays)
  FAULT
    {"kind":"http","status":429,"retry_after":1,"times":2}   also 400 401 403 404 413 500 529 ..
         "type", "message", "headers": {...}, "body": "raw text" (e.g. an HTML 502 page)
    {"kind":"error_event","after_events":5,"type":"overloaded_error"}  SSE error in mid-stream
    {"kind":"cut","after_events":5,"rst":false}       socket closed in mid-stream
    {"kind":"end_early","after_events":5}             clean end, no message_stop
    {"kind":"stall","after_events":5,"seconds":3,"pings":true}
    {"kind":"trickle","bytes":7,"ms":5}               every event in 7-byte pieces
    {"kind":"delay","seconds":2}                      before the response headers
    {"kind":"malformed","how":"bad_json"|"unknown_event"|"unknown_delta"|"bad_tool_json"|
         "html"|"no_message_start"|"crlf"|"empty_body"|"duplicate_ping"}

What is checked (answers 400 unless said): credentials (401; --api-key to insist on one);
anthropic-version; JSON; 32 MB (413); unknown fields (a beta field needs its beta header;
temperature/top_p/top_k are refused with anthropic-version 2026-10-21); model (404) and its
max_tokens; non-empty, non-blank text; first message is a user's; system messages in place;
assistant prefill; every tool_use answered by a tool_result at the start of the next user
message, once, and no stray one; tool ids and names (pattern, unique, fixed names of built-in
tools); input_schema is an object; tool_choice; thinking settings per model; thinking blocks
replayed with a known signature, unmodified, not left out of the open tool loop, and (models
with preserved thinking) with an unchanged prefix: same system, tools and earlier messages
(cache marks don't count), and no thinking block left out between others;
at most 4 cache_control marks, ttl order, not on thinking; image type, base64, magic bytes,
size and pixel limits; documents; output_config; stop_sequences; prompt longer than the window.
Things the real API accepts but a careful client avoids are `warnings` in the record.

Not real: token counts are an estimate (about 3 characters each), the text of error messages
is near but not word for word, beta features are accepted rather than performed, capabilities
per model are this file's assumptions. It never decides anything: it follows the script.

HTTP for tests in another process
    GET  /__fake__/requests    all records      GET  /__fake__/stats   sums
    POST /__fake__/script      new script       POST /__fake__/reset   forget records and state
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tornado.httpserver
import tornado.netutil
import tornado.web
from messages_api_handlers import Admin, CountTokens, Messages, Models, NotFound
from messages_api_script import ScriptedModel


class MessagesApi:
    """Runs the fake in a thread of its own: `with MessagesApi(script) as srv: srv.base_url`."""

    def __init__(
        self, script: dict | None = None, *, host: str = "127.0.0.1", port: int = 0, **options: Any
    ) -> None:
        self.fake = ScriptedModel(script, **options)
        self.host, self.port = host, port
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    # -- what tests read
    @property
    def base_url(self) -> str:
        return f"http://{self.host}:{self.port}"

    @property
    def requests(self) -> list[dict]:
        return self.fake.requests

    def calls(self) -> list[dict]:
        return [r for r in self.requests if r["path"].endswith("/v1/messages")]

    def rejected(self) -> list[dict]:
        """Requests refused by validation (not by a scripted fault)."""
        return [r for r in self.requests if r["error"] and not r["fault"]]

    def warnings(self) -> list[str]:
        return sorted({w for r in self.requests for w in r["warnings"]})

    def cache_hit_rate(self) -> float:
        """Tokens read from the cache as a share of all input tokens."""
        use = [r["response"]["usage"] for r in self.calls() if r["response"]]
        total = sum(
            u["input_tokens"] + u["cache_creation_input_tokens"] + u["cache_read_input_tokens"]
            for u in use
        )
        return sum(u["cache_read_input_tokens"] for u in use) / total if total else 0.0

    def stable_prefix(self) -> float:
        """The share of follow-up requests that begin with all of the request before them."""
        prompts = [self.fake.prompt_keys(r["body"]) for r in self.calls() if r["status"] == 200]
        pairs = list(itertools.pairwise(prompts))
        return sum(b[: len(a)] == a for a, b in pairs) / len(pairs) if pairs else 1.0

    def stats(self) -> dict:
        calls = self.calls()
        return {
            "requests": len(self.requests),
            "messages": len(calls),
            "rejected": len(self.rejected()),
            "faults": sum(1 for r in calls if r["fault"]),
            "client_closed": sum(r["client_closed"] for r in calls),
            "cache_hit_rate": round(self.cache_hit_rate(), 4),
            "warnings": self.warnings(),
            "turns_left": sum(1 for t in self.fake.turns if t["_left"] > 0),
        }

    def wait(self, condition: Callable[[MessagesApi], bool], *, timeout_s: float = 10.0) -> None:
        """Block until `condition(self)` holds; in a coroutine call it by `asyncio.to_thread`.

        Raises:
            TimeoutError: it did not come true in time.
        """
        until = time.monotonic() + timeout_s
        while not condition(self):
            if time.monotonic() > until:
                raise TimeoutError(f"the server's state did not come: {self.stats()}")
            time.sleep(0.002)

    # -- running
    def app(self) -> tornado.web.Application:
        f = {"fake": self.fake}
        return tornado.web.Application(
            [
                (r"/v1/messages", Messages, f),
                (r"/v1/messages/count_tokens", CountTokens, f),
                (r"/v1/models", Models, f),
                (r"/__fake__/(\w+)", Admin, {**f, "stats": self.stats}),
                (r".*", NotFound, f),
            ],
            log_function=lambda _: None,
        )

    async def serve(self) -> None:
        sockets = tornado.netutil.bind_sockets(self.port, self.host, socket.AF_INET)
        self.port = sockets[0].getsockname()[1]
        server = tornado.httpserver.HTTPServer(
            self.app(), max_body_size=256 * 1024 * 1024, max_buffer_size=512 * 1024 * 1024
        )
        server.add_sockets(sockets)
        self._stop = asyncio.Event()
        self._ready.set()
        await self._stop.wait()
        server.stop()
        await server.close_all_connections()

    def start(self) -> MessagesApi:
        def run() -> None:
            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
            self._loop.run_until_complete(self.serve())

        self._thread = threading.Thread(target=run, name="messages-api", daemon=True)
        self._thread.start()
        if not self._ready.wait(10):
            raise RuntimeError("messages_api did not start")
        return self

    def stop(self) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
            assert self._thread is not None
            self._thread.join(5)

    def __enter__(self) -> MessagesApi:
        return self.start()

    def __exit__(self, *_: Any) -> None:
        self.stop()


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(description="A scripted, strict stand-in for the Messages API.")
    p.add_argument("--host", default="127.0.0.1")
    p.add_argument("--port", type=int, default=8099)
    p.add_argument("--script", type=Path, help="JSON file; without one the server echoes")
    p.add_argument("--tokens-per-s", type=float, default=0)
    p.add_argument("--ttft-ms", type=float, default=0)
    p.add_argument("--tokens-per-delta", type=int, default=1)
    p.add_argument("--api-key", help="insist on this key")
    p.add_argument("--no-validate", action="store_true")
    p.add_argument("--strict-alternation", action="store_true")
    p.add_argument("--any-model", action="store_true", help="accept every model id")
    p.add_argument("--models", choices=("full", "ids", "none"), default="full")
    p.add_argument("--refuses", default="", help="request fields to refuse, with commas")
    p.add_argument("--no-usage", action="store_true", help="leave token counts out")
    p.add_argument("--context-window", type=int)
    p.add_argument("--log", help="append one JSON line a request to this file")
    return p


def main(argv: list[str] | None = None) -> None:
    options = vars(parser().parse_args(argv))
    path = options.pop("script")
    echo = {"defaults": {"model_answers_when_exhausted": "echo"}}
    script = json.loads(path.read_text(encoding="utf-8")) if path else echo
    options["validate"] = not options.pop("no_validate")
    options["usage"] = not options.pop("no_usage")
    options["refuses"] = tuple(filter(None, options["refuses"].split(",")))
    # the script's own defaults win over pacing that was not asked for
    for name in ("tokens_per_s", "ttft_ms", "tokens_per_delta"):
        if options[name] == parser().get_default(name):
            del options[name]
    with MessagesApi(script, **options) as server:
        sys.stdout.write(server.base_url + "\n")
        sys.stdout.flush()
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            sys.stderr.write(json.dumps(server.stats(), indent=1) + "\n")


if __name__ == "__main__":
    main()
