"""What a run printed: kernel messages in, nbformat outputs and output changes out. Pure.

Imported by jupyter_kernels and by whatever shows or stores outputs. The rules are those of
JupyterLab (`outputarea/model.ts`): neighbouring pieces of one stream are one output, carriage
return and backspace act on it, `clear_output(wait)` acts with the next output, a display id
names every output that was made with it.

The changes are made so that a simple viewer is right: a stream piece that is added never holds
"\\r" or "\\b"; a stream that was rewritten or cut is sent whole (SetOutput) from then on.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..base import AddOutput, ClearOutputs, Output, Overflow, RunEdit, SetOutput
from .stream_text import Limits, StreamText

_RICH = ("display_data", "execute_result")
_MAX_DISPLAYS = 1_000
_LATE_CHARS = 200_000  # of one run after its end
_OVERWRITTEN = re.compile(r"[^\n]*\r(?!\n)")


class _Item:
    """One output. `stream` holds the text of a stream, `fixed` any other output."""

    __slots__ = ("dirty", "fixed", "name", "sent_chars", "set_at", "stream")

    def __init__(self, fixed: Output | None, *, name: str = "", stream: StreamText | None = None):
        self.fixed = fixed
        self.name = name
        self.stream = stream
        self.dirty = False
        self.sent_chars = 0
        self.set_at = float("-inf")

    @property
    def output(self) -> Output:
        if self.stream is None:
            assert self.fixed is not None
            return self.fixed
        return {"output_type": "stream", "name": self.name, "text": self.stream.text}


class Displays:
    """The display ids of one kernel: every place where an output with that id is shown.

    Outlives the runs, since a later cell may update what an earlier one displayed. Places of a
    finished run are updated through `take_late`.
    """

    def __init__(self) -> None:
        self._places: OrderedDict[str, list[tuple[Collector, int]]] = OrderedDict()
        self._late: dict[tuple[str, int], Output] = {}

    def add(self, display_id: str, collector: Collector, index: int) -> None:
        self._places.setdefault(display_id, []).append((collector, index))
        self._places.move_to_end(display_id)
        while len(self._places) > _MAX_DISPLAYS:
            self._places.popitem(last=False)

    def update(self, content: dict[str, Any]) -> None:
        """Act on an update_display_data message, whichever run sent it."""
        for collector, index in self._places.get(_display_id(content), ()):
            late = collector.replace(index, content)
            if late is not None:
                self._late[(collector.cell_id, index)] = late

    def forget(self, *, cell_id: str = "", collector: Collector | None = None) -> None:
        """The outputs of this cell, or of this run, are gone."""
        for display_id, places in list(self._places.items()):
            kept = [p for p in places if p[0] is not collector and p[0].cell_id != cell_id]
            if kept:
                self._places[display_id] = kept
            else:
                del self._places[display_id]

    def forget_source(self, source: str) -> None:
        """Somebody else ran a cell with this source: our outputs of it are gone."""
        for places in list(self._places.values()):
            for collector, _ in places:
                if collector.source == source:
                    self.forget(collector=collector)

    def take_late(self) -> list[RunEdit]:
        late, self._late = self._late, {}
        return [SetOutput(cell_id, index, output) for (cell_id, index), output in late.items()]


@dataclass(slots=True)
class _Finished:
    """What is left of a finished run's output: enough to rebuild it on an update."""

    output_type: str
    execution_count: int | None = None


