"""What a cell's outputs are after run edits. Pure; used by every Documents that keeps a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..base import (
    AddOutput,
    BeginRun,
    ClearOutputs,
    EndRun,
    NotebookEdit,
    Output,
    RunEdit,
    SetOutput,
    SourceEdit,
)

_LIMIT_RUNS = 100  # of one notebook; more were abandoned
RUN_EDITS = (BeginRun, AddOutput, SetOutput, ClearOutputs, EndRun)


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run leaves in its cell."""

    outputs: tuple[Output, ...]
    execution_count: int | None
    timing: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Folded:
    """What run edits led to.

    `ended` are the results of finished runs; `late` the changes to cells without an open run,
    such as an update of what an earlier cell displayed.
    """

    ended: dict[str, RunResult]
    late: tuple[RunEdit, ...]


class OpenRuns:
    """The outputs so far of runs that have not ended, by cell id."""

    def __init__(self) -> None:
        self._outputs: dict[str, tuple[Output, ...]] = {}
        self._trusted: set[str] = set()

    def copy(self) -> OpenRuns:
        twin = OpenRuns()
        twin._outputs = dict(self._outputs)
        twin._trusted = set(self._trusted)
        return twin

    def __bool__(self) -> bool:
        return bool(self._outputs)

    def apply(self, edits: Sequence[RunEdit]) -> Folded:
        """Fold the edits in; runs that end are forgotten."""
        ended: dict[str, RunResult] = {}
        late: list[RunEdit] = []
        for edit in edits:
            if isinstance(edit, BeginRun):
                self._trust(edit.cell_id, trusted=edit.trusted)
            if isinstance(edit, EndRun):
                outputs = self._outputs.pop(edit.cell_id, ())
                ended[edit.cell_id] = RunResult(outputs, edit.execution_count, edit.timing)
            elif isinstance(edit, BeginRun) or edit.cell_id in self._outputs:
                before = self._outputs.get(edit.cell_id, ())
                self._outputs[edit.cell_id] = fold_output(before, edit)
            else:
                late.append(edit)
        while len(self._outputs) > _LIMIT_RUNS:
            del self._outputs[next(iter(self._outputs))]
        self._trusted &= self._outputs.keys()
        return Folded(ended, tuple(late))

    def replay(self, cell_id: str) -> list[RunEdit]:
        """The edits that bring a fresh viewer to the present state of a run; [] without one."""
        if cell_id not in self._outputs:
            return []
        added = [AddOutput(cell_id, output) for output in self._outputs[cell_id]]
        return [BeginRun(cell_id, trusted=cell_id in self._trusted), *added]

    def _trust(self, cell_id: str, *, trusted: bool) -> None:
        if trusted:
            self._trusted.add(cell_id)
        else:
            self._trusted.discard(cell_id)


def split_edits(edits: Sequence[NotebookEdit]) -> tuple[list[SourceEdit], list[RunEdit]]:
    """Source edits and run edits, each in order."""
    runs = [edit for edit in edits if isinstance(edit, RUN_EDITS)]
    sources = [edit for edit in edits if not isinstance(edit, RUN_EDITS)]
    return sources, runs


def fold_output(outputs: tuple[Output, ...], edit: RunEdit) -> tuple[Output, ...]:
    """The outputs after one edit; neighbouring fragments of one stream are joined."""
    match edit:
        case BeginRun() | ClearOutputs():
            return ()
        case AddOutput():
            return _with_output(outputs, edit.output)
        case SetOutput() if 0 <= edit.index < len(outputs):
            return (*outputs[: edit.index], edit.output, *outputs[edit.index + 1 :])
        case _:
            return outputs


def _with_output(outputs: tuple[Output, ...], output: Output) -> tuple[Output, ...]:
    last = outputs[-1] if outputs else {}
    joins = output.get("output_type") == "stream" == last.get("output_type")
    if joins and output.get("name") == last.get("name"):
        text = f"{last.get('text', '')}{output.get('text', '')}"
        return (*outputs[:-1], {**last, "text": text})
    return (*outputs, output)
