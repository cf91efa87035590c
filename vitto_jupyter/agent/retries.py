"""When a failed request to the model is sent again. Pure."""

from __future__ import annotations

from ..errors import ProviderError

MAX_DELAY_S = 60.0
MAX_TOTAL_WAIT_S = 300.0


def retry_delay_s(
    err: ProviderError, *, failures: int, max_retries: int, waited_s: float, jitter: float
) -> float | None:
    """Seconds to wait before the same request is sent again; None to give up.

    Args:
        failures: Failed attempts of this request so far, at least 1.
        waited_s: Seconds already spent on waiting for this request.
        jitter: A random number in [0, 1): clients that failed together come back apart.
    """
    if not err.retryable or failures > max_retries:
        return None
    delay = min(2.0 ** (failures - 1) * (1 + jitter / 4), MAX_DELAY_S)
    delay = max(delay, err.retry_after_s or 0.0)
    return delay if waited_s + delay <= MAX_TOTAL_WAIT_S else None
