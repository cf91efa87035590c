"""Cases as data: rows of tests/cases/*.jsonl, and what becomes of each one.

Every row of a file is run by a check in the runner, or covered by a test that stands elsewhere,
or named with the reason why it is not run yet. `assert_all_accounted_for` fails otherwise.

    CASES = Cases("path", covered={"S-118": "tests/…/test_x.py::test_y"}, later={"S-144": "…"})

    @CASES.check("S-109")
    async def sibling_folder(row, …): …
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

TESTS = Path(__file__).parents[1]
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Row:
    """A case. `do` is what is tried; `outcome` ALLOW, ASK, DENY, NOT_ALLOW, STALE, … or ASSERT."""

    id: str
    title: str
    given: tuple[str, ...]
    do: Mapping[str, Any]
    outcome: str
    asserts: tuple[str, ...]


@dataclass
class Cases:
    """The rows of one surface. `covered` names tests as `path::name`, several by blanks."""

    surface: str
    covered: Mapping[str, str] = field(default_factory=dict)
    later: Mapping[str, str] = field(default_factory=dict)
    checks: dict[str, Callable[..., Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rows = {row.id: row for row in _rows(self.surface)}

    def check(self, *ids: str) -> Callable[[F], F]:
        """Marks a function as the check of these rows."""

        def mark(function: F) -> F:
            for id in ids:
                assert id not in self.checks, f"{id} has two checks"
                self.checks[id] = function
            return function

        return mark

    def assert_all_accounted_for(self) -> None:
        tables = (set(self.checks), set(self.covered), set(self.later))
        named = [id for table in tables for id in table]
        assert sorted(named) == sorted(self.rows), "each row once: run, covered or later"
        assert all(reason.strip() for reason in self.later.values())
        for where in " ".join(self.covered.values()).split():
            path, _, name = where.partition("::")
            text = (TESTS.parent / path).read_text()
            assert name.replace("_", " ") in text.replace("_", " "), f"{where} is not there"


def _rows(surface: str) -> Iterator[Row]:
    for line in (TESTS / "cases" / f"{surface}.jsonl").read_text().splitlines():
        entry = json.loads(line)
        assert entry["surface"] == surface, entry["id"]
        expect = entry["expect"]
        yield Row(
            id=entry["id"],
            title=entry["input"]["title"],
            given=tuple(entry["input"].get("given", ())),
            do=entry["input"].get("do", entry["input"]),
            outcome=expect["outcome"],
            asserts=tuple(expect["assert"]),
        )
