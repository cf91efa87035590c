"""A real JupyterLab for tests and measurements: own home, own settings, own root, free port."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# the "Jupyter news?" box would lie over every screenshot
QUIET = {"@jupyterlab/apputils-extension:announcements": True}
# real-time collaboration is installed for some tests, and off in all others
RTC_PAGE = {"@jupyter/collaboration-extension": True, "@jupyter/docprovider-extension": True}
RTC_SERVER = {"jupyter_server_ydoc": False, "jupyter_server_fileid": False}


def chromium_path() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser")


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@dataclass
class Lab:
    """A running server. `root` is the contents root; `home` holds settings and our data."""

    base: Path
    env: dict[str, str] = field(default_factory=dict)
    args: tuple[str, ...] = ()
    base_url: str = "/"
    theme: str = "JupyterLab Light"
    with_vitto: bool = True
    collaborative: bool = False
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.token = secrets.token_hex(16)
        self.port = free_port()
        self.root = self.base / "root"
        self.home = self.base / "home"
        self.log = self.base / "server.log"
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.base_url}"

    def start(self) -> Lab:
        self.root.mkdir(parents=True, exist_ok=True)
        self.home.mkdir(parents=True, exist_ok=True)
        self._write_settings()
        environment = {
            k: v for k, v in os.environ.items() if not k.startswith(("ANTHROPIC_", "JUPYTER_"))
        }
        environment |= {
            "HOME": str(self.home),
            "JUPYTER_CONFIG_DIR": str(self.home / "config"),
            "JUPYTER_DATA_DIR": str(self.home / "data"),
            "JUPYTER_RUNTIME_DIR": str(self.home / "runtime"),
            "IPYTHONDIR": str(self.home / "ipython"),
            "MPLCONFIGDIR": str(self.home / "mpl"),
            **self.env,
        }
        command = [
            sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root",
            f"--port={self.port}", f"--ServerApp.base_url={self.base_url}",
            f"--IdentityProvider.token={self.token}", f"--ServerApp.root_dir={self.root}",
            "--ServerApp.port_retries=0", "--LabApp.expose_app_in_browser=True", *self.args,
        ]  # fmt: skip
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, env=environment, cwd=self.root, stdout=log, stderr=log
            )
        self._wait_until_ready()
        return self

    def stop(self) -> None:
        process, self.process = self.process, None
        if process is None or process.poll() is not None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def __enter__(self) -> Lab:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def request(
        self, method: str, path: str, body: Any = None, timeout_s: float = 30
    ) -> tuple[int, Any]:
        """A JSON request with the token; returns (status, parsed body or None)."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.url + path,
            data=data,
            method=method,
            headers={"Authorization": f"token {self.token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=timeout_s) as reply:
                text, status = reply.read(), reply.status
        except urllib.error.HTTPError as error:
            text, status = error.read(), error.code
        return status, json.loads(text) if text else None

    def lab_url(self, path: str = "", query: str = "", *, workspace: str = "default") -> str:
        """The address of a page; a workspace of its own starts without anybody's open tabs."""
        where = f"lab/workspaces/{workspace}" + (f"/tree/{path}" if path else "")
        return f"{self.url}{where}?token={self.token}{'&' + query if query else ''}"

    def _write_settings(self) -> None:
        config = self.home / "config"
        disabled = dict(QUIET) if self.collaborative else QUIET | RTC_PAGE
        off = {} if self.collaborative else dict(RTC_SERVER)
        if not self.with_vitto:
            disabled["vitto-jupyter"] = True
            off["vitto_jupyter"] = False
        config.mkdir(parents=True, exist_ok=True)
        server_config = {"ServerApp": {"jpserver_extensions": off}}
        (config / "jupyter_server_config.json").write_text(json.dumps(server_config))
        lab_config = config / "labconfig"
        lab_config.mkdir(parents=True, exist_ok=True)
        (lab_config / "page_config.json").write_text(json.dumps({"disabledExtensions": disabled}))
        settings = {
            "@jupyterlab/apputils-extension/themes": {"theme": self.theme},
            **self.settings,
        }
        for name, value in settings.items():
            file = config / "lab" / "user-settings" / f"{name}.jupyterlab-settings"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(value))

    def _wait_until_ready(self, timeout_s: float = 90) -> None:
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            if self.process is None or self.process.poll() is not None:
                raise RuntimeError(f"the server ended:\n{self.log.read_text()[-4000:]}")
            try:
                if self.request("GET", "api/status", timeout_s=5)[0] == 200:
                    return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError(f"the server did not start:\n{self.log.read_text()[-4000:]}")


def notebook(*cells: tuple[str, str] | str, kernel: str = "python3") -> dict[str, Any]:
    """A small nbformat 4.5 notebook; a plain string is a code cell, cell ids are c1, c2, …"""
    made = []
    for number, cell in enumerate(cells, 1):
        kind, source = ("code", cell) if isinstance(cell, str) else cell
        body: dict[str, Any] = {
            "cell_type": kind,
            "id": f"c{number}",
            "metadata": {},
            "source": source.splitlines(keepends=True),
        }
        if kind == "code":
            body |= {"execution_count": None, "outputs": []}
        made.append(body)
    return {
        "cells": made,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": kernel},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
