"""What a turn does: gathers all that the agent loop needs, and runs it. Used by sessions."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..agent.context import changes_text, context_text, prompt_blocks
from ..agent.guard import Guard, Mask
from ..agent.loop import run_turn
from ..agent.outcomes import Outcome, failure
from ..agent.ports import Clock, EventSink
from ..agent.prompts import system_prompt
from ..errors import Conflict, ProviderError
from ..policy.paths import below
from ..protocol.events import Event, ToolFinished, ToolRequested
from ..protocol.requests import StartTurn
from ..settings import Settings
from ..tools.base import ToolContext
from ..tools.changes import changes_since_seen
from ..tools.context import workspace_context
from ..tools.run_news import run_news
from ..tools.toolset import Toolset
from ..workspace.base import Notebook, ReadNotebook, TextSink, Workspace
from .open_session import OpenSession
from .provider_choice import Choice
from .turns import TurnApprover, TurnAsker, TurnSink

TOOLS_CHANGED = Conflict(
    "The tools of a session are fixed when it starts, and these are others.",
    code="tools_changed",
    hint="Start a new session with these tools.",
)


@dataclass(frozen=True, slots=True)
class Workbench:
    """What turns work with; made at the first turn, since making it is not free."""

    workspace: Workspace
    toolset: Toolset


class TurnWork:
    """Runs turns of all sessions; the arguments are those of SessionManager."""

    def __init__(
        self,
        *,
        settings: Settings,
        root: str,
        clock: Clock,
        workbench: Callable[[], Awaitable[Workbench]],
        secrets: Callable[[], Mapping[str, str]],
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._workbench = workbench
        self._secrets = secrets
        self._private = below(os.path.realpath(root), Path(os.path.realpath(settings.data_dir)))

    async def run(
        self,
        session: OpenSession,
        body: StartTurn,
        *,
        choice: Choice | ProviderError | None,
        sink: TurnSink,
        toolset: Toolset | None,
    ) -> Outcome:
        """A whole turn. `choice` is None when it was stopped before a model was chosen."""
        if choice is None:
            return Outcome("cancelled")
        if isinstance(choice, ProviderError):
            return failure(choice)
        bench = await self._workbench()
        tools = toolset or bench.toolset
        conversation = await session.conversation(system=system_prompt(), tools=tools.specs)
        if toolset is not None and toolset.specs != conversation.tools:
            return failure(TOOLS_CHANGED)
        mask = Mask(self._secrets())
        session.seen.mask = mask.text
        # side by side: each may ask the page
        read = SharedReads(bench.workspace.documents.read_notebook)
        try:
            context, news = await asyncio.gather(
                workspace_context(bench.workspace, body.context.path, read=read),
                _changes(bench.workspace, session, read),
            )
        finally:
            read.close()
        changes = changes_text(mask.text(news))
        # the notebook in front of the user, else the one that the session is about
        notebook_path = _notebook_in(body.context.path) or session.record.notebook_path

        def make_context(progress: TextSink) -> ToolContext:
            return ToolContext(
                workspace=bench.workspace,
                settings=self._settings,
                notebook_path=notebook_path,
                progress=progress,
                seen=session.seen,
                session_id=session.record.session_id,
            )

        followed = FollowedSink(sink, bench.workspace.documents.follow_disk)
        turn = run_turn(
            conversation=conversation,
            prompt=prompt_blocks(body.prompt, body.attachments, changes=changes),
            context=context_text(body.context, context),
            provider=choice.provider,
            model=choice.model,
            effort=choice.effort,
            toolset=tools,
            make_context=make_context,
            mode=body.mode,
            approver=TurnApprover(session.approvals, sink),
            asker=TurnAsker(session.questions, sink.turn_id),
            sink=followed,
            clock=self._clock,
            settings=self._settings,
            previous=session.last_reason,
            guard=Guard(self._private, mask),
        )
        try:
            return await turn
        finally:
            bench.workspace.documents.follow_disk()


class FollowedSink:
    """The sink of a turn; pages look at the files that its tools may have changed."""

    def __init__(self, sink: EventSink, follow_disk: Callable[[], None]) -> None:
        self._sink = sink
        self._follow_disk = follow_disk
        self._acting: set[str] = set()

    async def emit(self, event: Event) -> None:
        await self._sink.emit(event)
        if isinstance(event, ToolRequested) and event.effect != "read":
            self._acting.add(event.tool_call_id)
        elif isinstance(event, ToolFinished) and event.tool_call_id in self._acting:
            self._follow_disk()


class SharedReads:
    """Reads of notebooks by several readers at one moment: each notebook is read once."""

    def __init__(self, read: ReadNotebook) -> None:
        self._read = read
        self._reads: dict[str, asyncio.Future[Notebook]] = {}

    async def __call__(self, path: str) -> Notebook:
        if path not in self._reads:
            self._reads[path] = asyncio.ensure_future(self._read(path))
        return await asyncio.shield(self._reads[path])

    def close(self) -> None:
        """End reads that nobody waits for any more."""
        for read in self._reads.values():
            read.cancel()


async def _changes(workspace: Workspace, session: OpenSession, read: ReadNotebook) -> str:
    """What others changed since the last turn, and how runs ended that it left behind."""
    changes = await changes_since_seen(workspace, session.seen, read=read)
    news = await run_news(workspace, session.record.session_id)
    return "\n".join(filter(None, (changes, news)))


def _notebook_in(path: str | None) -> str | None:
    return path if path is not None and path.endswith(".ipynb") else None
