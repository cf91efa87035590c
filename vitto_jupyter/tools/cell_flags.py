"""What a reader of a notebook should be wary of: stale, out of order, of a kernel that is gone.

Pure. Every flag says what is known, and nothing is flagged on a guess.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ..workspace.base import Cell, KernelInfo, Notebook
from ..workspace.runs.run_reports import LastRun

EDITED = "edited since its run"
KERNEL_GONE = "outputs of a kernel that is gone"
# The run that made a cell's outputs, None when that is not known.
RunOf = Callable[[Cell], LastRun | None]


@dataclass(frozen=True, slots=True)
class Flags:
    """`kernel` is the kernel's state in words, "" when not known; `notebook` are flags of it
    all, `cells` by id."""

    kernel: str = ""
    notebook: tuple[str, ...] = ()
    cells: Mapping[str, Sequence[str]] = field(default_factory=dict)


NO_FLAGS = Flags()


def flags_of(
    notebook: Notebook,
    *,
    kernel: KernelInfo | None,
    run_of: RunOf = lambda cell: None,
) -> Flags:
    """The flags of a notebook whose kernel is `kernel`, None when none is running."""
    found: dict[str, list[str]] = {}
    with_outputs = [cell for cell in notebook.cells if cell.outputs]
    gone = [cell for cell in with_outputs if kernel and _is_gone(cell, kernel, run_of)]
    every = len(gone) > 1 and len(gone) == len(with_outputs)
    for cell in notebook.cells:
        if _is_edited(cell, run_of):
            found.setdefault(cell.cell_id, []).append(EDITED)
    for cell in () if every else gone:
        found.setdefault(cell.cell_id, []).append(KERNEL_GONE)
    for cell_id, text in out_of_order(notebook.cells).items():
        found.setdefault(cell_id, []).append(text)
    whole = ("all outputs are of a kernel that is gone",) if every else ()
    return Flags(_kernel_words(notebook, kernel, has_outputs=bool(with_outputs)), whole, found)


def out_of_order(cells: Sequence[Cell]) -> dict[str, str]:
    """The fewest cells whose execution counts break the order, each with what it ran before or
    after. Counts of earlier kernels count too: the text claims no more than they say."""
    ran = [cell for cell in cells if cell.execution_count is not None]
    kept = _longest_rise([_count(cell) for cell in ran])
    flags = {}
    for at, cell in enumerate(ran):
        place = bisect_left(kept, at)
        if place < len(kept) and kept[place] == at:
            continue
        # The counts of kept cells rise: the next ones above and below tell.
        above = ran[kept[place - 1]] if place else None
        if above is not None and _count(above) > _count(cell):
            flags[cell.cell_id] = f"ran out of order: {_name(above)} above it ran later"
        else:
            below = ran[kept[place]]
            flags[cell.cell_id] = f"ran out of order: it ran later than {_name(below)} below it"
    return flags


def _count(cell: Cell) -> int:
    return cell.execution_count or 0


def _name(cell: Cell) -> str:
    return f"cell {cell.label} [{cell.execution_count}]"


def _longest_rise(counts: Sequence[int]) -> list[int]:
    """The positions of a longest subsequence that never falls, in order."""
    tails: list[int] = []
    at_tail: list[int] = []
    before: list[int] = []
    for at, count in enumerate(counts):
        place = bisect_right(tails, count)
        before.append(at_tail[place - 1] if place else -1)
        tails[place : place + 1] = [count]
        at_tail[place : place + 1] = [at]
    kept: list[int] = []
    at = at_tail[-1] if at_tail else -1
    while at >= 0:
        kept.append(at)
        at = before[at]
    return kept[::-1]


def _is_edited(cell: Cell, run_of: RunOf) -> bool:
    if cell.edited_since_run is not None:
        return cell.edited_since_run
    run = run_of(cell)
    return run is not None and run.revision != cell.revision


def _is_gone(cell: Cell, kernel: KernelInfo, run_of: RunOf) -> bool:
    if cell.kernel_gone is not None:
        return cell.kernel_gone
    run = run_of(cell)
    if run is not None and run.kernel_started_at and kernel.started_at:
        return run.kernel_started_at != kernel.started_at
    ran_at, started_at = _instant(cell.ran_at), _instant(kernel.started_at)
    return ran_at is not None and started_at is not None and ran_at < started_at


def _instant(text: str) -> datetime | None:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        return None
    return instant if instant.tzinfo else None


def _kernel_words(notebook: Notebook, kernel: KernelInfo | None, *, has_outputs: bool) -> str:
    named = notebook.kernel_name
    if kernel is None:
        name = f"kernel {named}" if named else "no kernel named"
        return f"{name}, not running{': its outputs are of an earlier one' if has_outputs else ''}"
    other = f" (the notebook names {named})" if named and named != kernel.name else ""
    return f"kernel {kernel.name}{other}, {kernel.state}"
