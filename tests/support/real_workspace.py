"""Kernels and terminals of jupyter_server for tests, without a server around them."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vitto_jupyter.workspace.base import RunEdit, Seen
from vitto_jupyter.workspace.kernels.jupyter_kernels import JupyterKernels
from vitto_jupyter.workspace.terminals.jupyter_terminals import JupyterTerminals


async def until(reached: Callable[[], bool]) -> None:
    """Wait for a state of other processes, which no event here tells."""
    async with asyncio.timeout(30):
        while not reached():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@dataclass
class Changes:
    """What `on_change` was called with."""

    calls: list[list[RunEdit]] = field(default_factory=list)

    async def __call__(self, edits: Any) -> None:
        self.calls.append(list(edits))

    @property
    def edits(self) -> list[RunEdit]:
        return [edit for call in self.calls for edit in call]


@dataclass
class RealKernels:
    """The port and the managers under it."""

    port: JupyterKernels
    manager: Any
    sessions: Any


@asynccontextmanager
async def real_kernels(root: Path, *, blocking: bool = False) -> AsyncIterator[RealKernels]:
    """`blocking`: over the manager class whose kernel clients block."""
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_server.services.contents.filemanager import AsyncFileContentsManager
    from jupyter_server.services.kernels import kernelmanager
    from jupyter_server.services.sessions.sessionmanager import SessionManager

    kind = "MappingKernelManager" if blocking else "AsyncMappingKernelManager"
    specs = KernelSpecManager()
    # without a folder of its own it writes connection files into the working folder
    runtime = tempfile.mkdtemp(prefix="vitto-kernels-")
    specs.kernel_dirs.insert(0, _bash_spec(Path(runtime) / "specs"))
    manager = getattr(kernelmanager, kind)(
        root_dir=str(root), kernel_spec_manager=specs, connection_dir=runtime
    )
    contents = AsyncFileContentsManager(root_dir=str(root))
    sessions = SessionManager(kernel_manager=manager, contents_manager=contents)
    port = JupyterKernels(
        kernel_manager=manager, session_manager=sessions, kernel_spec_manager=specs
    )
    try:
        yield RealKernels(port, manager, sessions)
    finally:
        await port.close()
        for kernel_id in manager.list_kernel_ids():
            await manager.shutdown_kernel(kernel_id, now=True)
        shutil.rmtree(runtime, ignore_errors=True)


def _bash_spec(folder: Path) -> str:
    """A folder with the spec of a kernel that is not Python: its package installs none."""
    (folder / "bash").mkdir(parents=True)
    argv = [sys.executable, "-m", "bash_kernel", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": "Bash", "language": "bash", "env": {"PS1": "$"}}
    (folder / "bash" / "kernel.json").write_text(json.dumps(spec))
    return str(folder)


class NoPages:
    """The FrontEnds port with no page open."""

    def seen(self) -> Seen:
        return Seen()


@dataclass
class RealTerminals:
    port: JupyterTerminals
    manager: Any
    root: Path


@asynccontextmanager
async def real_terminals(root: Path, **options: Any) -> AsyncIterator[RealTerminals]:
    from jupyter_server_terminals.terminalmanager import TerminalManager

    manager = TerminalManager(shell_command=["bash"])
    port = JupyterTerminals(manager, root=str(root), **options)
    try:
        yield RealTerminals(port, manager, root)
    finally:
        await port.close()
        await manager.shutdown()
