"""The ports of the workspace. Imported by tools, agent, services and the adapters.

Paths are API paths: relative to the contents root, "/" between parts, no leading "/". All
text has "\\n" line ends here; the adapters keep each file's own encoding and line ends.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NewType, Protocol

from ..protocol.base import JsonObject
from ..protocol.context import Diagnostic

if TYPE_CHECKING:
    from .runs.runs import Runs
    from .search.local_search import LocalSearch

Revision = NewType("Revision", str)
CellType = Literal["code", "markdown", "raw"]
# One nbformat output: stream, display_data, execute_result or error. As read from a notebook, a
# long field of it may be cut: `output["cut"]` then tells the full length, see `output_cut`.
Output = JsonObject
TextSink = Callable[[str], Awaitable[None]]


def revision_of(text: str) -> Revision:
    """The revision of a text: the first 16 hex digits of its SHA-256 (UTF-8)."""
    return Revision(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16])


# -- documents -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Entry:
    """A name in a folder. `size` in bytes, None when the contents manager does not say;
    `modified` is when it last changed, as the manager says it, "" when it does not."""

    path: str
    type: Literal["file", "notebook", "directory"]
    size: int | None = None
    modified: str = ""


@dataclass(frozen=True, slots=True)
class TextDocument:
    """A text file as read. `newline` is the ending that new lines get; `held` = open in a page,
    `dirty` = with changes there that are not on disk; `also_open` says when other pages have
    other versions of it."""

    path: str
    text: str
    revision: Revision
    newline: Literal["\n", "\r\n"] = "\n"
    encoding: str = "utf-8"
    held: bool = False
    dirty: bool = False
    also_open: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell. `label` is the short name people see: "1", "2", … by position at reading time.

    `edited_since_run`: its outputs are of an earlier source; `kernel_gone`: they are of a kernel
    that was restarted or ended. Both None when whoever was asked cannot know. `ran_at` is when
    the notebook says that the cell ran (ISO 8601), "" when it does not. `failures` is what failed
    without an exception, as `silent_failures` finds it; None when nobody has looked.
    """

    cell_id: str
    cell_type: CellType
    source: str
    label: str
    execution_count: int | None = None
    outputs: tuple[Output, ...] = ()
    edited_since_run: bool | None = None
    kernel_gone: bool | None = None
    ran_at: str = ""
    failures: tuple[str, ...] | None = field(default=None, compare=False)  # told by the outputs

    @property
    def revision(self) -> Revision:
        return revision_of(f"{self.cell_type}\n{self.source}")


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook as read. `kernel_name` and `language` are "" when the notebook does not say.

    `read_only` says why it cannot be edited, "" when it can; `also_open` as of TextDocument.
    """

    path: str
    cells: tuple[Cell, ...]
    kernel_name: str
    language: str
    held: bool = False
    dirty: bool = False
    read_only: str = ""
    also_open: str = ""

    def cell(self, cell_id: str) -> Cell | None:
        return next((cell for cell in self.cells if cell.cell_id == cell_id), None)


ReadNotebook = Callable[[str], Awaitable[Notebook]]


@dataclass(frozen=True, slots=True)
class NewCell:
    cell_type: CellType
    source: str
    cell_id: str


@dataclass(frozen=True, slots=True)
class ReplaceSource:
    """Replace a cell's source; refused when the cell is no longer at revision `base`."""

    cell_id: str
    base: Revision
    source: str


@dataclass(frozen=True, slots=True)
class InsertCells:
    """Insert in order. `after` is a cell id, "start" or "end"."""

    after: str
    cells: tuple[NewCell, ...]


@dataclass(frozen=True, slots=True)
class DeleteCell:
    cell_id: str
    base: Revision


@dataclass(frozen=True, slots=True)
class MoveCells:
    """Move cells, in the given order, behind `after`: a cell id, "start" or "end"."""

    cell_ids: tuple[str, ...]
    after: str


@dataclass(frozen=True, slots=True)
class BeginRun:
    """A run starts: outputs are cleared and the cell shows as running.

    Refused (EditConflict) when the cell is no longer at revision `base`; None runs whatever is
    there. `trusted`: the user approved exactly this source, so its outputs are shown as those of
    a run of their own; else they stay untrusted until the user says show.
    """

    cell_id: str
    base: Revision | None = None
    trusted: bool = False


@dataclass(frozen=True, slots=True)
class AddOutput:
    """Append an output; a stream joins the last output when that is the same stream."""

    cell_id: str
    output: Output


