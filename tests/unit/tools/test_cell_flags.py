import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vitto_jupyter.tools.cell_flags import flags_of, out_of_order
from vitto_jupyter.workspace.base import Cell, KernelInfo, Revision
from vitto_jupyter.workspace.memory import notebook_of, stream
from vitto_jupyter.workspace.runs.run_reports import LastRun

KERNEL = KernelInfo("k", "python3", "idle", "n.ipynb", "2026-01-02T00:00:00Z")
OUTPUTS = (stream("x"),)
BEFORE, AFTER = "2026-01-01T23:00:00Z", "2026-01-02T01:00:00.123456Z"


def _ran(*counts):
    return [Cell(f"c{at}", "code", "x", str(at), count) for at, count in enumerate(counts, 1)]


def _flags(*cells, kernel=KERNEL, **more):
    return flags_of(notebook_of(*cells), kernel=kernel, **more)


def _cell(cell_id="c1", **facts):
    return Cell(cell_id, "code", "x", "1", 1, OUTPUTS, **facts)


def _last(revision=None, started_at=KERNEL.started_at):
    return LastRun(revision or _cell().revision, "run_1", BEFORE, "k", started_at)


# -- order ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("counts", [(1, 2, 3), (None, 1, None, 5), (), (7,), (3, 3)])
def test_a_run_from_top_to_bottom_is_in_order(counts):
    assert out_of_order(_ran(*counts)) == {}


def test_a_cell_that_ran_again_later_is_named_with_what_is_older():
    assert out_of_order(_ran(9, 2, 3, 4)) == {
        "c1": "ran out of order: it ran later than cell 2 [2] below it"
    }


def test_a_cell_that_was_not_run_again_is_named_with_what_is_newer():
    assert out_of_order(_ran(5, 6, 3, 7)) == {
        "c3": "ran out of order: cell 2 [6] above it ran later"
    }


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.lists(st.one_of(st.none(), st.integers(1, 30)), max_size=20))
def test_without_the_flagged_cells_the_rest_is_in_order(counts):
    cells = _ran(*counts)
    flagged = out_of_order(cells)
    rest = [cell.execution_count for cell in cells if cell.cell_id not in flagged]
    known = [count for count in rest if count is not None]
    assert known == sorted(known)
    assert all(text.startswith("ran out of order: ") for text in flagged.values())
    assert bool(flagged) == (sorted(c for c in counts if c) != [c for c in counts if c])


def test_ten_thousand_cells_are_looked_through_at_once():
    began = time.monotonic()
    assert len(out_of_order(_ran(*range(10_000, 0, -1)))) == 9_999
    mixed = [at if at % 2 else 20_000 - at for at in range(10_000)]
    assert 4_000 < len(out_of_order(_ran(*mixed))) < 6_000
    assert time.monotonic() - began < 20


# -- edited since ---------------------------------------------------------------------------------


def test_a_page_says_that_a_cell_was_edited_since_its_run():
    assert _flags(_cell(edited_since_run=True)).cells == {"c1": ["edited since its run"]}
    assert (
        _flags(_cell(edited_since_run=False), run_of=lambda cell: _last(Revision("other"))).cells
        == {}
    )


def test_without_a_page_our_own_run_tells_it():
    other = _last(Revision("other"))
    assert _flags(_cell(), run_of=lambda cell: other).cells == {"c1": ["edited since its run"]}
    assert _flags(_cell(), run_of=lambda cell: _last()).cells == {}
    assert _flags(_cell()).cells == {}


# -- kernels that are gone -------------------------------------------------------------------------

GONE = {"c1": ["outputs of a kernel that is gone"]}


@pytest.mark.parametrize(
    "facts",
    [
        {"kernel_gone": True},
        {"ran_at": BEFORE},
        {"ran_at": "2026-01-02T00:30:00+01:00"},
    ],
)
def test_outputs_of_an_earlier_kernel_are_told(facts):
    assert _flags(_cell(**facts), _cell("c2", kernel_gone=False)).cells == GONE


@pytest.mark.parametrize(
    "facts",
    [{}, {"kernel_gone": False, "ran_at": BEFORE}, {"ran_at": AFTER}, {"ran_at": "yesterday"}],
)
def test_nothing_is_said_where_nothing_is_known(facts):
    assert _flags(_cell(**facts), _cell("c2", kernel_gone=False)).cells == {}


def test_our_run_in_an_earlier_process_of_the_kernel_is_told():
    def run_of(cell):
        return _last(started_at=BEFORE) if cell.cell_id == "c1" else _last()

    assert _flags(_cell(), _cell("c2"), run_of=run_of).cells == GONE


def test_a_cell_without_outputs_has_none_of_a_kernel_that_is_gone():
    bare = Cell("c1", "code", "x", "1", 1, (), kernel_gone=True)
    assert _flags(bare, _cell("c2", kernel_gone=False)).cells == {}


def test_what_is_true_of_all_outputs_is_said_once():
    flags = _flags(_cell(kernel_gone=True), _cell("c2", kernel_gone=True))
    assert flags.cells == {} and flags.notebook == ("all outputs are of a kernel that is gone",)


# -- the kernel in words ---------------------------------------------------------------------------


def test_the_state_of_the_kernel_is_told():
    assert _flags(_cell()).kernel == "kernel python3, idle"
    assert _flags("x", kernel=None).kernel == "kernel python3, not running"
    gone = "kernel python3, not running: its outputs are of an earlier one"
    assert _flags(_cell(), kernel=None).kernel == gone


def test_another_kernel_than_the_named_one_is_told():
    notebook = notebook_of("x", kernel_name="ir")
    words = flags_of(notebook, kernel=KERNEL).kernel
    assert words == "kernel python3 (the notebook names ir), idle"
    unnamed = notebook_of("x", kernel_name="")
    assert flags_of(unnamed, kernel=None).kernel == "no kernel named, not running"
