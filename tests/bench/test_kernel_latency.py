"""What the agent's work costs Jupyter: the round trip of a kernel message through the same server.

Beside each other in one run: an idle server, the same beside a process that only parses a 100 MB
notebook (a floor), 20 streaming turns, and these with that notebook being read again and again.
Server, kernel, readers and this client are processes of their own; with fewer processors than
that they also wait for each other's time.

pytest --bench tests/bench/test_kernel_latency.py -s
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import busy_server
import httpx
import pytest
from big_notebooks import hundred_megabytes
from http_server import TOKEN
from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

pytestmark = pytest.mark.bench

TURNS = 20
ROUND_TRIPS = 300
PAUSE_S = 0.02
NUMBERS = itertools.count()
HEADERS = {"Authorization": f"token {TOKEN}"}


@contextmanager
def process(*arguments: str, **options: Any) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, busy_server.__file__, *arguments]
    with subprocess.Popen(command, text=True, **options) as child:
        try:
            yield child
        finally:
            child.kill()


@asynccontextmanager
async def kernel_at(client: httpx.AsyncClient) -> AsyncIterator[WebSocketClientConnection]:
    kernel = (await client.post("api/kernels", json={})).raise_for_status().json()
    address = str(client.base_url).replace("http", "ws", 1)
    request = HTTPRequest(f"{address}api/kernels/{kernel['id']}/channels", headers=HEADERS)
    connection = await websocket_connect(request)
    yield connection
    connection.close()
    await client.delete(f"api/kernels/{kernel['id']}")


async def round_trip_ms(connection: WebSocketClientConnection) -> float:
    message_id = f"m{next(NUMBERS)}"
    header = {"msg_id": message_id, "msg_type": "kernel_info_request", "session": "bench"}
    header |= {"username": "", "version": "5.3", "date": ""}
    message = {"header": header, "parent_header": {}, "metadata": {}, "content": {}}
    start = time.perf_counter()
    await connection.write_message(json.dumps({**message, "channel": "shell", "buffers": []}))
    while True:
        answer = json.loads(await connection.read_message() or "null")
        _acknowledge(connection)
        if answer["msg_type"] == "kernel_info_reply":
            if answer["parent_header"]["msg_id"] == message_id:
                return (time.perf_counter() - start) * 1000


def _acknowledge(connection: WebSocketClientConnection) -> None:
    """At once: else the server holds its next message back for up to 40 ms (Nagle)."""
    if hasattr(socket, "TCP_QUICKACK"):
        stream = connection.protocol.stream.socket  # type: ignore[union-attr]
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)


async def row_of(name: str, connection: WebSocketClientConnection, reads: str = "") -> str:
    times = []
    for _ in range(ROUND_TRIPS):
        times.append(await asyncio.wait_for(round_trip_ms(connection), 60))
        await asyncio.sleep(PAUSE_S)
    times.sort()
    p95, p99 = times[int(len(times) * 0.95)], times[int(len(times) * 0.99)]
    middle = statistics.median(times)
    return f"{name:28} {middle:8.1f} {p95:8.1f} {p99:8.1f} {times[-1]:8.1f} {reads}"


async def start_turn(client: httpx.AsyncClient, prompt: str) -> str:
    session = (await client.post("vitto/api/sessions", json={})).raise_for_status().json()
    url = f"vitto/api/sessions/{session['session_id']}/turns"
    (await client.post(url, json={"prompt": prompt})).raise_for_status()
    return str(session["session_id"])


async def test_round_trip_of_a_kernel_message_beside_the_agents_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / busy_server.BIG).write_bytes(hundred_megabytes())
    log = (tmp_path / "server.log").open("w")
    rows: list[str] = []
    with log, process("serve", str(tmp_path), stdout=subprocess.PIPE, stderr=log) as server:
        assert server.stdout is not None
        base = (await asyncio.to_thread(server.stdout.readline)).strip()
        async with (
            httpx.AsyncClient(base_url=base, headers=HEADERS, timeout=60) as client,
            kernel_at(client) as connection,
        ):
            await round_trip_ms(connection)
            rows.append(await row_of("idle", connection))
            with process("parse", str(tmp_path / "root" / busy_server.BIG)):
                rows.append(await row_of("idle, 100 MB parsed beside", connection))
            talking = [await start_turn(client, "talk") for _ in range(TURNS)]
            with process("read", base, *talking):
                rows.append(await row_of(f"{TURNS} turns", connection))
                reading = await start_turn(client, "read the notebook")
                finished = tmp_path / "finished"
                with finished.open("w") as dots, process("read", base, reading, stdout=dots):
                    row = await row_of(f"{TURNS} turns, 100 MB read", connection)
                    rows.append(f"{row} {finished.stat().st_size} reads")
            rows.append(f"{'processors':28} {os.cpu_count()}")
    head = f"{'ms':28} {'median':>8} {'p95':>8} {'p99':>8} {'max':>8}"
    with capsys.disabled():
        print("\n".join(["", f"Kernel message round trip ({ROUND_TRIPS} each)", head, *rows]))
    assert finished.stat().st_size > 0
