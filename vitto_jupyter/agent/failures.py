"""Counting the same call failing again and again within a turn."""

from __future__ import annotations

import json
from collections import Counter

from ..protocol.tool import Effect, ToolResult
from .answers import Call


class RepeatedFailures:
    """Failures by call (name and input). `limit` failures of one call are enough.

    A write or execute call that succeeds sets all counts back: the same test command that
    fails again after an edit is progress, not a loop.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._counts: Counter[str] = Counter()

    def exhausted(self, call: Call) -> bool:
        return self._counts[_key(call)] >= self._limit

    def count(self, call: Call, result: ToolResult, effect: Effect) -> ToolResult:
        """Note the result of a call; the last failure that is allowed says so to the model."""
        if result.success:
            if effect != "read":
                self._counts.clear()
            return result
        self._counts[_key(call)] += 1
        if not self.exhausted(call):
            return result
        warning = (
            f"This same call has failed {self._limit} times. Do not send it again: change the "
            "input, try another way, or tell the user what is in the way."
        )
        return result.model_copy(update={"error": f"{result.error or 'Failed.'}\n{warning}"})


def _key(call: Call) -> str:
    wanted = call.input if call.invalid_input is None else call.invalid_input
    return json.dumps([call.name, wanted], sort_keys=True)
