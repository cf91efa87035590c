"""Servers that stop, are killed, or share one home: in processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from lab import RTC_SERVER, free_port

from .conftest import TOKEN, environment

EXTENSIONS = {"vitto_jupyter": True, "jupyterlab": False}
PROMPT = "Say hello, then list what you see."


@dataclass
class Process:
    """A Jupyter server without JupyterLab; the demo answers."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    def request(self, method: str, path: str, **fields: Any) -> httpx.Response:
        url = f"http://127.0.0.1:{self.port}/vitto/api/{path}"
        headers = {"Authorization": f"token {TOKEN}"}
        return httpx.request(method, url, headers=headers, timeout=20, **fields)

    def lines(self, session_id: str, query: str = "") -> Iterator[str]:
        url = f"http://127.0.0.1:{self.port}/vitto/api/sessions/{session_id}/events?{query}"
        headers = {"Authorization": f"token {TOKEN}"}
        with httpx.stream("GET", url, headers=headers, timeout=20) as response:
            yield from response.iter_lines()

    def events(self, session_id: str, query: str = "idle=close") -> Iterator[dict[str, Any]]:
        for line in self.lines(session_id, query):
            if line.startswith("data: "):
                yield json.loads(line[6:])

    def start_turn(self, **session: Any) -> str:
        session_id = self.request("POST", "sessions", json=session).json()["session_id"]
        started = self.request("POST", f"sessions/{session_id}/turns", json={"prompt": PROMPT})
        assert started.status_code == 202, started.text
        return session_id


Start = Callable[..., Process]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    running: list[Process] = []
    (tmp_path / "root").mkdir()
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("ANTHROPIC_", "JUPYTER_"))}
    home = environment(tmp_path / "home")
    home.pop("JUPYTER_NO_CONFIG")

    def start() -> Process:
        port = free_port()
        log = tmp_path / f"{port}.log"
        command = [
            *(sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root"),
            f"--port={port}",
            f"--IdentityProvider.token={TOKEN}",
            f"--ServerApp.root_dir={tmp_path / 'root'}",
            f"--ServerApp.jpserver_extensions={RTC_SERVER | EXTENSIONS}",
        ]
        with open(log, "wb") as out:
            process = subprocess.Popen(command, env={**clean, **home}, stdout=out, stderr=out)
        server = Process(process, port, log)
        running.append(server)
        deadline = time.monotonic() + 60
        while True:
            try:
                assert server.request("GET", "sessions").status_code == 200
                return server
            except httpx.TransportError:
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.1)

    yield start
    for server in running:
        server.process.kill()
        server.process.wait(10)


def test_a_terminated_server_marks_its_turns_and_is_gone_in_time(start: Start) -> None:
    server = start()
    sessions = [server.start_turn(), server.start_turn()]
    stream = server.events(sessions[0], "")
    while next(stream)["type"] != "text.delta":
        pass
    began = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    told = list(stream)
    assert server.process.wait(15) == 0
    assert time.monotonic() - began < 10
    assert told[-1]["type"] == "turn.finished"
    again = start()
    for session_id in sessions:
        last = list(again.events(session_id))[-1]
        assert (last["type"], last["reason"]) == ("turn.finished", "cancelled")
        assert last["error"]["code"] == "shutdown"
    assert "Traceback" not in server.log.read_text()


def test_a_killed_server_loses_nothing_that_was_shown(start: Start) -> None:
    server = start()
    session_id = server.start_turn(title="t")
    shown = []
    for event in server.events(session_id, ""):
        shown.append(event)
        if [e["type"] for e in shown].count("text.delta") == 5:
            server.process.kill()
            break
    server.process.wait(10)
    again = start()
    events = list(again.events(session_id))
    assert events[: len(shown)] == shown
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[-1]["error"]["code"] == "interrupted"
    next_turn = again.request("POST", f"sessions/{session_id}/turns", json={"prompt": PROMPT})
    assert next_turn.status_code == 202
    while not (events := list(again.events(session_id)))[-1]["type"] == "turn.finished":
        pass
    assert events[-1]["reason"] == "done", events[-1]


def test_two_servers_on_one_home_do_not_disturb_each_other(start: Start) -> None:
    one, other = start(), start()
    session_id = one.start_turn(title="t")
    refused = other.request("POST", f"sessions/{session_id}/turns", json={"prompt": PROMPT})
    assert (refused.status_code, refused.json()["code"]) == (409, "session_in_use")
    assert refused.json()["hint"]
    assert other.request("GET", f"sessions/{session_id}/events").status_code == 409
    assert [s["title"] for s in other.request("GET", "sessions").json()] == ["t"]
    own = other.start_turn()
    assert list(other.events(own))[-1]["reason"] == "done"
    assert list(one.events(session_id))[-1]["reason"] == "done"


def test_it_works_on_a_server_without_jupyterlab(start: Start) -> None:
    server = start()
    assert server.request("GET", "context").json()["notebook"] is None
    lab = httpx.get(f"http://127.0.0.1:{server.port}/lab?token={TOKEN}", timeout=20)
    assert lab.status_code == 404


def test_events_are_printed_as_they_come(start: Start) -> None:
    server = start()
    session_id = server.start_turn()
    times = [
        time.monotonic()
        for line in server.lines(session_id, "idle=close")
        if line == "event: text.delta"
    ]
    # the demo speaks a word every 12 ms: a buffered stream would come in one burst
    assert len(times) > 5
    assert times[-1] - times[0] > 0.05
