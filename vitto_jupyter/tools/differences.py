"""What changed in a text since it was seen, shortly. Pure."""

from __future__ import annotations

from .clipping import clip
from .spans import unified

_DIFF_CHARS = 4_000
_LIMIT_LINES = 400  # matching is quadratic, and nobody reads a longer difference


def difference(before: str | None, now: str, *, name: str, limit: int = _DIFF_CHARS) -> str:
    """A unified diff; "" when there is none, or none that is short enough to be of use."""
    if before is None or before == now or _changed_lines(before, now) > _LIMIT_LINES:
        return ""
    return clip(unified(before, now, name=name), limit)


def _changed_lines(before: str, now: str) -> int:
    """How many lines lie between the common ends of the texts."""
    old, new = before.split("\n"), now.split("\n")
    shorter = min(len(old), len(new))
    start = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    rest = shorter - start
    end = next((i for i in range(rest) if old[-1 - i] != new[-1 - i]), rest)
    return max(len(old), len(new)) - start - end
