"""The user types without saving while the agent edits: both people's work is there at the end."""

from __future__ import annotations

import re
from typing import Any

import pytest
from lab import Lab, notebook
from model_turns import call, last_user_text, say
from playwright.sync_api import expect

NAME = "work.ipynb"
FILES = {NAME: notebook("a = 1", "b = 2", ("markdown", "# Notes"))}


def read() -> dict[str, Any]:
    return call("read_notebook", {})


def edit(cell_id: str, source: str) -> dict[str, Any]:
    return call("edit_cell", {"cell_id": cell_id, "source": source})


def sources(cells: list[dict[str, Any]]) -> list[str]:
    return ["".join(cell["source"]) for cell in cells]


def save(desk: Any) -> None:
    desk.command("docmanager:save")
    desk.page.wait_for_function(
        "() => jupyterapp.shell.currentWidget.context.model.dirty === false"
    )


def no_dialog(desk: Any) -> None:
    expect(desk.page.locator(".jp-Dialog")).to_have_count(0)


@pytest.mark.parametrize("kind", ["alone", "two tabs", "collaboration"])
def test_typing_and_edits_of_the_agent_do_not_disturb_each_other(
    desk_on: Any, lab: Lab, script: Any, request: pytest.FixtureRequest, kind: str
) -> None:
    server = request.getfixturevalue("shared_lab") if kind == "collaboration" else lab
    api = script(
        read(),
        edit("c2", "b = 3"),
        edit("c3", "# Notes of the agent"),  # the user has typed there meanwhile: refused
        edit("c3", "# Notes: typed by hand. Checked."),
        say("Both are there."),
    )
    desk = desk_on(server, files=FILES).open(NAME)
    other = desk_on(server).open(NAME) if kind == "two tabs" else None
    desk.page.bring_to_front()
    desk.type_into(0, "  # mine")
    desk.ask("Change b, then check my notes.")
    expect(desk.card).to_contain_text("b = 3")
    desk.type_into(2, ": typed by hand")
    desk.button("Allow").click()
    expect(desk.card).to_contain_text("Checked")
    refused = next(text for text in map(last_user_text, api.calls()) if "has changed since" in text)
    assert "typed by hand" in refused
    desk.type_into(1, "  # and more")
    expect(desk.page.locator(".jp-Notebook.jp-mod-editMode")).to_be_visible()
    desk.button("Allow").click()
    desk.finished()
    desk.type_into(0, ", all mine")
    no_dialog(desk)
    save(desk)
    wanted = ["a = 1  # mine, all mine", "b = 3  # and more", "# Notes: typed by hand. Checked."]
    desk.stored(NAME, lambda cells: sources(cells) == wanted)
    no_dialog(desk)
    if other is not None:
        other.page.bring_to_front()
        expect(other.cells.nth(0)).to_contain_text("all mine")
        no_dialog(other)
    desk.reload()
    expect(desk.cells.nth(0)).to_contain_text("all mine")
    expect(desk.cells.nth(1)).to_contain_text("b = 3")
    no_dialog(desk)
    assert api.rejected() == []
    desk.shot(f"both-{kind.replace(' ', '-')}")


def test_a_page_that_closes_in_mid_call_loses_nothing(desk_on: Any, lab: Lab, script: Any) -> None:
    """The answer never comes: the server looks what became of the edit, and says it."""
    api = script(read(), edit("c2", "b = 3"), read(), say("Looked."))
    desk = desk_on(lab, files=FILES).open(NAME)
    desk.type_into(0, "  # mine")
    save(desk)
    desk.ask("Change b.")
    expect(desk.card).to_contain_text("b = 3")
    watcher = desk_on(lab)
    watcher.open("", query="vitto=open")
    watcher.vitto.get_by_role("button", name="Sessions").click()
    watcher.vitto.get_by_text("Change b.").first.click()
    expect(watcher.card).to_contain_text("b = 3")
    # the page is asked to edit, and is gone before it can
    calls = re.compile(r"/hosts/[^/]+/calls(\?|$)")
    desk.page.route(calls, lambda route: None)
    with desk.page.expect_request(calls):
        watcher.button("Allow").click()
    desk.page.goto("about:blank")
    watcher.finished()
    told = last_user_text(api.calls()[-1])
    first, second, _ = sources(watcher.saved(NAME)["cells"])
    assert first == "a = 1  # mine"
    assert ("b = 3" in told) == (second == "b = 3")
    assert api.rejected() == []


def test_a_file_changed_on_disk_meanwhile_is_merged_with_what_the_user_typed(
    desk_on: Any, lab: Lab, script: Any
) -> None:
    script(
        read(),
        call(
            "run_command",
            {
                "command": "python3 - <<'END'\nimport json, pathlib\n"
                "p = next(pathlib.Path('.').rglob('work.ipynb'))\n"
                "n = json.loads(p.read_text())\n"
                "n['cells'][1]['source'] = ['b = 2  # from disk']\n"
                "p.write_text(json.dumps(n, indent=1))\nEND"
            },
        ),
        edit("c1", "a = 5  # mine"),
        say("Done."),
    )
    desk = desk_on(lab, files=FILES).open(NAME)
    desk.type_into(0, "  # mine")
    desk.ask("Change both.")
    desk.button("Allow").click()
    expect(desk.card).to_contain_text("a = 5")
    expect(desk.cells.nth(1)).to_contain_text("from disk")
    desk.button("Allow").click()
    desk.finished()
    desk.type_into(2, " by hand")
    save(desk)
    no_dialog(desk)
    wanted = ["a = 5  # mine", "b = 2  # from disk", "# Notes by hand"]
    desk.stored(NAME, lambda cells: sources(cells) == wanted)
    desk.shot("both-changed-on-disk")