@dataclass
class Collector:
    """The outputs of one run.

    `cell_id` is "" for scratch code; `source` is what runs. `changes` gives what a viewer lacks
    since the last call, joined: its size is bounded by what is kept, not by what was printed;
    `overflow` gets the whole text of streams that are cut.
    """

    cell_id: str
    source: str
    displays: Displays
    limits: Limits = field(default_factory=Limits)
    overflow: Overflow | None = None

    def __post_init__(self) -> None:
        self._late_left = _LATE_CHARS
        self._items: list[_Item] = []
        self._finished: list[_Finished] | None = None
        self._shown = 0
        self._cleared = False
        self._clear_next = False
        self._left_out = 0
        self._note: _Item | None = None
        self._rich_chars = 0
        if self.cell_id:
            self.displays.forget(cell_id=self.cell_id)

    # -- messages ----------------------------------------------------------------------------

    def handle(self, msg_type: str, content: dict[str, Any]) -> None:
        """Take one iopub message of this run; other types than outputs are ignored."""
        if self._finished is not None:
            if msg_type == "update_display_data":
                self.displays.update(content)
            return
        match msg_type:
            case "stream":
                self._add_stream(str(content["name"]), str(content["text"]))
            case "display_data" | "execute_result":
                self._add_rich(msg_type, content)
            case "update_display_data":
                self.displays.update(content)
            case "error":
                self._add(_error_output(content), keep=True)
            case "clear_output":
                self._clear(wait=bool(content.get("wait")))

    def handle_payload(self, payload: list[dict[str, Any]]) -> None:
        """Show what a reply asks the front end to do: a pager text, a text for a new cell."""
        for entry in payload:
            if entry.get("source") == "page" and isinstance(entry.get("data"), dict):
                self._add_rich("display_data", {"data": entry["data"]})
            elif entry.get("source") == "set_next_input":
                where = "this cell" if entry.get("replace") else "a new cell"
                text = f"[the code offers this text for {where}]\n{entry.get('text', '')}"
                self._add_rich("display_data", {"data": {"text/plain": text}})

    def replace(self, index: int, content: dict[str, Any]) -> Output | None:
        """Put new data at `index`. The output is returned when this run is over, else kept."""
        if self._finished is not None:
            if index >= len(self._finished):
                return None
            was = self._finished[index]
            return _rich_output(was.output_type, content, was.execution_count)
        item = self._items[index]
        assert item.fixed is not None
        count = item.fixed.get("execution_count")
        kind = str(item.fixed["output_type"])
        new = _rich_output(kind, content, count)  # type: ignore[arg-type]
        self._rich_chars += _size(new) - _size(item.fixed)
        item.fixed = self._bounded(new)
        item.dirty = True
        return None

    def late(self, msg_type: str, content: dict[str, Any]) -> list[RunEdit]:
        """What a message after the end changes, such as output of a thread of the cell."""
        if msg_type == "update_display_data":
            self.displays.update(content)
            return self.displays.take_late()
        if msg_type == "clear_output":
            return [ClearOutputs(self.cell_id)]
        if msg_type == "stream":
            text = _OVERWRITTEN.sub("", str(content["text"]))
            output: Output = {"output_type": "stream", "name": str(content["name"]), "text": text}
            size = len(text)
        elif msg_type in _RICH:
            output = _rich_output("display_data", content, None)
            size = _size(output)
        else:
            return []
        if self._late_left < 0:
            return []
        self._late_left -= size
        if self._late_left < 0:
            output = _plain_text("[… what else this cell prints after its end is left out …]\n")
        return [AddOutput(self.cell_id, output)]

    def finish(self) -> None:
        """The run is over or nobody watches it: keep only what display ids need."""
        if self._finished is None:
            for item in self._items:
                if item.stream is not None:
                    item.stream.close()
            self._finished = [
                _Finished(str(i.output["output_type"]), i.output.get("execution_count"))  # type: ignore[arg-type]
                if i.fixed
                else _Finished("stream")
                for i in self._items
            ]
            self._items = []

    # -- results -----------------------------------------------------------------------------

    @property
    def outputs(self) -> tuple[Output, ...]:
        return tuple(item.output for item in self._items)

    def changes(self, *, now: float, final: bool = False) -> list[RunEdit]:
        """The edits since the last call, in order. `now` in monotonic seconds.

        Long streams that must be sent whole are sent at most once a second, and when `final`.
        """
        edits: list[RunEdit] = []
        if self._cleared:
            edits.append(ClearOutputs(self.cell_id))
            self._cleared = False
        for index, item in enumerate(self._items):
            edit = self._change(index, item, now=now, final=final)
            if edit is not None:
                edits.append(edit)
        return edits + self.displays.take_late()

    def _change(self, index: int, item: _Item, *, now: float, final: bool) -> RunEdit | None:
        if index >= self._shown:
            self._shown = index + 1
            edit: RunEdit = AddOutput(self.cell_id, item.output)
        elif not item.dirty:
            return None
        elif item.stream is None:
            edit = SetOutput(self.cell_id, index, item.output)
        elif not item.stream.rewritten:
            new = item.stream.text[item.sent_chars :]
            edit = AddOutput(
                self.cell_id, {"output_type": "stream", "name": item.name, "text": new}
            )
        else:
            text = item.stream.text
            long = len(text) > 10_000
            if long and not final and now - item.set_at < self.limits.whole_stream_every_s:
                return None
            item.set_at = now
            edit = SetOutput(self.cell_id, index, item.output)
        item.dirty = False
        if item.stream is not None:
            item.sent_chars = len(item.stream.text)
        return edit

    # -- adding ------------------------------------------------------------------------------

    def _add_stream(self, name: str, text: str) -> None:
        self._clear_if_due()
        last = self._items[-1] if self._items else None
        if last is not None and last.stream is not None and last.name == name:
            item = last
        else:
            item = _Item(None, name=name, stream=self._new_stream(len(self._items)))
            if not self._append(item):
                return
        item.stream.write(text)  # type: ignore[union-attr]
        item.dirty = True

    def _new_stream(self, index: int) -> StreamText:
        if self.overflow is None:
            return StreamText(self.limits)
        spill = partial(self.overflow.take, index)
        return StreamText(self.limits, spill=spill, hint=self.overflow.hint(index))

    def _add_rich(self, msg_type: str, content: dict[str, Any]) -> None:
        output = _rich_output(msg_type, content, content.get("execution_count"))
        self._clear_if_due()
        self._rich_chars += _size(output)
        if self._append(_Item(self._bounded(output))) and (display_id := _display_id(content)):
            self.displays.add(display_id, self, len(self._items) - 1)

    def _add(self, output: Output, *, keep: bool) -> None:
        self._clear_if_due()
        self._append(_Item(output), keep=keep)

    def _append(self, item: _Item, *, keep: bool = False) -> bool:
        if len(self._items) < self.limits.max_outputs or keep:
            self._items.append(item)
            return True
        self._left_out += 1
        text = f"[… {self._left_out:,} more outputs left out …]\n"
        if self._note is None:
            self._note = _Item({})
            self._items.append(self._note)
        self._note.fixed = _plain_text(text)
        self._note.dirty = True
        return False

    def _bounded(self, output: Output) -> Output:
        if self._rich_chars <= self.limits.max_rich_chars:
            return output
        size = _size(output)
        self._rich_chars -= size
        note = _plain_text(f"[an output of {size:,} characters was left out]")
        if output["output_type"] == "execute_result":
            note |= {
                "output_type": "execute_result",
                "execution_count": output.get("execution_count"),
            }
        return note

    def _clear(self, *, wait: bool) -> None:
        if wait:
            self._clear_next = True
            return
        self._clear_next = False
        self._cleared = self._cleared or self._shown > 0
        if self.overflow is not None and any(i.stream and i.stream.cut for i in self._items):
            self.overflow.clear()
        self._items.clear()
        self._note = None
        self._shown = self._left_out = self._rich_chars = 0
        self.displays.forget(collector=self)

    def _clear_if_due(self) -> None:
        if self._clear_next:
            self._clear(wait=False)


# -- outputs -------------------------------------------------------------------------------------


def _display_id(content: dict[str, Any]) -> str:
    return str((content.get("transient") or {}).get("display_id") or "")


def _rich_output(kind: str, content: dict[str, Any], count: int | None) -> Output:
    output: Output = {
        "output_type": kind if kind in _RICH else "display_data",
        "data": dict(content.get("data") or {}),
        "metadata": dict(content.get("metadata") or {}),
    }
    if kind == "execute_result":
        output["execution_count"] = count
    return output


def _error_output(content: dict[str, Any]) -> Output:
    return {
        "output_type": "error",
        "ename": str(content.get("ename", "")),
        "evalue": str(content.get("evalue", "")),
        "traceback": [str(line) for line in content.get("traceback") or ()],
    }


def _plain_text(text: str) -> Output:
    return {"output_type": "display_data", "data": {"text/plain": text}, "metadata": {}}


def _size(output: Output) -> int:
    data = output.get("data")
    if not isinstance(data, dict):
        return 0
    return sum(len(v) if isinstance(v, str) else len(json.dumps(v)) for v in data.values())
