"""Everything by keyboard, with names for screen readers; axe finds nothing in our part."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from lab import Lab, notebook
from model_turns import call, say
from playwright.sync_api import expect

FILES = {"a.ipynb": notebook("x = 1", "print(x)")}
EDIT = {"cell_id": "c1", "source": "x = 2"}


def violations(desk: Any) -> list[str]:
    found = Axe().run(desk.page, context=".vitto-app")
    return [
        f"{rule['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for rule in found.response["violations"]
        for node in rule["nodes"]
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_any_state(desk_on: Any, lab: Lab, script: Any, theme: str) -> None:
    script(
        call("read_notebook", {}, "I *read* `a.ipynb` first.\n\n```python\nx = 1\n```"),
        call("edit_cell", EDIT),
        call("run_cells", {"cell_ids": ["c2"]}),
        say("Done. | a | b |\n\n| a | b |\n|---|---|\n| 1 | 2 |"),
    )
    desk = desk_on(lab, files=FILES).open("a.ipynb", theme=theme)
    assert violations(desk) == []
    desk.ask("Change it")
    expect(desk.card).to_contain_text("Edit")
    assert violations(desk) == []
    desk.button("Allow").click()
    expect(desk.card).to_contain_text("Run")
    assert violations(desk) == []
    desk.button("Allow").click()
    desk.finished()
    assert violations(desk) == []
    desk.button("Sessions").click()
    expect(desk.vitto.get_by_role("searchbox")).to_be_visible()
    assert violations(desk) == []
    desk.shot(f"{theme}-sessions")


def test_a_turn_needs_no_mouse(desk_on: Any, lab: Lab, script: Any) -> None:
    script(call("read_notebook", {}), call("edit_cell", EDIT), say("Done."))
    desk = desk_on(lab, files=FILES).open("a.ipynb", query="")
    expect(desk.cells).to_have_count(2)
    desk.page.keyboard.press("ControlOrMeta+Shift+V")
    expect(desk.composer).to_be_focused()
    expect(desk.vitto.locator(".vitto-dock")).to_contain_text("a.ipynb")
    desk.page.keyboard.type("Change it")
    desk.page.keyboard.press("Enter")
    expect(desk.card).to_contain_text("Edit")
    expect(desk.composer).to_be_focused()  # the card takes no focus by itself
    allow = desk.card.get_by_role("button", name="Allow")
    for _ in range(40):
        desk.page.keyboard.press("Shift+Tab")
        if desk.card.evaluate("card => card.contains(document.activeElement)"):
            break
    desk.page.keyboard.press("Escape")
    expect(desk.card.get_by_role("button", name="Reject")).to_be_focused()
    desk.page.keyboard.press("ControlOrMeta+Enter")
    expect(allow).to_have_count(0)
    desk.finished()
    expect(desk.cells.first).to_contain_text("x = 2")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_narrow_side_bar_cuts_nothing_off(
    desk_on: Any, lab: Lab, script: Any, theme: str
) -> None:
    script(call("read_notebook", {}), call("edit_cell", EDIT))
    desk = desk_on(lab, files=FILES, width=700).open("a.ipynb", theme=theme)
    desk.ask("Change it")
    expect(desk.card).to_contain_text("Edit")
    desk.shot(f"{theme}-narrow")
    wide = desk.vitto.evaluate(
        """app => [...app.querySelectorAll('button, h3, textarea, input')]
          .filter(e => e.offsetParent && !e.closest('.vitto-diff, .cm-editor'))
          .filter(e => e.getBoundingClientRect().right > app.getBoundingClientRect().right + 1)
          .map(e => e.outerHTML.slice(0, 120))"""
    )
    assert wide == []
    desk.button("Stop").click()
    desk.finished()
