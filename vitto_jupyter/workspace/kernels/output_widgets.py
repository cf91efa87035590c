"""What `ipywidgets.Output` captures during our runs. Pure; imported by the kernel link only.

An Output widget says "what comes with this parent id is mine". A page that runs a cell obeys
that by itself; for a run of ours nobody would, and the captured output would show up in the cell
instead. So it is collected here and given back to the widget when the run is over (the kernel
reads it no earlier: it is busy).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..base import Output
from .execution import Collector, Displays

_OUTPUT_TYPES = ("stream", "display_data", "execute_result", "error", "clear_output")


@dataclass
class _Widget:
    """`outputs` as the widget last said, `added` what our run put behind them."""

    outputs: list[Output] = field(default_factory=list)
    added: Collector = field(default_factory=lambda: Collector("", "", Displays()))

    @property
    def shown(self) -> list[Output]:
        return [*self.outputs, *self.added.outputs]


class OutputWidgets:
    """The Output widgets of one kernel and what they hold, by comm id."""

    def __init__(self) -> None:
        self._widgets: dict[str, _Widget] = {}
        self._capturing: dict[str, list[str]] = {}  # parent id -> comm ids, the innermost last
        self._changed: dict[str, set[str]] = {}  # parent id -> comm ids to give back

    def follow(self, msg_type: str, content: dict[str, Any]) -> None:
        """Learn from comm messages which widgets there are, what they show and capture."""
        comm_id = str(content.get("comm_id", ""))
        data = content.get("data")
        state = data.get("state") if isinstance(data, dict) else None
        if msg_type == "comm_close":
            self._release(comm_id)
            self._widgets.pop(comm_id, None)
            return
        if not isinstance(state, dict):
            return
        if msg_type == "comm_open" and state.get("_model_name") == "OutputModel":
            self._widgets[comm_id] = _Widget()
        if comm_id in self._widgets:
            self._follow_state(comm_id, state)

    def _follow_state(self, comm_id: str, state: dict[str, Any]) -> None:
        if "outputs" in state:
            self._widgets[comm_id] = _Widget(outputs=list(state["outputs"] or ()))
        if "msg_id" in state:
            self._release(comm_id)
            if state["msg_id"]:
                self._capturing.setdefault(str(state["msg_id"]), []).append(comm_id)

    def capture(self, parent_id: str, msg_type: str, content: dict[str, Any]) -> bool:
        """Take an output message for the widget that wants it; False when none does."""
        comm_ids = self._capturing.get(parent_id)
        if not comm_ids or msg_type not in _OUTPUT_TYPES:
            return False
        widget = self._widgets[comm_ids[-1]]
        if msg_type == "clear_output":
            widget.outputs = []
        widget.added.handle(msg_type, content)
        self._changed.setdefault(parent_id, set()).add(comm_ids[-1])
        return True

    def take(self, parent_id: str) -> list[dict[str, Any]]:
        """The contents of the comm_msg requests that give the widgets of a run their outputs."""
        self._capturing.pop(parent_id, None)
        changed = sorted(self._changed.pop(parent_id, ()))
        updates = []
        for comm_id in changed:
            if comm_id in self._widgets:
                outputs = self._widgets[comm_id].shown
                self._widgets[comm_id] = _Widget(outputs=outputs)
                data = {"method": "update", "state": {"outputs": outputs}, "buffer_paths": []}
                updates.append({"comm_id": comm_id, "data": data})
        return updates

    def _release(self, comm_id: str) -> None:
        for parent_id, comm_ids in list(self._capturing.items()):
            if comm_id in comm_ids:
                comm_ids.remove(comm_id)
            if not comm_ids:
                del self._capturing[parent_id]
