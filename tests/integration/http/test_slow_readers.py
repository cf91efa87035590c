"""Readers that are slow, silent or gone hold up nobody and cost nothing."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator

from vitto_jupyter.handlers import sse
from vitto_jupyter.providers.scripted import hold, say

from .conftest import TOKEN

PIECE = "x" * 20_000


@contextlib.asynccontextmanager
async def silent_reader(server, session_id: str) -> AsyncIterator[asyncio.StreamReader]:
    """A connection that asks for the events and reads no more than the first bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.app.port, limit=1024)
    writer.write(
        f"GET /vitto/api/sessions/{session_id}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Authorization: token {TOKEN}\r\n\r\n".encode()
    )
    assert b"200" in await reader.readline()
    try:
        yield reader
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


def waiting_bytes(server) -> int:
    """What the server holds for its connections, in all."""
    connections = server.app.http_server._connections
    return sum(len(connection.stream._write_buffer) for connection in connections)


async def test_a_reader_that_does_not_read_holds_up_nobody(server, monkeypatch) -> None:
    monkeypatch.setattr(sse, "HEARTBEAT_S", 0.5)
    gate = asyncio.Event()
    server.script([hold(gate), say(*[PIECE] * 1500)], say("next"))
    session_id = await server.new_session(title="t")
    await server.start_turn(session_id)
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(3):
            await stack.enter_async_context(silent_reader(server, session_id))
        gate.set()
        most = 0
        got = 0
        async for message in server.stream(session_id):
            got += len(message.data.get("text", ""))
            most = max(most, waiting_bytes(server))
            if message.event == "turn.finished":
                break
        assert got == 1500 * len(PIECE)
        assert most < 1_000_000  # some events for each connection, not all there are
        await server.play(session_id)
    sessions = server.vitto.services().sessions
    async with asyncio.timeout(10):
        while sessions._open.find(session_id).uses:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_slow_reader_gets_everything_in_the_end(server) -> None:
    server.script([say(*[f"{number} {PIECE}" for number in range(300)])])
    session_id = await server.new_session(title="t")
    async with silent_reader(server, session_id) as reader:
        await server.play(session_id)
        numbers: list[int] = []
        buffered = b""
        async with asyncio.timeout(20):
            while b"turn.finished" not in buffered:
                buffered += await reader.read(4096)
        for line in buffered.split(b"\n"):
            if line.startswith(b"data: "):
                numbers.append(json.loads(line[6:])["seq"])
    assert numbers == list(range(1, len(numbers) + 1))


async def test_an_event_of_many_megabytes_passes(server) -> None:
    server.script([say("a" * 9_000_000)])
    session_id = await server.new_session(title="t")
    await server.play(session_id)
    (delta,) = [e for e in await server.events(session_id) if e["type"] == "text.delta"]
    assert len(delta["text"]) == 9_000_000
