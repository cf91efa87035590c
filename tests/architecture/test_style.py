"""The Python code is as the formatter and the linter of pyproject.toml want it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("check", [("check",), ("format", "--check")], ids=["lint", "format"])
def test_ruff_has_nothing_to_say(check: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "ruff", *check, "vitto_jupyter", "tests", "labextension"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
