"""Output widgets: who gets an output, and what the widget shows afterwards."""

from __future__ import annotations

from typing import Any

from vitto_jupyter.workspace.kernels.output_widgets import OutputWidgets


def comm(comm_id: str, kind: str = "comm_msg", **state: Any) -> tuple[str, dict[str, Any]]:
    return kind, {"comm_id": comm_id, "data": {"method": "update", "state": state}}


def widgets(*comm_ids: str) -> OutputWidgets:
    known = OutputWidgets()
    for comm_id in comm_ids:
        known.follow(*comm(comm_id, "comm_open", _model_name="OutputModel", msg_id="", outputs=[]))
    return known


def printed(text: str) -> tuple[str, dict[str, Any]]:
    return "stream", {"name": "stdout", "text": text}


def shown(update: dict[str, Any]) -> list[str]:
    return [output["text"] for output in update["data"]["state"]["outputs"]]


def test_only_what_comes_while_it_captures_is_taken() -> None:
    known = widgets("w")
    assert not known.capture("run", *printed("before"))
    known.follow(*comm("w", msg_id="run"))
    assert known.capture("run", *printed("inside"))
    assert not known.capture("other run", *printed("elsewhere"))
    assert not known.capture("run", "status", {"execution_state": "idle"})
    known.follow(*comm("w", msg_id=""))
    assert not known.capture("run", *printed("after"))
    assert [shown(update) for update in known.take("run")] == [["inside"]]


def test_the_innermost_widget_gets_the_output() -> None:
    known = widgets("outer", "inner")
    known.follow(*comm("outer", msg_id="run"))
    known.follow(*comm("inner", msg_id="run"))
    known.capture("run", *printed("i"))
    known.follow(*comm("inner", msg_id=""))
    known.capture("run", *printed("o"))
    found = {update["comm_id"]: shown(update) for update in known.take("run")}
    assert found == {"inner": ["i"], "outer": ["o"]}


def test_what_the_widget_showed_before_stays() -> None:
    known = widgets("w")
    known.follow(*comm("w", outputs=[{"output_type": "stream", "text": "old"}]))
    known.follow(*comm("w", msg_id="run"))
    known.capture("run", *printed("new"))
    assert shown(known.take("run")[0]) == ["old", "new"]


def test_clearing_inside_the_widget_clears_the_widget() -> None:
    known = widgets("w")
    known.follow(*comm("w", outputs=[{"output_type": "stream", "text": "old"}]))
    known.follow(*comm("w", msg_id="run"))
    known.capture("run", "clear_output", {"wait": False})
    known.capture("run", *printed("new"))
    assert shown(known.take("run")[0]) == ["new"]


def test_other_widgets_and_closed_ones_capture_nothing() -> None:
    known = widgets("w")
    known.follow(*comm("slider", "comm_open", _model_name="IntSliderModel", msg_id="run"))
    known.follow(*comm("w", msg_id="run"))
    known.follow("comm_close", {"comm_id": "w"})
    assert not known.capture("run", *printed("x"))
    assert known.take("run") == []
