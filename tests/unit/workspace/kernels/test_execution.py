"""Outputs and output changes from kernel messages."""

from __future__ import annotations

from typing import Any

from vitto_jupyter.workspace.base import AddOutput, ClearOutputs, Output, RunEdit, SetOutput
from vitto_jupyter.workspace.kernels.execution import Collector, Displays
from vitto_jupyter.workspace.kernels.stream_text import Limits
from vitto_jupyter.workspace.notebooks.output_fold import fold_output


def collector(
    cell_id: str = "c1", *, displays: Displays | None = None, **options: Any
) -> Collector:
    return Collector(cell_id, "source", displays or Displays(), **options)


def stream(text: str, name: str = "stdout") -> tuple[str, dict[str, Any]]:
    return "stream", {"name": name, "text": text}


def display(text: str, display_id: str = "", *, kind: str = "display_data") -> tuple[str, dict]:
    transient = {"display_id": display_id} if display_id else {}
    return kind, {"data": {"text/plain": text}, "metadata": {}, "transient": transient}


def feed(run: Collector, *messages: tuple[str, dict[str, Any]]) -> Collector:
    for message in messages:
        run.handle(*message)
    return run


def viewed(edits: list[RunEdit], outputs: tuple[Output, ...] = ()) -> tuple[Output, ...]:
    """What a simple viewer has after the edits."""
    for edit in edits:
        outputs = fold_output(outputs, edit)
    return outputs


def texts(outputs: tuple[Output, ...]) -> list[str]:
    return [str(o.get("text") or o.get("data", {}).get("text/plain")) for o in outputs]  # type: ignore[union-attr]


def test_neighbours_of_one_stream_are_one_output() -> None:
    run = feed(collector(), stream("a"), stream("b"), stream("e", "stderr"), stream("c"))
    assert texts(run.outputs) == ["ab", "e", "c"]


def test_a_stream_that_grows_is_sent_as_fragments() -> None:
    run = feed(collector(), stream("a\n"))
    first = run.changes(now=0)
    feed(run, stream("b\n"), stream("c\n"))
    second = run.changes(now=1)
    assert [edit.output["text"] for edit in first + second] == ["a\n", "b\nc\n"]  # type: ignore[union-attr]
    assert all(isinstance(edit, AddOutput) for edit in first + second)


def test_no_added_fragment_holds_a_return() -> None:
    run = collector()
    edits: list[RunEdit] = []
    for number in range(5):
        feed(run, stream(f"{number}%\r"), stream("warn", "stderr"), stream(f"x{number}\n"))
        edits += run.changes(now=number)
    added = [e.output["text"] for e in edits if isinstance(e, AddOutput)]
    assert not any("\r" in text for text in added)  # type: ignore[operator]


def test_a_simple_viewer_ends_with_the_same_outputs_whenever_changes_are_taken() -> None:
    messages = [
        stream("start\n"),
        stream("1%\r"),
        stream("2%\r"),
        display("one", "d"),
        stream("3%\n"),
        stream("oops", "stderr"),
        ("clear_output", {"wait": True}),
        stream("fresh"),
        display("two", "d"),
        display("three", "d", kind="update_display_data"),
        ("error", {"ename": "E", "evalue": "v", "traceback": ["t"]}),
    ]
    for every in (1, 2, 3, 20):
        run, seen = collector(), ()
        for number, message in enumerate(messages):
            feed(run, message)
            if number % every == 0:
                seen = viewed(run.changes(now=number), seen)
        assert viewed(run.changes(now=99, final=True), seen) == run.outputs


def test_clear_waits_for_the_next_output() -> None:
    run = feed(collector(), stream("old"))
    run.changes(now=0)
    feed(run, ("clear_output", {"wait": True}))
    assert run.changes(now=1) == []
    feed(run, stream("new"))
    kinds = [type(edit) for edit in run.changes(now=2)]
    assert kinds == [ClearOutputs, AddOutput]


def test_clear_at_once() -> None:
    run = feed(collector(), stream("old"))
    run.changes(now=0)
    feed(run, ("clear_output", {"wait": False}))
    assert run.changes(now=1) == [ClearOutputs("c1")]
    assert run.outputs == ()


