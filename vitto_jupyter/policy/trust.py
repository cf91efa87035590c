"""The first policy: reads run, everything else asks; plan mode refuses everything else. Pure.

Some paths are stricter than that, see `paths`: secrets are read only when the user allows it,
and some files are changed by people alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..protocol.events import Mode
from .deception import warnings_of
from .facts import Facts
from .paths import Action, care_of

PLAN_MODE = "Plan mode is on: only reading is allowed. Describe the change."
# with what is in there, the agent's own shell could answer for the user
_LOGIN_FILES = re.compile(r"\b(jpserver|nbserver)-\S*\.json|jupyter_cookie_secret", re.IGNORECASE)
_LOGIN_DENIED = "It names a file that lets its reader act as the user on the Jupyter server."


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reason` is for the user when asking, for the model when denying."""

    action: Action
    reason: str = ""


def decide(facts: Facts, mode: Mode, *, private: str | None = None) -> Verdict:
    """Judge one call by its facts alone; `private` as in `paths.care_of`."""
    cares = [care_of(path, facts.effect, private=private) for path in facts.paths]
    denials = [why for action, why in cares if action == "deny"]
    warning = next((why for action, why in cares if action == "ask"), "")
    if denials:
        return Verdict("deny", f"This path is protected. {denials[0]}")
    if _LOGIN_FILES.search(f"{facts.command or ''}\n{facts.code or ''}"):
        return Verdict("deny", _LOGIN_DENIED)
    if facts.effect == "read":
        return Verdict("ask", warning) if warning else Verdict("allow")
    if mode == "plan":
        return Verdict("deny", PLAN_MODE)
    usual = "It changes a document." if facts.effect == "write" else "It runs code on your machine."
    warnings = " ".join([warning, *warnings_of(facts.command or facts.code or "")]).strip()
    return Verdict("ask", f"{usual} Take care: {warnings}" if warnings else usual)
