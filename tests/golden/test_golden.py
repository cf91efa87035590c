"""The Python fold is held to the golden trails (the TypeScript one reads the same files)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vitto_jupyter.protocol.events import EVENT
from vitto_jupyter.protocol.fold import empty_transcript, fold, fold_all

TRAILS = sorted(Path(__file__).parent.glob("*.jsonl"))


def events_of(trail: Path):
    return [
        EVENT.validate_json(line) for line in trail.read_text(encoding="utf-8").strip().split("\n")
    ]


def expected_of(trail: Path):
    return json.loads(trail.with_suffix(".transcript.json").read_text(encoding="utf-8"))


def test_there_are_golden_trails() -> None:
    assert len(TRAILS) >= 7


@pytest.mark.parametrize("trail", TRAILS, ids=lambda path: path.stem)
def test_trail_folds_to_the_golden_transcript(trail: Path) -> None:
    events = events_of(trail)
    folded = fold_all(events[0].session_id, events)
    assert json.loads(folded.model_dump_json()) == expected_of(trail)


@pytest.mark.parametrize("trail", TRAILS, ids=lambda path: path.stem)
def test_folding_events_again_changes_nothing(trail: Path) -> None:
    transcript = empty_transcript("")
    events = events_of(trail)
    for position, event in enumerate(events):
        for again in events[max(0, position - 2) : position + 1]:
            transcript = fold(transcript, again)
        transcript = fold(transcript, event)
    assert json.loads(transcript.model_dump_json())["turns"] == expected_of(trail)["turns"]


@pytest.mark.parametrize("trail", TRAILS, ids=lambda path: path.stem)
def test_golden_trail_is_gapless_from_one(trail: Path) -> None:
    events = events_of(trail)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
