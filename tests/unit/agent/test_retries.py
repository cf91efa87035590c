"""When a failed request is sent again."""

from __future__ import annotations

import pytest

from vitto_jupyter.agent.retries import MAX_TOTAL_WAIT_S, retry_delay_s
from vitto_jupyter.errors import ProviderError


def delay(failures: int = 1, *, retryable: bool = True, **more: float) -> float | None:
    err = ProviderError("x", retryable=retryable, retry_after_s=more.get("retry_after_s"))
    return retry_delay_s(
        err,
        failures=failures,
        max_retries=6,
        waited_s=more.get("waited_s", 0.0),
        jitter=more.get("jitter", 0.0),
    )


def test_gaps_grow() -> None:
    assert [delay(n) for n in range(1, 7)] == [1, 2, 4, 8, 16, 32]


@pytest.mark.parametrize("failures", range(1, 7))
def test_jitter_adds_at_most_a_quarter(failures: int) -> None:
    assert delay(failures) <= delay(failures, jitter=0.999) < delay(failures) * 1.25


def test_server_is_never_asked_before_it_wished() -> None:
    assert delay(1, retry_after_s=3) == 3
    assert delay(4, retry_after_s=3) == 8


def test_gives_up_after_the_allowed_retries() -> None:
    assert delay(6) is not None
    assert delay(7) is None


def test_fault_that_cannot_pass_is_not_retried() -> None:
    assert delay(1, retryable=False) is None


def test_gives_up_when_waiting_would_take_too_long() -> None:
    assert delay(1, retry_after_s=MAX_TOTAL_WAIT_S + 1) is None
    assert delay(3, waited_s=MAX_TOTAL_WAIT_S - 1) is None
