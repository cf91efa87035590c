"""The trail: a session's events on disk, one JSON line each. Imported by hub and sessions.

A trail always opens: complete records are kept, what is damaged is put aside, and a record
lost in the middle is replaced by a notice, so that numbers stay gapless.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from ..protocol.base import JsonObject
from ..protocol.events import EVENT, Event, Notice
from .session_files import append_bytes, put_aside, write_whole

FILE = "trail.jsonl"
READ_EVENTS = 512
READ_BYTES = 1024 * 1024
FROM_NEWER_VERSION = ("union_tag_invalid", "extra_forbidden")


@dataclass(frozen=True, slots=True)
class Written:
    """An event that is on the trail; `line` is its JSON, without line breaks of any kind."""

    seq: int
    type: str
    line: bytes


@dataclass(slots=True)
class Scan:
    """What a trail holds, gathered in one pass when it is opened.

    `open_turn_id` is the turn that has no end; `approvals` are those without an answer;
    `answers` maps the others to (decision, by). `questions` are the open ones, `outcomes` says
    how the others were closed; `runs` are the detached ones without an end.
    """

    turn_ids: list[str] = field(default_factory=list)
    open_turn_id: str | None = None
    last_reason: str | None = None
    approvals: dict[str, JsonObject] = field(default_factory=dict)
    answers: dict[str, tuple[str, str]] = field(default_factory=dict)
    questions: dict[str, JsonObject] = field(default_factory=dict)
    outcomes: dict[str, str] = field(default_factory=dict)
    runs: dict[str, JsonObject] = field(default_factory=dict)
    title: str = ""
    notebook_path: str | None = None
    first_at: str = ""
    last_at: str = ""

    def add(self, event: JsonObject) -> None:
        self.first_at = self.first_at or str(event["at"])
        self.last_at = str(event["at"])
        match event["type"]:
            case "session.created":
                self.title, self.notebook_path = event["title"], event["notebook_path"]
            case "session.renamed":
                self.title = event["title"]
            case "turn.started":
                self.turn_ids.append(event["turn_id"])
                self.open_turn_id = event["turn_id"]
            case "turn.finished":
                self.open_turn_id = None
                self.last_reason = event["reason"]
            case "approval.requested":
                self.approvals[event["approval_id"]] = event
            case "approval.resolved":
                self.approvals.pop(event["approval_id"], None)
                self.answers[event["approval_id"]] = (event["decision"], event["by"])
            case "question.asked":
                self.questions[event["question_id"]] = event
            case "question.closed":
                self.questions.pop(event["question_id"], None)
                self.outcomes[event["question_id"]] = event["outcome"]
            case "run.detached":
                self.runs[event["run_id"]] = event
            case "run.finished":
                self.runs.pop(event["run_id"], None)


def encode(event: Event) -> bytes:
    """One line of JSON. The Unicode line ends are escaped: some readers break lines there."""
    try:
        line = EVENT.dump_json(event)
    except PydanticSerializationError:
        # half a surrogate pair, e.g. from a cut emoji in a tool's output
        text = json.dumps(event.model_dump(), ensure_ascii=False, separators=(",", ":"))
        line = text.encode("utf-8", "replace")
    for text, escaped in ((b"\xe2\x80\xa8", rb"\u2028"), (b"\xe2\x80\xa9", rb"\u2029")):
        line = line.replace(text, escaped)
    return line.replace(b"\xc2\x85", rb"\u0085")


class Trail:
    """An opened trail; appends come from one writer at a time, reads from anywhere."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        # where each record ends; one append to it makes a record known, also to other threads
        self._ends = array("Q")

    @property
    def last_seq(self) -> int:
        return len(self._ends)

    def open(self, session_id: str, at: str) -> Scan:
        """Read what is there and repair it; `at` is the time of notices about lost records."""
        content = self._path.read_bytes() if self._path.exists() else b""
        lines, damaged = _checked(content.split(b"\n"), session_id, at)
        self._ends = array("Q")
        for line, _ in lines:
            self._ends.append(self._end(self.last_seq) + len(line) + 1)
        if damaged:
            put_aside(self._path, b"\n".join(damaged))
        if damaged or self._end(self.last_seq) != len(content):
            write_whole(self._path, b"".join(line + b"\n" for line, _ in lines))
        return _scanned(event for _, event in lines)

    def peek(self) -> Scan:
        """What the readable part holds; changes nothing on disk."""
        lines, _ = _checked(self._path.read_bytes().split(b"\n"), "", "")
        return _scanned(event for _, event in lines)

    def append(self, batch: Sequence[Written]) -> None:
        """Raises StorageFailed, and then holds exactly what it held before."""
        content = b"".join(event.line + b"\n" for event in batch)
        append_bytes(self._path, content, size=self._end(self.last_seq))
        for event in batch:
            self._ends.append(self._end(self.last_seq) + len(event.line) + 1)

    def read(self, *, after: int) -> tuple[Written, ...]:
        """Some events after number `after`, in order; empty only when there are none."""
        count = min(READ_EVENTS, self.last_seq - after)
        if count <= 0:
            return ()
        start = self._end(after)
        while count > 1 and self._end(after + count) - start > READ_BYTES:
            count //= 2
        with open(self._path, "rb") as file:
            file.seek(start)
            content = file.read(self._end(after + count) - start)
        lines = content.rstrip(b"\n").split(b"\n")
        return tuple(
            Written(seq=seq, type=_type_of(line), line=line)
            for seq, line in enumerate(lines, start=after + 1)
        )

    def _end(self, seq: int) -> int:
        """Where record `seq` ends; 0 for the record before the first."""
        return self._ends[seq - 1] if seq else 0


def _scanned(events: Iterable[JsonObject]) -> Scan:
    scan = Scan()
    for event in events:
        scan.add(event)
    return scan


def _type_of(line: bytes) -> str:
    return json.loads(line)["type"]


def _checked(
    lines: Sequence[bytes], session_id: str, at: str
) -> tuple[list[tuple[bytes, JsonObject]], list[bytes]]:
    """The records, numbered without a gap, and what is none."""
    kept: list[tuple[bytes, JsonObject]] = []
    damaged: list[bytes] = []
    pending = 0
    for line in lines:
        if not line:
            continue
        event = _parsed(line)
        # one broken byte can spoil a record, or join two of them
        if event is None or not 0 <= event["seq"] - len(kept) - 1 <= 2 * pending:
            damaged.append(line)
            pending += 1
            continue
        pending = 0
        kept.extend(_placeholders(len(kept) + 1, event["seq"], session_id, at))
        kept.append((line, event))
    return kept, damaged


def _parsed(line: bytes) -> JsonObject | None:
    try:
        EVENT.validate_json(line)
    except ValidationError as err:
        # a type or field of a newer version is no damage
        if any(error["type"] not in FROM_NEWER_VERSION for error in err.errors()):
            return None
    event = json.loads(line)
    return event if isinstance(event.get("seq"), int) and isinstance(event.get("at"), str) else None


def _placeholders(
    first: int, end: int, session_id: str, at: str
) -> Iterator[tuple[bytes, JsonObject]]:
    for seq in range(first, end):
        notice = Notice(
            seq=seq,
            session_id=session_id,
            at=at,
            level="warning",
            code="record_damaged",
            text="A record of this session was damaged on disk and has been put aside.",
        )
        yield encode(notice), notice.model_dump(mode="json")
