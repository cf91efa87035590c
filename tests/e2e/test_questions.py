"""A cell asks, the user answers in the side bar; a long cell goes on, and both stops are there."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from lab import Lab, notebook
from model_turns import call, say
from playwright.sync_api import Locator, expect

ASKS = 'name = input("Your name? ")\nprint(f"Hello {name}")'
SECRET = 'import getpass\nprint(len(getpass.getpass("Password of the archive: ")))'
SLOW = "import time\nprint('begun', flush=True)\ntime.sleep(3600)"
FILES = {"a.ipynb": notebook("x = 1", ASKS, SECRET, SLOW)}


def violations(desk: Any) -> list[str]:
    found = Axe().run(desk.page, context=".vitto-app")
    return [
        f"{rule['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for rule in found.response["violations"]
        for node in rule["nodes"]
    ]


def cut_off(desk: Any, *, width: int) -> list[str]:
    """What of our part does not fit when it is only so wide."""
    return desk.vitto.evaluate(
        """(app, width) => {
          app.style.width = `${width}px`;
          return [...app.querySelectorAll('button, h3, input, li, label')]
            .filter(e => e.offsetParent && !e.closest('.vitto-diff, .cm-editor'))
            .filter(e => e.getBoundingClientRect().right > app.getBoundingClientRect().right + 1)
            .map(e => e.outerHTML.slice(0, 120));
        }""",
        width,
    )


def question(desk: Any) -> Locator:
    return desk.vitto.locator(".vitto-question")


def output(desk: Any) -> Locator:
    """What the slow cell has printed."""
    return desk.cells.nth(3).locator(".jp-OutputArea-output").first


def run(desk: Any, script: Any, cell: str, **arguments: Any) -> None:
    script(call("run_cells", {"cell_ids": [cell], **arguments}), say("Done."))
    desk.ask("Run it")
    desk.button("Allow").click()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_cell_asks_in_the_side_bar_and_gets_the_answer(
    desk_on: Any, lab: Lab, script: Any, theme: str
) -> None:
    desk = desk_on(lab, files=FILES).open("a.ipynb", theme=theme)
    run(desk, script, "c2")
    expect(question(desk)).to_contain_text("Cell 2 asks for input")
    expect(desk.vitto.locator(".vitto-status").last).to_contain_text("Waiting for your answer")
    assert violations(desk) == []
    desk.shot(f"{theme}-question")
    field = question(desk).get_by_role("textbox", name="Your name?")
    field.fill("Bob")
    field.press("Enter")
    desk.finished()
    expect(question(desk)).to_have_count(0)
    expect(desk.cells.nth(1)).to_contain_text("Hello Bob")
    desk.button("Details: Ran cell 2").click()
    desk.shot(f"{theme}-answered")


def test_a_password_is_hidden_everywhere(desk_on: Any, lab: Lab, script: Any) -> None:
    desk = desk_on(lab, files=FILES, width=700).open("a.ipynb")
    run(desk, script, "c3")
    field = question(desk).get_by_label("Password of the archive:")
    expect(field).to_have_attribute("type", "password")
    field.fill("correct horse")
    assert violations(desk) == []
    assert cut_off(desk, width=250) == []
    desk.shot("password-narrow")
    field.press("Enter")
    desk.finished()
    expect(desk.cells.nth(2)).to_contain_text("13")
    assert "correct horse" not in desk.page.content()


def test_typing_in_the_notebook_goes_on_while_a_cell_asks(
    desk_on: Any, lab: Lab, script: Any
) -> None:
    desk = desk_on(lab, files=FILES).open("a.ipynb")
    script(call("run_cells", {"cell_ids": ["c2"]}), say("Done."))
    desk.ask("Run it")
    desk.button("Allow").click()
    editor = desk.cells.first.locator(".cm-content")
    editor.click()
    desk.page.keyboard.type("2")
    expect(question(desk)).to_be_visible()
    desk.page.keyboard.type("3")
    expect(editor).to_be_focused()
    question(desk).get_by_role("button", name="Don’t answer").click()
    desk.finished()
    expect(desk.cells.nth(1)).to_contain_text("KeyboardInterrupt")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_long_cell_goes_on_and_its_kernel_is_interrupted_apart_from_the_agent(
    desk_on: Any, lab: Lab, script: Any, theme: str
) -> None:
    desk = desk_on(lab, files=FILES).open("a.ipynb", theme=theme)
    run(desk, script, "c4", wait_s=1)
    desk.finished()
    line = desk.vitto.locator(".vitto-run")
    expect(line).to_contain_text("Cell 4 of a.ipynb is running")
    expect(output(desk)).to_contain_text("begun")
    assert violations(desk) == []
    desk.shot(f"{theme}-run-goes-on")
    assert cut_off(desk, width=250) == []
    desk.shot(f"{theme}-run-narrow")
    desk.reload()
    expect(line).to_contain_text("Cell 4 of a.ipynb is running")
    line.get_by_role("button", name="Interrupt kernel").click()
    expect(line).to_contain_text("was interrupted after")
    expect(desk.vitto.locator(".vitto-row").first).to_contain_text("stopped")
    desk.shot(f"{theme}-run-ended")


def test_stop_ends_the_agent_and_says_which_cell_goes_on(
    desk_on: Any, lab: Lab, script: Any
) -> None:
    desk = desk_on(lab, files=FILES).open("a.ipynb")
    run(desk, script, "c4")
    expect(output(desk)).to_contain_text("begun")
    desk.button("Stop").click()
    desk.finished()
    line = desk.vitto.locator(".vitto-run")
    expect(line).to_contain_text("Cell 4 of a.ipynb is running")
    desk.shot("stopped-run-goes-on")
    line.get_by_role("button", name="Interrupt kernel").click()
    expect(line).to_contain_text("was interrupted after")
    expect(desk.cells.nth(3)).to_contain_text("KeyboardInterrupt")
