"""The same call failing again and again."""

from __future__ import annotations

from vitto_jupyter.agent.answers import Call
from vitto_jupyter.agent.failures import RepeatedFailures
from vitto_jupyter.tools.base import done, failed

CALL = Call("a", "run", {"x": 1, "y": 2})
SAME = Call("b", "run", {"y": 2, "x": 1})
OTHER = Call("c", "run", {"x": 2})


def test_last_allowed_failure_says_so() -> None:
    failures = RepeatedFailures(2)
    assert failures.count(CALL, failed("no"), "execute").error == "no"
    assert "failed 2 times" in failures.count(SAME, failed("no"), "execute").error
    assert failures.exhausted(CALL)


def test_other_input_is_another_call() -> None:
    failures = RepeatedFailures(1)
    failures.count(CALL, failed("no"), "execute")
    assert not failures.exhausted(OTHER)


def test_change_that_succeeds_sets_the_counts_back() -> None:
    failures = RepeatedFailures(1)
    failures.count(CALL, failed("no"), "execute")
    failures.count(OTHER, done("edited"), "write")
    assert not failures.exhausted(CALL)


def test_read_that_succeeds_changes_no_count() -> None:
    failures = RepeatedFailures(1)
    failures.count(CALL, failed("no"), "execute")
    failures.count(OTHER, done("text"), "read")
    assert failures.exhausted(CALL)


def test_inputs_that_are_no_json_are_told_apart() -> None:
    failures = RepeatedFailures(1)
    failures.count(Call("a", "run", {}, invalid_input="{"), failed("no"), "read")
    assert failures.exhausted(Call("b", "run", {}, invalid_input="{"))
    assert not failures.exhausted(Call("b", "run", {}, invalid_input="{x"))
