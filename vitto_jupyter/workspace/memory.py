"""The workspace in memory: a complete double of every port, for tests and plain scripts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ..errors import ToolError
from .base import (
    Cell,
    CommandResult,
    KernelSpec,
    Notebook,
    Seen,
    TextSink,
    Variable,
    Workspace,
)
from .documents.memory_documents import MemoryDocuments, notebook_of
from .kernels.memory_kernels import (
    PYTHON,
    Answer,
    Evaluate,
    MemoryKernels,
    error,
    python_evaluator,
    result,
    stream,
)
from .paths import joined
from .runs.runs import Runs

__all__ = [
    "MemoryDocuments",
    "MemoryFrontEnds",
    "MemoryGit",
    "MemoryKernels",
    "MemoryTerminals",
    "error",
    "memory_workspace",
    "notebook_of",
    "python_evaluator",
    "result",
    "stream",
]

CommandAnswer = str | CommandResult | Callable[[TextSink], Awaitable[CommandResult]]


@dataclass(slots=True)
class MemoryTerminals:
    """A terminal that answers from a table: output text, a whole result, or a coroutine function.

    A command that is not in the table ends with exit code 127. `ran` lists (command, cwd).
    """

    answers: Mapping[str, CommandAnswer] = field(default_factory=dict)
    usable: bool = True
    ran: list[tuple[str, str]] = field(default_factory=list)
    timeouts_s: list[float] = field(default_factory=list)

    async def available(self) -> bool:
        return self.usable

    async def run(
        self, command: str, *, cwd: str, timeout_s: float, on_output: TextSink
    ) -> CommandResult:
        if not self.usable:
            raise ToolError("Terminals are not available on this server.")
        self.ran.append((command, cwd))
        self.timeouts_s.append(timeout_s)
        answer = self.answers.get(command)
        if callable(answer):
            return await answer(on_output)
        if answer is None:
            answer = _ended(f"bash: {command.split(' ')[0]}: command not found\n", exit_code=127)
        elif isinstance(answer, str):
            answer = _ended(answer, exit_code=0)
        await on_output(answer.output)
        return answer

    async def left_running(self) -> tuple[str, ...]:
        return ()


def _ended(output: str, *, exit_code: int) -> CommandResult:
    return CommandResult(exit_code, output, len(output), 0.01, "vitto")


@dataclass(slots=True)
class MemoryFrontEnds:
    now: Seen = field(default_factory=Seen)

    def seen(self) -> Seen:
        return self.now


@dataclass(slots=True)
class MemoryGit:
    """`disk` holds files by path, as in MemoryDocuments."""

    current: str | None = None
    disk: Mapping[str, bytes] = field(default_factory=dict)

    async def branch(self, path: str) -> str | None:
        return self.current

    async def ignore_text(self, folder: str) -> str:
        return self.disk.get(joined(folder, ".gitignore"), b"").decode("utf-8", "replace")


def memory_workspace(
    files: Mapping[str, str | bytes] | None = None,
    notebooks: Mapping[str, Notebook | Sequence[str | Cell]] | None = None,
    *,
    commands: Mapping[str, CommandAnswer] | None = None,
    answers: Mapping[str, Answer] | None = None,
    evaluate: Evaluate | None = None,
    specs: tuple[KernelSpec, ...] = (PYTHON,),
    variables: tuple[Variable, ...] = (),
    seen: Seen | None = None,
    branch: str | None = None,
    root: str = "/home/user/project",
) -> Workspace:
    """A workspace of doubles; the parts are the Memory… classes.

    Args:
        files: Contents by path; bytes for what is no text.
        notebooks: Notebooks by path; a sequence of strings makes code cells c1, c2, …
        commands: What the terminal answers, see MemoryTerminals.
        answers: What sources do in a kernel, see MemoryKernels.
        evaluate: Runs every other source, e.g. `python_evaluator()`.
    """
    documents = MemoryDocuments(files, notebooks)
    kernels = MemoryKernels(answers or {}, evaluate, specs, variables)
    return Workspace(
        root=root,
        documents=documents,
        terminals=MemoryTerminals(commands or {}),
        kernels=kernels,
        runs=Runs(documents, kernels),
        front_ends=MemoryFrontEnds(seen or Seen()),
        git=MemoryGit(branch, documents.disk),
    )
