"""The first policy: reads run, the rest asks, and some paths are stricter."""

from __future__ import annotations

import pytest

from vitto_jupyter.policy.facts import Facts
from vitto_jupyter.policy.trust import decide


@pytest.mark.parametrize(
    ("effect", "mode", "action"),
    [
        ("read", "ask", "allow"),
        ("read", "plan", "allow"),
        ("write", "ask", "ask"),
        ("execute", "ask", "ask"),
        ("write", "plan", "deny"),
        ("execute", "plan", "deny"),
    ],
)
def test_the_effect_decides(effect, mode, action) -> None:
    assert decide(Facts(effect, ("a.py",)), mode).action == action


def test_one_protected_path_among_several_decides() -> None:
    assert decide(Facts("write", ("a.py", ".vitto/x")), "ask").action == "deny"
    assert decide(Facts("read", ("a.py", ".env")), "ask").action == "ask"


def test_a_warning_stands_behind_the_usual_reason() -> None:
    verdict = decide(Facts("write", (".bashrc",)), "ask")
    assert verdict.reason.startswith("It changes a document. Take care: ")


@pytest.mark.parametrize(
    "facts",
    [
        Facts("execute", command="cat ~/.local/share/jupyter/runtime/jpserver-*.json"),
        Facts("execute", code="open('x/JPSERVER-1.json').read()"),
        Facts("execute", command="xxd jupyter_cookie_secret"),
    ],
)
def test_code_that_names_a_login_file_is_refused(facts: Facts) -> None:
    assert decide(facts, "ask").action == "deny"


def test_sessions_below_the_root_are_protected() -> None:
    facts = Facts("write", ("data/vitto/sessions/s/trail.jsonl",))
    assert decide(facts, "ask", private="data/vitto").action == "deny"
    assert decide(facts, "ask").action == "ask"
