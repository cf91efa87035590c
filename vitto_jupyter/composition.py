"""The composition root: builds every service once, at its first use. Imported by app only."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from .agent.guard import secret_values
from .providers.base import Provider
from .services.client_tools import ClientTools
from .services.clock import SystemClock
from .services.hosts import Hosts
from .services.provider_choice import ProviderChoice
from .services.sessions import SessionManager, Workbench
from .settings import Settings

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

    from .providers.anthropic import AnthropicProvider
    from .workspace.documents.jupyter_documents import JupyterDocuments
    from .workspace.documents.live import LiveDocuments
    from .workspace.documents.save_journal import SaveJournal
    from .workspace.kernels.jupyter_kernels import JupyterKernels
    from .workspace.runs.runs import Runs
    from .workspace.terminals.jupyter_terminals import JupyterTerminals

ADAPTERS = (
    ".tools.context",
    ".tools.running",
    ".tools.diagnostics",
    ".tools.search",
    ".workspace.documents.jupyter_documents",
    ".workspace.kernels.jupyter_kernels",
    ".workspace.search.jupyter_search",
    ".workspace.terminals.jupyter_terminals",
    ".workspace.documents.live",
)
# where tests put providers of their own, by name
PROVIDERS_SETTING = "vitto_providers"


class Composition:
    """What the handlers call; see `Services` in handlers/base.py.

    Args:
        wake: Tells pages to look: called with a host id and a session id, one of them "".
    """

    def __init__(
        self, *, settings: Settings, server: ServerApp, wake: Callable[[str, str], None]
    ) -> None:
        self.settings = settings
        self._server = server
        self._wake = wake
        self._clock = SystemClock()

    @cached_property
    def sessions(self) -> SessionManager:
        return SessionManager(
            settings=self.settings,
            root=self._server.root_dir,
            clock=self._clock,
            choice=self.choice,
            workbench=self.workbench,
            wake=lambda session_id: self._wake("", session_id),
            secrets=self._secrets,
        )

    def _secrets(self) -> dict[str, str]:
        token = getattr(self._server.identity_provider, "token", "")
        return secret_values({**os.environ, "JUPYTER_TOKEN": token})

    @cached_property
    def hosts(self) -> Hosts:
        return Hosts(lambda host_id: self._wake(host_id, ""), self._clock)

    @cached_property
    def choice(self) -> ProviderChoice:
        return ProviderChoice(
            providers=self._providers(), settings=self.settings, clock=self._clock
        )

    @cached_property
    def client_tools(self) -> ClientTools:
        return ClientTools(timeout_s=self.settings.command_timeout_s)

    async def workbench(self) -> Workbench:
        if "_workbench" not in vars(self):
            # over a second of imports: others must be served meanwhile
            await asyncio.to_thread(self._prepare)
        return self._workbench

    def _prepare(self) -> None:
        for module in ADAPTERS:
            import_module(module, __package__)
        self._journal.recover()

    @cached_property
    def _journal(self) -> SaveJournal:
        from .workspace.documents.save_journal import SaveJournal

        return SaveJournal(self.settings.data_dir / "saves")

    @cached_property
    def _workbench(self) -> Workbench:
        from .tools.toolset import builtin_toolset
        from .workspace.base import Workspace
        from .workspace.local_git import LocalGit
        from .workspace.search.jupyter_search import local_search

        workspace = Workspace(
            root=self._server.root_dir,
            documents=self._documents,
            terminals=self._terminals,
            kernels=self._kernels,
            runs=self._runs,
            front_ends=self.hosts,
            git=LocalGit(Path(self._server.root_dir)),
            search=local_search(self._server.contents_manager, private=self.settings.data_dir),
        )

        return Workbench(workspace, builtin_toolset())

    @cached_property
    def _files(self) -> JupyterDocuments:
        from .workspace.documents.jupyter_documents import JupyterDocuments
        from .workspace.documents.jupyter_rooms import RoomFiles

        manager = self._server.contents_manager
        files = RoomFiles(manager, self._journal, server=self._server)
        return JupyterDocuments(manager, files=files)

    @cached_property
    def _documents(self) -> LiveDocuments:
        from .workspace.documents.live import LiveDocuments

        documents = LiveDocuments(self.hosts, self._files)
        self.hosts.listen(documents.pages_changed)
        return documents

    @cached_property
    def _kernels(self) -> JupyterKernels:
        from .workspace.kernels.jupyter_kernels import JupyterKernels

        return JupyterKernels(
            kernel_manager=self._server.kernel_manager,
            session_manager=self._server.session_manager,
            kernel_spec_manager=self._server.kernel_spec_manager,
        )

    @cached_property
    def _runs(self) -> Runs:
        from .workspace.runs.output_spool import OutputSpool
        from .workspace.runs.runs import Runs

        spool = OutputSpool(self.settings.data_dir / "outputs")
        return Runs(self._documents, self._kernels, spool)

    @cached_property
    def _terminals(self) -> JupyterTerminals:
        from .workspace.terminals.jupyter_terminals import JupyterTerminals

        manager = self._server.web_app.settings.get("terminal_manager")
        return JupyterTerminals(manager, root=self._server.root_dir)

    @cached_property
    def _anthropic(self) -> AnthropicProvider:
        from .providers.anthropic import AnthropicProvider

        return AnthropicProvider(self.settings)

    def _providers(self) -> Mapping[str, Provider]:
        from .providers.demo import DemoProvider

        ours: dict[str, Provider] = {"anthropic": self._anthropic, "demo": DemoProvider()}
        return {**ours, **self._server.web_app.settings.get(PROVIDERS_SETTING, {})}

    def running_sessions(self) -> list[str]:
        return self.sessions.running() if "sessions" in vars(self) else []

    async def close(self) -> None:
        """Stop what runs, turns first; what was never used was never built."""
        parts = ("sessions", "_runs", "_documents", "_files", "_kernels", "_terminals")
        for name in (*parts, "_anthropic"):
            if name in vars(self):
                await getattr(self, name).close()
