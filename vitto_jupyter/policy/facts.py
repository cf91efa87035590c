"""Facts about a tool call, as parsed by the tool: what policy judges. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from ..protocol.tool import Effect


@dataclass(frozen=True, slots=True)
class Facts:
    """What a call will touch. `paths` are resolved API paths; `command` and `code` exact text."""

    effect: Effect
    paths: tuple[str, ...] = ()
    command: str | None = None
    code: str | None = None
