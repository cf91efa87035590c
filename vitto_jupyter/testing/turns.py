"""A whole agent around a scripted provider, to run turns in tests and plain scripts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..agent.context import prompt_blocks
from ..agent.conversation import Conversation
from ..agent.loop import run_turn
from ..agent.outcomes import Outcome
from ..agent.ports import Approver, Asker, Clock
from ..agent.prompts import system_prompt
from ..protocol.events import FinishReason, Mode
from ..providers.base import Provider
from ..settings import Settings
from ..tools.base import ToolContext
from ..tools.seen import Seen
from ..tools.toolset import Toolset
from ..workspace.base import TextSink, Workspace
from ..workspace.memory import memory_workspace
from .doubles import AutoApprover, FakeClock, MemoryStore, RecordingSink


@dataclass
class Agent:
    """Everything `run_turn` needs, with doubles for what is not given.

    `run` plays a turn and gives its outcome; `start` gives the task, to be cancelled.
    """

    provider: Provider
    model: str = "scripted"
    toolset: Toolset = field(default_factory=lambda: Toolset(()))
    workspace: Workspace = field(default_factory=memory_workspace)
    approver: Approver = field(default_factory=AutoApprover)
    sink: RecordingSink = field(default_factory=RecordingSink)
    clock: Clock = field(default_factory=FakeClock)
    store: MemoryStore = field(default_factory=MemoryStore)
    settings: Settings = field(default_factory=lambda: Settings(data_dir=Path("unused")))
    notebook_path: str | None = None
    mode: Mode = "ask"
    effort: str | None = None
    seen: Seen = field(default_factory=Seen)
    asker: Asker | None = None

    def __post_init__(self) -> None:
        self.conversation = Conversation(
            system=system_prompt(),
            tools=self.toolset.specs,
            store=self.store,
            messages=self.store.messages,
        )

    async def run(
        self, prompt: str = "Go.", *, context: str = "", previous: FinishReason | None = None
    ) -> Outcome:
        return await run_turn(
            conversation=self.conversation,
            prompt=prompt_blocks(prompt),
            context=context,
            provider=self.provider,
            model=self.model,
            effort=self.effort,
            toolset=self.toolset,
            make_context=self.make_context,
            mode=self.mode,
            approver=self.approver,
            sink=self.sink,
            clock=self.clock,
            settings=self.settings,
            previous=previous,
            asker=self.asker,
        )

    def start(self, prompt: str = "Go.") -> asyncio.Task[Outcome]:
        return asyncio.create_task(self.run(prompt))

    def make_context(self, progress: TextSink) -> ToolContext:
        return ToolContext(
            workspace=self.workspace,
            settings=self.settings,
            notebook_path=self.notebook_path,
            progress=progress,
            seen=self.seen,
        )

    def results(self) -> Sequence[dict]:
        """The tool_result blocks of the conversation, in order."""
        return [
            block
            for message in self.conversation.messages
            for block in message.content
            if block.get("type") == "tool_result"
        ]
