"""What cells print after their end is gathered, joined and bounded."""

from __future__ import annotations

from collections.abc import Sequence

from vitto_jupyter.errors import ToolError
from vitto_jupyter.workspace.base import AddOutput, ClearOutputs, RunEdit
from vitto_jupyter.workspace.kernels.execution import Collector, Displays
from vitto_jupyter.workspace.kernels.late_output import LateOutput


def printed(text: str, cell_id: str = "c1") -> AddOutput:
    return AddOutput(cell_id, {"output_type": "stream", "name": "stdout", "text": text})


async def test_pieces_of_one_stream_are_delivered_as_one() -> None:
    told: list[Sequence[RunEdit]] = []

    async def on_change(edits: Sequence[RunEdit]) -> None:
        told.append(edits)

    late = LateOutput()
    for edit in (printed("a"), printed("b"), ClearOutputs("c1"), printed("c"), printed("d", "c2")):
        late.add([edit], on_change)
    await late.close()
    assert told == [[printed("ab"), ClearOutputs("c1"), printed("c"), printed("d", "c2")]]


async def test_a_notebook_that_cannot_take_it_is_no_fault() -> None:
    async def on_change(edits: Sequence[RunEdit]) -> None:
        raise ToolError("The disk is full.")

    late = LateOutput()
    late.add([printed("a")], on_change)
    await late.close()


def test_a_thread_that_prints_for_ever_is_cut_off() -> None:
    collector = Collector("c1", "", Displays())
    collector.finish()
    edits = [
        edit
        for _ in range(1_000)
        for edit in collector.late("stream", {"name": "stdout", "text": "x" * 1_000})
    ]
    assert sum(len(str(edit)) for edit in edits) < 250_000
    assert "what else this cell prints after its end" in str(edits[-1])


def test_late_progress_shows_its_last_state() -> None:
    collector = Collector("c1", "", Displays())
    collector.finish()
    assert collector.late("stream", {"name": "stdout", "text": "1%\r2%\r3%\n"}) == [printed("3%\n")]
    assert collector.late("execute_result", {"data": {"text/plain": "1"}}) == [
        AddOutput(
            "c1", {"output_type": "display_data", "data": {"text/plain": "1"}, "metadata": {}}
        )
    ]
    assert collector.late("status", {}) == []
