"""Server start with and without Vitto, in pairs: until it answers, in seconds of the clock
and of the processor (which other work on the machine disturbs less), and memory.

pytest --bench tests/bench/test_server_start.py -s
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from lab import free_port

PAIRS = 7
TOKEN = "bench"


class Start(NamedTuple):
    """Up to the first answer: seconds by the clock and of the processor, resident MiB."""

    seconds: float
    cpu_s: float
    mib: float


def start_once(folder: Path, *, with_vitto: bool) -> Start:
    port = free_port()
    extensions = {"vitto_jupyter": with_vitto, "jupyterlab": False}
    command = [
        *(sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root"),
        f"--port={port}",
        f"--IdentityProvider.token={TOKEN}",
        f"--ServerApp.root_dir={folder}",
        f"--ServerApp.jpserver_extensions={extensions}",
    ]
    environment = {**os.environ, "HOME": str(folder)}
    began = time.perf_counter()
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        seconds = _until_it_answers(port, process) - began
        return Start(seconds, _cpu_s(process.pid), _resident_mib(process.pid))
    finally:
        process.kill()
        process.wait(10)


def _until_it_answers(port: int, process: subprocess.Popen[bytes]) -> float:
    import httpx

    while process.poll() is None:
        try:
            httpx.get(f"http://127.0.0.1:{port}/api?token={TOKEN}", timeout=5)
            return time.perf_counter()
        except httpx.TransportError:
            time.sleep(0.01)
    raise AssertionError("the server ended")


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident_mib(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@pytest.mark.bench
@pytest.mark.timeout(600)
def test_server_start(tmp_path: Path) -> None:
    start_once(tmp_path, with_vitto=True)  # fills the caches of both
    pairs = []
    for number in range(PAIRS):
        # the order alternates, so that drift of the machine favours neither
        order = (False, True) if number % 2 else (True, False)
        measured = {with_vitto: start_once(tmp_path, with_vitto=with_vitto) for with_vitto in order}
        pairs.append((measured[False], measured[True]))
    without = [plain for plain, _ in pairs]
    sys.stdout.write(
        f"\nserver start without Vitto: {statistics.median(s.seconds for s in without):.2f} s, "
        f"processor {statistics.median(s.cpu_s for s in without):.2f} s, "
        f"{statistics.median(s.mib for s in without):.1f} MiB; Vitto adds, over {PAIRS} pairs:\n"
    )
    for number, unit in enumerate(("s", "s of the processor", "MiB")):
        added = sorted(ours[number] - plain[number] for plain, ours in pairs)
        sys.stdout.write(
            f"  {statistics.median(added):+.2f} {unit} (from {added[0]:+.2f} to {added[-1]:+.2f})\n"
        )
