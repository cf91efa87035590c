"""What provider, loop and event hub cost per event, beside the bare SDK in the same run.

The server is another process, so that it does not share our interpreter's lock.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import messages_api
import pytest
from model_turns import say
from provider_turns import KEY, MODEL

from vitto_jupyter.protocol.events import Event
from vitto_jupyter.providers.anthropic import AnthropicProvider
from vitto_jupyter.providers.base import Message, ModelRequest, TextPiece
from vitto_jupyter.services.clock import SystemClock
from vitto_jupyter.services.event_hub import EventHub
from vitto_jupyter.services.trails import Trail
from vitto_jupyter.settings import Settings
from vitto_jupyter.testing.turns import Agent

pytestmark = pytest.mark.bench

STAMP = "@sent_us@ "  # as long as what the server puts there; one delta each
ROUNDS = 5
Show = Callable[[str], None]
Reader = Callable[[str, Show], Awaitable[None]]


@contextmanager
def server_process(folder: Path, **script: Any) -> Iterator[str]:
    """The scripted server in a process of its own; gives its base URL."""
    path = folder / "script.json"
    path.write_text(json.dumps(script))
    command = [sys.executable, messages_api.__file__, "--port", "0", "--script", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


# -- the four readers: each shows the text of one answer as it comes


def body() -> dict[str, Any]:
    messages = [{"role": "user", "content": "Go."}]
    return {"model": MODEL, "max_tokens": 64_000, "messages": messages, "stream": True}


async def read_bytes(base_url: str, show: Show) -> None:
    headers = {"authorization": f"Bearer {KEY}", "anthropic-version": "2026-10-21"}
    url = f"{base_url}/v1/messages"
    async with (
        httpx2.AsyncClient(timeout=60) as client,
        client.stream("POST", url, json=body(), headers=headers) as response,
    ):
        async for line in response.aiter_lines():
            if line.startswith("data:"):
                show(line)


async def read_sdk(base_url: str, show: Show) -> None:
    async with anthropic.AsyncAnthropic(base_url=base_url, api_key=KEY, max_retries=0) as client:
        async for event in await client.messages.create(**body()):
            if event.type == "content_block_delta" and event.delta.type == "text_delta":
                show(event.delta.text)


async def read_provider(base_url: str, show: Show) -> None:
    provider = AnthropicProvider(Settings(base_url=base_url))
    prompt = Message("user", ({"type": "text", "text": "Go."},))
    request = ModelRequest(model=MODEL, system="", tools=(), messages=(prompt,))
    async for piece in provider.stream(request):
        if isinstance(piece, TextPiece):
            show(piece.text)
    await provider.close()


@dataclass
class HubSink:
    hub: EventHub

    async def emit(self, event: Event) -> None:
        await self.hub.emit(event, turn_id="turn_1")


async def shown_by(hub: EventHub, show: Show) -> None:
    """What a subscriber would send to a page, until the turn's last event."""
    with hub.subscribe(after=0) as events:
        while True:
            for event in await events.next(timeout_s=1):
                record = json.loads(event.line)
                if record["type"] == "text.delta":
                    show(record["text"])
                if record["type"] == "usage.updated":
                    return


def reader_through_all(folder: Path) -> Reader:
    """Provider, loop, hub with its trail on disk, and a subscriber."""

    async def read(base_url: str, show: Show) -> None:
        target = folder / f"trail-{time.monotonic_ns()}"
        target.mkdir()
        trail = Trail(target)
        trail.open("ses_1", SystemClock().now_iso())
        hub = EventHub(session_id="ses_1", trail=trail, clock=SystemClock(), wake=lambda: None)
        provider = AnthropicProvider(Settings(base_url=base_url))
        agent = Agent(provider=provider, model=MODEL, sink=HubSink(hub), clock=SystemClock())  # type: ignore[arg-type]
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(shown_by(hub, show))
            outcome = await agent.run()
        assert outcome.reason == "done"
        await provider.close()
        await hub.close()

    return read


