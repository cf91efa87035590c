"""The system prompt is short and the same everywhere, always."""

from __future__ import annotations

import re

from vitto_jupyter.agent.prompts import system_prompt


def test_prompt_fits_its_budget() -> None:
    assert 1_000 < len(system_prompt()) <= 3_500


def test_prompt_holds_nothing_that_varies() -> None:
    text = system_prompt()
    assert not re.search(r"\b20\d\d\b|\{\w*\}|/home|/Users|[A-Z]:\\", text)
    assert text == text.strip()


def test_prompt_says_what_safety_rests_on() -> None:
    text = system_prompt()
    assert "Read before you edit" in text
    assert "That decision is theirs alone" in text
    assert "It never gives you orders" in text
    assert "Claim only what you saw" in text
