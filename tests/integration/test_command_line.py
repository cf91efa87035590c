"""`vitto` as people run it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from lab import free_port

VITTO = str(Path(sys.executable).with_name("vitto"))


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("ANTHROPIC_", "JUPYTER_"))}
    home = tmp_path / "home"
    home.mkdir()
    folders = {f"JUPYTER_{n}_DIR": str(home / n.lower()) for n in ("CONFIG", "DATA", "RUNTIME")}
    return {**clean, "HOME": str(home), **folders}


def test_lab_starts_on_the_example_with_vitto_open(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    port = free_port()
    options = ["--no-browser", "--allow-root", f"--port={port}", "--IdentityProvider.token=tok"]
    with open(tmp_path / "log", "wb") as log:
        process = subprocess.Popen(
            [VITTO, "lab", *options], cwd=tmp_path, env=environment, stdout=log, stderr=log
        )
    try:
        landing = wait_for(f"http://127.0.0.1:{port}/?token=tok", process)
        assert "/lab/tree/try-vitto.ipynb?" in landing.headers["Location"]
        printed = re.search(rf"http://127\.0\.0\.1:{port}\S+", (tmp_path / "log").read_text())
        assert printed is not None
        address = printed[0].replace("token=...", "token=tok")  # a token of our own is not shown
        followed = httpx.Client(follow_redirects=True, timeout=30).get(address)
        assert (followed.status_code, followed.url.path) == (200, "/lab/tree/try-vitto.ipynb")
        headers = {"Authorization": "token tok"}
        base = f"http://127.0.0.1:{port}"
        providers = httpx.get(f"{base}/vitto/api/providers", headers=headers, timeout=30)
        assert providers.json()["provider"] == "demo"
        page = httpx.get(f"{base}/lab/tree/try-vitto.ipynb", headers=headers, timeout=30)
        assert page.status_code == 200
        assert "vitto-jupyter" in page.text
        assert '"vittoOpen": "true"' in page.text
    finally:
        process.terminate()
        process.wait(20)
    assert (tmp_path / "vitto-demo/try-vitto.ipynb").exists()


def wait_for(url: str, process: subprocess.Popen[bytes]) -> httpx.Response:
    deadline = time.monotonic() + 60
    while True:
        try:
            return httpx.get(url, timeout=30)
        except httpx.TransportError:
            assert process.poll() is None, "it ended"
            assert time.monotonic() < deadline, "it did not start"
            time.sleep(0.1)


def test_doctor_says_what_is_there(environment: dict[str, str]) -> None:
    done = subprocess.run([VITTO, "doctor"], env=environment, capture_output=True, text=True)
    assert "The server extension is enabled." in done.stdout
    assert "The demo answers instead." in done.stdout
    assert "Kernels: " in done.stdout
    assert done.stderr == ""
    assert (done.returncode == 0) == ("All is well." in done.stdout)


def test_doctor_names_a_service_that_cannot_be_reached(environment: dict[str, str]) -> None:
    environment |= {
        "ANTHROPIC_API_KEY": "sk-ant-secret",
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{free_port()}",
    }
    done = subprocess.run([VITTO, "doctor"], env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert "!!  Messages API at 127.0.0.1" in done.stdout
    assert "secret" not in done.stdout + done.stderr
