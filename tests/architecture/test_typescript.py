"""The TypeScript side: it compiles, its tests pass, and its layers hold."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from front_end import LABEXTENSION, run_node

import vitto_jupyter

SOURCES = LABEXTENSION / "src"


@dataclass(frozen=True)
class Rule:
    """What the files of one folder of src/ may import: packages, and folders of src/."""

    packages: tuple[str, ...]
    folders: frozenset[str]


RULES = {
    "protocol": Rule((), frozenset({"protocol"})),
    "diff": Rule(("node-diff3",), frozenset({"diff"})),
    "client": Rule(("@noble/hashes",), frozenset({"client", "model", "protocol"})),
    "model": Rule((), frozenset({"client", "model", "protocol"})),
    "ui": Rule(("react", "react-dom"), frozenset({"client", "model", "protocol", "ui"})),
}
MAY_DO_ANYTHING = {"hosts", "index.ts"}
IMPORT = re.compile(r"""\b(?:from|import)\s*\(?\s*['"]([^'"]+)['"]""")
REACHES_OUT = re.compile(r"\b(?:fetch|XMLHttpRequest|WebSocket|EventSource)\s*\(")
NO_NETWORK = {"diff", "model", "protocol", "ui"}


def broken_rules(sources: Path) -> list[str]:
    """Imports and calls that the rules forbid, as "file: what"."""
    found: list[str] = []
    for file in sorted([*sources.rglob("*.ts"), *sources.rglob("*.tsx")]):
        name = file.relative_to(sources)
        if name.parts[0] in MAY_DO_ANYTHING:
            continue
        text = file.read_text(encoding="utf-8")
        wrong = [what for what in IMPORT.findall(text) if not is_allowed(name, what)]
        if name.parts[0] in NO_NETWORK:
            wrong += REACHES_OUT.findall(text)
        found += [f"{name.as_posix()}: {what}" for what in wrong]
    return found


def is_allowed(file: Path, imported: str) -> bool:
    rule = RULES[file.parts[0]]
    if not imported.startswith("."):
        return any(imported == own or imported.startswith(f"{own}/") for own in rule.packages)
    parts: list[str] = list(file.parts[:-1])
    for step in imported.split("/"):
        if step == "..":
            parts.pop()
        elif step != ".":
            parts.append(step)
    return parts[0] in rule.folders


@pytest.mark.timeout(900)
@pytest.mark.parametrize("project", ["tsconfig.json", "tests/tsconfig.json"])
def test_it_compiles(project: str) -> None:
    done = run_node("node_modules/typescript/bin/tsc", "-p", project, "--noEmit", timeout_s=300)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.timeout(900)
def test_its_tests_pass() -> None:
    done = run_node("node_modules/vitest/vitest.mjs", "run", timeout_s=600)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_layers_hold() -> None:
    assert broken_rules(SOURCES) == []


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("ui/App.tsx", "import { Widget } from '@lumino/widgets';"),
        ("ui/text/blocks.ts", "const later = () => import('@jupyterlab/services');"),
        ("ui/mount.tsx", "import { LabHost } from '../hosts/lab/lab-host';"),
        ("ui/acts.ts", "void fetch('/api');"),
        ("model/store.ts", "import { PageConfig } from '@jupyterlab/coreutils';"),
        ("model/store.ts", "import { useState } from 'react';"),
        ("model/reducer.ts", "import { App } from '../ui/App';"),
        ("client/sse.ts", "import '@lumino/signaling';"),
        ("protocol/types.ts", "export * from '../model/guards';"),
        ("diff/span.ts", "import { diff } from '@codemirror/merge';"),
    ],
)
def test_a_bad_import_is_found(tmp_path: Path, file: str, line: str) -> None:
    sources = tmp_path / "src"
    shutil.copytree(SOURCES, sources)
    with (sources / file).open("a", encoding="utf-8") as text:
        text.write(f"\n{line}\n")
    found = broken_rules(sources)
    assert [place.split(":")[0] for place in found] == [file], found


def test_a_new_folder_needs_a_rule(tmp_path: Path) -> None:
    (tmp_path / "fresh").mkdir()
    (tmp_path / "fresh" / "a.ts").write_text("import '../ui/App';\n")
    with pytest.raises(KeyError):
        broken_rules(tmp_path)


def test_the_lock_file_names_no_registry() -> None:
    packages = json.loads((LABEXTENSION / "package-lock.json").read_text("utf-8"))["packages"]
    assert len(packages) > 100
    assert [name for name, package in packages.items() if "resolved" in package] == []


def test_both_sides_have_one_version() -> None:
    for name in ("package.json", "package-lock.json"):
        version = json.loads((LABEXTENSION / name).read_text("utf-8"))["version"]
        assert version == vitto_jupyter.__version__, name
