"""The first policy: reads run, everything else asks; plan mode refuses everything else. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..protocol.events import Mode
from .facts import Facts


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reason` is for the user when asking, for the model when denying."""

    action: Literal["allow", "ask", "deny"]
    reason: str = ""


def decide(facts: Facts, mode: Mode) -> Verdict:
    """Judge one call by its facts alone."""
    if facts.effect == "read":
        return Verdict("allow")
    if mode == "plan":
        return Verdict("deny", "Plan mode is on: only reading is allowed. Describe the change.")
    if facts.effect == "write":
        return Verdict("ask", "It changes a document.")
    return Verdict("ask", "It runs code on your machine.")
