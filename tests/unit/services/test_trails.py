"""Trails on disk: gapless, private, and always openable."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from vitto_jupyter.errors import StorageFailed
from vitto_jupyter.protocol.context import TurnContext
from vitto_jupyter.protocol.events import EVENT, Notice, TextDelta, TurnFinished, TurnStarted
from vitto_jupyter.services import session_files
from vitto_jupyter.services.trails import Trail, Written, encode

AT = "2026-11-30T09:00:00.000Z"


def written(seq: int, event) -> Written:
    stamped = event.model_copy(
        update={"seq": seq, "session_id": "ses_1", "turn_id": "trn_1", "at": AT}
    )
    return Written(seq=seq, type=stamped.type, line=encode(stamped))


def some_events(count: int) -> list[Written]:
    return [written(seq, TextDelta(text=f"piece {seq} ")) for seq in range(1, count + 1)]


def opened(folder: Path) -> Trail:
    trail = Trail(folder)
    trail.open("ses_1", AT)
    return trail


def texts(trail: Trail) -> list[str]:
    events = [EVENT.validate_json(event.line) for event in all_of(trail)]
    return [event.text for event in events]


def all_of(trail: Trail) -> list[Written]:
    found: list[Written] = []
    while batch := trail.read(after=len(found)):
        found.extend(batch)
    return found


def test_what_was_appended_is_read_back_after_reopening(tmp_path: Path) -> None:
    events = some_events(2000)
    opened(tmp_path).append(events)
    assert all_of(opened(tmp_path)) == events


def test_reading_starts_after_the_given_number(tmp_path: Path) -> None:
    trail = opened(tmp_path)
    trail.append(some_events(10))
    assert [event.seq for event in trail.read(after=7)] == [8, 9, 10]
    assert trail.read(after=10) == ()


def test_large_events_are_read_in_bounded_batches(tmp_path: Path) -> None:
    trail = opened(tmp_path)
    trail.append([written(seq, TextDelta(text="x" * 700_000)) for seq in range(1, 5)])
    assert len(trail.read(after=0)) < 4
    assert len(all_of(trail)) == 4


@pytest.mark.parametrize(
    "text", ["a\u2028b\u2029c\x85d", "line\r\nend\n", "🙂", "half \ud83d pair"]
)
def test_an_event_is_one_line_of_json(text: str) -> None:
    line = encode(TextDelta(text=text))
    assert len(line.decode().splitlines()) == 1
    assert EVENT.validate_json(line).text == text.replace("\ud83d", "?")


def test_a_trail_cut_at_any_byte_opens_with_all_complete_records(tmp_path: Path) -> None:
    opened(tmp_path).append(some_events(6))
    content = (tmp_path / "trail.jsonl").read_bytes()
    for cut in range(len(content)):
        folder = tmp_path / f"cut{cut}"
        folder.mkdir()
        (folder / "trail.jsonl").write_bytes(content[:cut])
        complete = content[: cut + 1].count(b"\n")  # a record without its line end is complete
        trail = opened(folder)
        assert trail.last_seq == complete
        trail.append([written(complete + 1, TextDelta(text="next"))])
        assert texts(opened(folder))[-1] == "next"


def test_a_damaged_tail_is_put_aside(tmp_path: Path) -> None:
    opened(tmp_path).append(some_events(3))
    with open(tmp_path / "trail.jsonl", "ab") as file:
        file.write(b'{"seq": 4, "session_')
    assert opened(tmp_path).last_seq == 3
    (aside,) = tmp_path.glob("trail.jsonl.damaged-*")
    assert aside.read_bytes() == b'{"seq": 4, "session_'


def test_a_flipped_byte_costs_one_record_and_no_number(tmp_path: Path) -> None:
    opened(tmp_path).append(some_events(5))
    content = (tmp_path / "trail.jsonl").read_bytes()
    for position in range(len(content)):
        folder = tmp_path / f"flip{position}"
        folder.mkdir()
        flipped = bytearray(content)
        flipped[position] ^= 0x20 if flipped[position] != 0x0A else 0x41
        (folder / "trail.jsonl").write_bytes(flipped)
        trail = opened(folder)
        events = all_of(trail)
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        intact = {line for line in content.split(b"\n") if line}
        assert len(intact & {event.line for event in events}) >= 3


def test_a_record_lost_in_the_middle_becomes_a_notice(tmp_path: Path) -> None:
    opened(tmp_path).append(some_events(3))
    lines = (tmp_path / "trail.jsonl").read_bytes().split(b"\n")
    lines[1] = lines[1][:20]
    (tmp_path / "trail.jsonl").write_bytes(b"\n".join(lines))
    kinds = [event.type for event in all_of(opened(tmp_path))]
    assert kinds == ["text.delta", "notice", "text.delta"]


def test_events_of_a_newer_version_are_kept(tmp_path: Path) -> None:
    line = b'{"seq":1,"session_id":"ses_1","turn_id":null,"at":"%s","type":"receipt","x":1}'
    (tmp_path / "trail.jsonl").write_bytes(line % AT.encode() + b"\n")
    assert all_of(opened(tmp_path))[0].line == line % AT.encode()


def test_the_trail_is_only_for_its_owner(tmp_path: Path) -> None:
    opened(tmp_path).append(some_events(1))
    assert (tmp_path / "trail.jsonl").stat().st_mode & 0o777 == 0o600


def test_opening_tells_which_turn_has_no_end(tmp_path: Path) -> None:
    started = TurnStarted(prompt="p", mode="ask", context=TurnContext(), provider="", model="")
    opened(tmp_path).append([written(1, started)])
    assert Trail(tmp_path).open("ses_1", AT).open_turn_id == "trn_1"
    opened(tmp_path).append([written(2, TurnFinished(reason="limit"))])
    scan = Trail(tmp_path).open("ses_1", AT)
    assert (scan.open_turn_id, scan.last_reason, scan.turn_ids) == (None, "limit", ["trn_1"])


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trail = opened(tmp_path)
    trail.append(some_events(2))
    before = (tmp_path / "trail.jsonl").read_bytes()
    real_write = os.write

    def fill_up(descriptor: int, content) -> int:
        monkeypatch.setattr(session_files.os, "write", refuse)
        return real_write(descriptor, bytes(content)[:10])

    def refuse(descriptor: int, content) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(session_files.os, "write", fill_up)
    with pytest.raises(StorageFailed, match="No space left"):
        trail.append([written(3, Notice(level="info", code="n", text="lost"))])
    assert (tmp_path / "trail.jsonl").read_bytes() == before
    monkeypatch.setattr(session_files.os, "write", real_write)
    trail.append([written(3, TextDelta(text="saved"))])
    assert texts(opened(tmp_path))[-1] == "saved"
