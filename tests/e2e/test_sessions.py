"""Sessions and models: new, resumed, renamed, deleted; another model from the next turn on."""

from __future__ import annotations

from typing import Any

from lab import Lab, notebook
from model_turns import say
from playwright.sync_api import expect

FILES = {"a.ipynb": notebook("x = 1")}


def test_the_model_is_switched_between_turns(desk_on: Any, lab: Lab, script: Any) -> None:
    api = script(say("First."), say("Second."))
    desk = desk_on(lab, files=FILES).open("a.ipynb")
    desk.ask("One")
    expect(desk.vitto).to_contain_text("First.")
    desk.finished()
    desk.vitto.locator(".vitto-model-button").click()
    desk.vitto.get_by_role("radio", name="Claude Opus 5 5").check()
    desk.vitto.get_by_role("radio", name="high", exact=True).check()
    desk.shot("model-menu")
    desk.page.keyboard.press("Escape")
    desk.ask("Two")
    expect(desk.vitto).to_contain_text("Second.")
    desk.finished()
    bodies = [record["body"] for record in api.calls()]
    assert [body["model"] for body in bodies] == ["claude-sonnet-5-5", "claude-opus-5-5"]
    assert bodies[1]["output_config"] == {"effort": "high"}
    assert api.rejected() == []


def test_sessions_are_renamed_resumed_and_deleted(desk_on: Any, lab: Lab, script: Any) -> None:
    script(say("An answer to keep."), say("Another answer."))
    desk = desk_on(lab, files=FILES).open("a.ipynb")
    desk.ask("Keep this")
    expect(desk.vitto).to_contain_text("An answer to keep.")
    desk.finished()
    desk.vitto.locator(".vitto-header").get_by_role("button", name="Keep this").click()
    title = desk.vitto.locator(".vitto-header").get_by_role("textbox")
    title.fill("My analysis")
    title.press("Enter")
    expect(desk.vitto.locator(".vitto-header")).to_contain_text("My analysis")
    desk.button("New session").click()
    expect(desk.vitto).to_contain_text("What Vitto sees now")
    desk.ask("Something else")
    expect(desk.vitto).to_contain_text("Another answer.")
    desk.finished()
    desk.button("Sessions").click()
    desk.vitto.get_by_role("searchbox").fill("analysis")
    desk.shot("sessions")
    desk.vitto.get_by_role("button", name="My analysis").first.click()
    expect(desk.vitto).to_contain_text("An answer to keep.")
    desk.button("Sessions").click()
    item = desk.vitto.locator(".vitto-session-list li", has_text="My analysis")
    item.get_by_role("button", name="Delete").click()
    desk.page.locator(".jp-Dialog").get_by_role("button", name="Delete").click()
    expect(item).to_have_count(0)
