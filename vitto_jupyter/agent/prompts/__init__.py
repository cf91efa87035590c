"""Prompts as text files beside this module. Static: what changes goes into the context."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def system_prompt() -> str:
    """The system prompt of new conversations, without surrounding blank lines."""
    return files(__package__).joinpath("system.md").read_text(encoding="utf-8").strip()