@dataclass(frozen=True, slots=True)
class SetOutput:
    """Replace the output at `index` (update_display_data)."""

    cell_id: str
    index: int
    output: Output


@dataclass(frozen=True, slots=True)
class ClearOutputs:
    cell_id: str


@dataclass(frozen=True, slots=True)
class EndRun:
    """A run ended. `timing` is the cell metadata `execution`, ISO times by name; may be empty."""

    cell_id: str
    execution_count: int | None
    timing: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OutputPart:
    """Characters [start, start + len(text)) of one field of an output; `total_chars` of it all."""

    text: str
    start: int
    total_chars: int


SourceEdit = ReplaceSource | InsertCells | DeleteCell | MoveCells
RunEdit = BeginRun | AddOutput | SetOutput | ClearOutputs | EndRun
NotebookEdit = SourceEdit | RunEdit


class Documents(Protocol):
    """Files and notebooks. Every write is compare-and-swap and read back before it returns.

    All methods raise DocumentNotFound, PathRefused or NotText where they apply; writes raise
    EditConflict (nothing written) or WriteFailed.
    """

    async def entries(self, path: str) -> tuple[Entry, ...]:
        """The names in folder `path` ("" = root), sorted; hidden names left out."""

    async def entry(self, path: str) -> Entry:
        """What is at `path`."""

    async def resolved(self, path: str) -> str:
        """The path of what `path` leads to, links resolved; also when nothing is there."""

    async def read_text(self, path: str) -> TextDocument:
        """A text file. A notebook raises NotText: it is never read as text."""

    async def raw_text(self, path: str) -> TextDocument:
        """The text of any file, a notebook too; to be shown, never to be written back."""

    async def write_text(self, path: str, text: str, *, base: Revision | None) -> TextDocument:
        """Write a whole file. `base` None creates, and is refused when something is there."""

    async def read_notebook(self, path: str) -> Notebook:
        """A notebook with all cells and outputs, long outputs cut (see `output_cut`)."""

    async def output_part(
        self, path: str, cell_id: str, index: int, *, field: str, start: int, count: int
    ) -> OutputPart:
        """A part of a long output: what `read_notebook` cut is read here.

        Args:
            index: Of the output in its cell, from 0.
            field: "text" of a stream, "traceback" of an error (its lines joined by newlines), or
                a mime type of a display; texts kept as lists of lines are joined.
            start, count: In characters, as in Python's `str`.

        Raises:
            DocumentNotFound: there is no such cell, output or field now.
        """

    async def edit_notebook(self, path: str, edits: Sequence[NotebookEdit]) -> None:
        """Apply all source edits in order as one step (one undo), or none.

        Run edits (outputs) may be kept in memory until EndRun, then they are written too; run
        edits to a cell that is gone are ignored: the user deleted it.
        """

    async def create_notebook(self, path: str, *, kernel_name: str, language: str) -> Notebook:
        """A new empty notebook; refused when something is there."""

    def follow_disk(self) -> None:
        """Have pages look, soon, at the files of what they hold, where these changed."""

    async def save(self, path: str) -> None:
        """Make what `edit_notebook` did last; no-op where edits are written at once."""


# -- terminals -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The end of a command. `exit_code` None: the shell itself ended, and gave none.

    `output` is clean text, head and tail when long; `total_chars` counts all of it. `ended` says
    what else ended or why the command was ended, "" when it just ended. `terminal_name` "" means
    that there was no terminal to watch it in.
    """

    exit_code: int | None
    output: str
    total_chars: int
    seconds: float
    terminal_name: str
    timed_out: bool = False
    ended: str = ""


class Terminals(Protocol):
    """Terminals that the user can open and watch."""

    async def run(
        self, command: str, *, cwd: str, timeout_s: float, on_output: TextSink
    ) -> CommandResult:
        """Run `command` in Vitto's terminal. Cancelling sends Ctrl-C, then ends it.

        Raises:
            ToolError: terminals are not available here, or `cwd` is no folder.
        """

    async def available(self) -> bool: ...

    async def left_running(self) -> tuple[str, ...]:
        """In words, what commands that ended have left at work."""


# -- kernels -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class KernelSpec:
    name: str
    display_name: str
    language: str


@dataclass(frozen=True, slots=True)
class KernelInfo:
    """A running kernel; `path` is the notebook it belongs to, "" when none.

    `started_at` (ISO 8601, UTC) is when its process started, "" when unknown: outputs that are
    older were made by a process that is gone.
    """

    kernel_id: str
    name: str
    state: str
    path: str
    started_at: str = ""


@dataclass(frozen=True, slots=True)
class Execution:
    """The end of a run. `outputs` are nbformat outputs, streams joined and CR processed.

    `state`: "ok", "error" (last output is the error), "interrupted" (by somebody; the last output
    is the KeyboardInterrupt), "aborted" (never executed), "died", "ended" (the code itself ended
    the kernel, e.g. `exit()`), "restarted", or "running" when the deadline came first: the
    kernel then still works on it. `detail` says more about a kernel that is gone, e.g. the
    signal that killed it; "" when nothing is known.
    """

    state: Literal["ok", "error", "interrupted", "aborted", "died", "ended", "restarted", "running"]
    execution_count: int | None
    outputs: tuple[Output, ...]
    seconds: float
    timing: dict[str, str] = field(default_factory=dict)
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a kernel, described without running user code."""

    name: str
    type: str
    summary: str


