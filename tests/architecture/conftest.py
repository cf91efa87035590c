"""A copy of the package, to break its rules in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class PackageCopy:
    """A copy of pyproject.toml and the package's Python files; `python` runs code beside it."""

    folder: Path

    def add_line(self, path: str, line: str) -> None:
        with (self.folder / path).open("a", encoding="utf-8") as file:
            file.write(f"\n{line}\n")

    def python(self, code: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", code],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=120,
        )


@pytest.fixture
def package(tmp_path: Path) -> PackageCopy:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for source in (ROOT / "vitto_jupyter").rglob("*.py"):
        target = tmp_path / source.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    return PackageCopy(tmp_path)