@pytest.fixture
async def readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[dict]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    yield {
        "socket": read_bytes,
        "bare SDK": read_sdk,
        "provider": read_provider,
        "provider+loop+hub": reader_through_all(tmp_path),
    }


def table(title: str, head: str, rows: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        sys.stdout.write("\n".join(["", title, head, *rows, ""]))


async def test_latency_added_to_each_event(
    tmp_path: Path, readers: dict[str, Reader], capsys: pytest.CaptureFixture[str]
) -> None:
    turn = say(STAMP * 400, repeat=True, tokens_per_s=300, tokens_per_delta=len(STAMP) / 4)
    rows: list[str] = []
    medians: dict[str, float] = {}
    with server_process(tmp_path, turns=[turn]) as base_url:
        for name, read in readers.items():
            if name == "socket":
                continue
            await read(base_url, lambda text: None)  # imports, first connection
            delays: list[float] = []

            def note(text: str, delays: list[float] = delays) -> None:
                now = time.time_ns() // 1000 % 10**9
                delays.extend((now - int(sent)) % 10**9 / 1000 for sent in text.split())

            await read(base_url, note)
            assert len(delays) == 400
            delays.sort()
            medians[name] = statistics.median(delays)
            added = medians[name] - medians["bare SDK"]
            p95 = delays[int(len(delays) * 0.95)]
            rows.append(f"{name:20} {medians[name]:7.2f} {p95:7.2f} {added:7.2f}")
    table("Latency per event, ms", f"{'':20} {'median':>7} {'p95':>7} {'added':>7}", rows, capsys)


async def test_throughput_as_a_share_of_the_bare_sdk(
    tmp_path: Path, readers: dict[str, Reader], capsys: pytest.CaptureFixture[str]
) -> None:
    """Also per second of CPU time, which other work on the machine disturbs less."""
    words = 12_000
    turn = say("abc " * words, repeat=True, flush_every=40)
    rates: dict[str, list[tuple[float, float]]] = {name: [] for name in readers}
    with server_process(tmp_path, turns=[turn]) as base_url:
        for _ in range(ROUNDS + 1):
            for name, read in readers.items():
                shown: list[str] = []
                wall, cpu = time.perf_counter(), time.process_time()
                await read(base_url, shown.append)
                wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
                rates[name].append((words / wall, words / cpu))
                if name != "socket":
                    assert len("".join(shown)) == 4 * words
    medians = {
        name: tuple(statistics.median(column) for column in zip(*some[1:], strict=True))
        for name, some in rates.items()
    }
    floor = medians["bare SDK"]
    rows = [
        f"{name:20} {wall:9,.0f} {wall / floor[0]:7.2f} {cpu:11,.0f} {cpu / floor[1]:7.2f}"
        for name, (wall, cpu) in medians.items()
    ]
    head = f"{'':20} {'events/s':>9} {'share':>7} {'per CPU s':>11} {'share':>7}"
    table(f"Throughput of text deltas (median of {ROUNDS})", head, rows, capsys)


async def test_time_from_closing_the_stream_to_the_closed_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    turn = say("abc " * 5_000, repeat=True, tokens_per_s=200)
    times: list[float] = []
    with server_process(tmp_path, turns=[turn]) as base_url:
        provider = AnthropicProvider(Settings(base_url=base_url))
        prompt = Message("user", ({"type": "text", "text": "Go."},))
        request = ModelRequest(model=MODEL, system="", tools=(), messages=(prompt,))
        async with httpx2.AsyncClient(base_url=base_url) as admin:
            for _ in range(10):
                stream = provider.stream(request)
                await anext(stream)
                start = time.time()
                await stream.aclose()
                returned = time.time()
                record: dict[str, Any] = {"t_closed": None}
                while not record["t_closed"]:
                    record = (await admin.get("/__fake__/requests")).json()[-1]
                times.append(max(returned, record["t_closed"]) - start)
        await provider.close()
    worst = max(times) * 1000
    table(
        "Stop: from closing the stream to the closed connection, ms",
        f"{'median':>7} {'worst':>7}",
        [f"{statistics.median(times) * 1000:7.1f} {worst:7.1f}"],
        capsys,
    )