OutputChange = Callable[[Sequence[RunEdit]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Question:
    """Something only a person can answer: an `input()` of a cell, or a choice to make.

    `secret`: the answer is a password: shown and recorded nowhere. With `choices`, (value,
    label) pairs, the answer is one of the values.
    """

    prompt: str
    secret: bool = False
    choices: tuple[tuple[str, str], ...] = ()


# The answer, or None when the user will not answer. Cancelling the wait makes the question void.
Ask = Callable[[Question], Awaitable[str | None]]


class Overflow(Protocol):
    """Keeps the whole text of streams of one run that are longer than an output may be."""

    def take(self, index: int, text: str) -> None:
        """More text of the output at `index`, in order from its first character on."""

    def hint(self, index: int) -> str:
        """Says, inside the output, how to read what it leaves out."""

    def clear(self) -> None:
        """The outputs so far are gone; indexes start again."""


class Kernels(Protocol):
    """The server's kernels, by notebook path or kernel id.

    Raises KernelUnavailable where a kernel is missing, unknown or dead.
    """

    async def specs(self) -> tuple[KernelSpec, ...]: ...

    async def running(self) -> tuple[KernelInfo, ...]: ...

    async def for_notebook(self, path: str, *, kernel_name: str) -> KernelInfo:
        """The kernel of the notebook's session, started with `kernel_name` when there is none."""

    async def find(self, path: str) -> KernelInfo | None:
        """The kernel of the notebook's session, or None."""

    async def execute(
        self,
        kernel_id: str,
        code: str,
        *,
        cell_id: str | None,
        timeout_s: float,
        on_change: OutputChange,
        on_input: Ask | None = None,
        overflow: Overflow | None = None,
    ) -> Execution:
        """Run `code` and report output changes as they come (joined, at most ~10 a second).

        `cell_id` None is scratch code: not in the history; changes then carry cell id "".
        Cancelling stops watching; the kernel works on. `input()` asks `on_input`, and the time
        does not run meanwhile; it raises in the kernel when that is None. After the end
        `on_change` may be called again, with what threads of the cell print late.
        """

    async def interrupt(self, kernel_id: str) -> None: ...

    async def restart(self, kernel_id: str) -> None: ...

    async def variables(self, kernel_id: str, names: Sequence[str]) -> tuple[Variable, ...]:
        """Variables of a Python kernel (all user variables when `names` is empty).

        Names that are not defined are left out. Raises ToolError "kernel_busy" at once while
        the kernel works.
        """

    async def inspect(self, kernel_id: str, name: str) -> str:
        """What another kernel than a Python one says about a name, "" when it says nothing.

        In a Python kernel this would run user code. Busy kernels as with `variables`.
        """


@dataclass(frozen=True, slots=True)
class Seen:
    """What front ends show now; the part of the context that only they know."""

    active_path: str | None = None
    open_paths: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


class FrontEnds(Protocol):
    """What the open front ends hold."""

    def seen(self) -> Seen: ...


class Git(Protocol):
    async def branch(self, path: str) -> str | None:
        """The branch of the folder of `path`, read from .git without running git."""

    async def ignore_text(self, folder: str) -> str:
        """The text of the .gitignore in `folder`; "" when there is none.

        Apart from Documents: a contents manager does not serve hidden files.
        """


@dataclass(frozen=True, slots=True)
class Workspace:
    """All ports together. `root` is the contents root as shown to people.

    `runs` is the way to run cells; `kernels` alone does not write into notebooks. `search` is
    None where files can only be searched by reading them all as documents.
    """

    root: str
    documents: Documents
    terminals: Terminals
    kernels: Kernels
    runs: Runs
    front_ends: FrontEnds
    git: Git
    search: LocalSearch | None = None