def test_a_display_is_updated_in_its_place() -> None:
    run = feed(collector(), display("old", "d"), stream("after"))
    run.changes(now=0)
    feed(run, display("new", "d", kind="update_display_data"))
    (edit,) = run.changes(now=1)
    assert isinstance(edit, SetOutput)
    assert (edit.index, edit.output["data"]) == (0, {"text/plain": "new"})
    assert "transient" not in run.outputs[0]


def test_a_later_cell_updates_what_an_earlier_one_displayed() -> None:
    displays = Displays()
    first = feed(collector("c1", displays=displays), stream("x"), display("old", "d"))
    first.changes(now=0)
    first.finish()
    second = feed(
        collector("c2", displays=displays), display("new", "d", kind="update_display_data")
    )
    (edit,) = second.changes(now=1)
    assert edit == SetOutput(
        "c1", 1, {"output_type": "display_data", "data": {"text/plain": "new"}, "metadata": {}}
    )


def test_running_a_cell_again_forgets_its_displays() -> None:
    displays = Displays()
    feed(collector("c1", displays=displays), display("old", "d")).finish()
    collector("c1", displays=displays).finish()
    other = feed(
        collector("c2", displays=displays), display("new", "d", kind="update_display_data")
    )
    assert other.changes(now=0) == []


def test_a_cell_run_by_somebody_else_is_not_written_to() -> None:
    displays = Displays()
    feed(collector("c1", displays=displays), display("old", "d")).finish()
    displays.forget_source("source")
    other = feed(
        collector("c2", displays=displays), display("new", "d", kind="update_display_data")
    )
    assert other.changes(now=0) == []


def test_output_after_the_end_is_ignored() -> None:
    run = collector()
    run.finish()
    feed(run, stream("late"))
    assert run.changes(now=0) == []


def test_a_long_print_is_kept_by_its_ends_and_sent_at_most_once_a_second() -> None:
    limits = Limits(stream_head_chars=20_000, stream_tail_chars=20_000)
    run = collector(limits=limits)
    sent = 0
    for tick in range(100):  # a hundred times a tenth of a second
        feed(run, *[stream("x" * 1000 + "\n")] * 20)
        edits = run.changes(now=tick / 10)
        sent += sum(len(str(edit.output["text"])) for edit in edits)  # type: ignore[union-attr]
    final = run.changes(now=10, final=True)
    assert sent < 15 * 70_000
    assert viewed(final, ({"output_type": "stream"},)) == run.outputs
    assert len(str(run.outputs[0]["text"])) < 70_000
    assert "characters left out" in str(run.outputs[0]["text"])


def test_the_number_of_outputs_is_bounded_and_the_rest_counted() -> None:
    run = collector(limits=Limits(max_outputs=3))
    for number in range(10):
        feed(run, display(f"d{number}"))
    feed(run, ("error", {"ename": "E", "evalue": "", "traceback": []}))
    assert texts(run.outputs[:4]) == ["d0", "d1", "d2", "[… 7 more outputs left out …]\n"]
    assert run.outputs[-1]["output_type"] == "error"


def test_rich_data_beyond_the_limit_is_replaced_by_a_note() -> None:
    run = collector(limits=Limits(max_rich_chars=100))
    feed(run, display("x" * 60), display("y" * 60), display("z"))
    assert texts(run.outputs) == ["x" * 60, "[an output of 60 characters was left out]", "z"]


def test_images_are_kept_as_they_are() -> None:
    data = {"image/png": "aGk=", "text/plain": "<Figure>"}
    run = feed(collector(), ("display_data", {"data": data, "metadata": {"image/png": {"w": 1}}}))
    assert run.outputs[0]["data"] == data
    assert run.outputs[0]["metadata"] == {"image/png": {"w": 1}}


def test_pager_text_and_text_for_a_new_cell_are_shown() -> None:
    run = collector()
    run.handle_payload(
        [
            {"source": "page", "data": {"text/plain": "help"}, "start": 0},
            {"source": "set_next_input", "text": "x = 1", "replace": False},
            {"source": "ask_exit"},
        ]
    )
    assert texts(run.outputs) == ["help", "[the code offers this text for a new cell]\nx = 1"]
