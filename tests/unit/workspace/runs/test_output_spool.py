"""The whole text of long outputs, kept in files of bounded size."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vitto_jupyter.workspace.kernels.execution import Collector, Displays
from vitto_jupyter.workspace.kernels.stream_text import Limits
from vitto_jupyter.workspace.runs.output_spool import OutputSpool


def _bytes_in(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


async def kept(spool: OutputSpool, key: tuple[str, str, int]) -> str:
    part = await spool.read(*key, start=0, count=10**9)
    assert part is not None
    return part.text


async def test_every_part_of_what_was_taken_can_be_read(tmp_path: Path) -> None:
    spool = OutputSpool(tmp_path / "outputs")
    cell = spool.of_cell("run_1", "c1")
    pieces = ["abc", "äö€", "𝄞\n", "end"]
    for piece in pieces:
        cell.take(2, piece)
    text = "".join(pieces)
    for start in range(len(text) + 2):
        for count in range(len(text) + 2):
            part = await spool.read("run_1", "c1", 2, start=start, count=count)
            assert part is not None
            assert (part.text, part.total_chars) == (text[start : start + count], len(text))
    assert await spool.read("run_1", "c1", 0, start=0, count=1) is None
    await spool.close()


async def test_an_output_keeps_its_first_part(tmp_path: Path) -> None:
    spool = OutputSpool(tmp_path, output_bytes=5)
    cell = spool.of_cell("r", "c")
    for piece in ("ab", "c€€", "more"):
        cell.take(0, piece)
    assert await kept(spool, ("r", "c", 0)) == "abc"  # not half a character
    await spool.close()


async def test_the_oldest_outputs_go_first(tmp_path: Path) -> None:
    spool = OutputSpool(tmp_path, total_bytes=25)
    for number in range(4):
        spool.of_cell(f"r{number}", "c").take(0, "x" * 10)
        await kept(spool, (f"r{number}", "c", 0))
    left = [await spool.read(f"r{n}", "c", 0, start=0, count=99) is not None for n in range(4)]
    assert left == [False, False, True, True]
    assert _bytes_in(tmp_path) <= 25
    await spool.close()


async def test_cleared_outputs_are_gone_and_their_place_is_used_again(tmp_path: Path) -> None:
    spool = OutputSpool(tmp_path)
    cell = spool.of_cell("r", "c")
    cell.take(0, "old")
    cell.clear()
    assert await spool.read("r", "c", 0, start=0, count=9) is None
    cell.take(0, "new")
    assert await kept(spool, ("r", "c", 0)) == "new"
    await spool.close()


async def test_a_folder_that_cannot_be_written_costs_the_rest_and_nothing_else(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("in the way")
    spool = OutputSpool(tmp_path / "file")
    spool.of_cell("r", "c").take(0, "text")
    assert await spool.read("r", "c", 0, start=0, count=9) is None
    await spool.close()


@pytest.mark.parametrize("end", ["\n", ""])
@given(pieces=st.lists(st.text("ab\n\r\b", max_size=30), max_size=20))
@settings(derandomize=True, max_examples=100, deadline=None)
def test_what_is_taken_is_the_text_as_jupyter_would_show_it(end: str, pieces: list[str]) -> None:
    class Taken:
        text = ""

        def take(self, index: int, text: str) -> None:
            self.text += text

        def hint(self, index: int) -> str:
            return "HINT"

        def clear(self) -> None:
            self.text = ""

    taken = Taken()
    tiny = Limits(stream_head_chars=8, stream_tail_chars=8)
    short = Collector("c", "", Displays(), tiny, taken)
    whole = Collector("c", "", Displays())
    for piece in [*pieces, end]:
        for collector in (short, whole):
            collector.handle("stream", {"name": "stdout", "text": piece})
    shown = whole.outputs[0]["text"]
    cut = "left out; HINT" in str(short.outputs[0]["text"])
    short.finish()
    if cut:
        assert len(taken.text) == len(str(shown))
    if cut and not any(control in "".join(pieces) for control in "\r\b"):
        assert taken.text == shown


async def test_closing_twice_and_output_after_it_are_harmless(tmp_path: Path) -> None:
    spool = OutputSpool(tmp_path / "outputs")
    await spool.close()
    await spool.close()
    spool.take(("run_1", "c1", 0), "too late")
    spool.drop("run_1", "c1")
    assert not (tmp_path / "outputs").exists()
