"""Documents that are open in pages: edited there, followed on disk, merged, never lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lab import Lab, notebook
from model_turns import call, say
from playwright.sync_api import expect

NAME = "analysis.ipynb"
FILES = {NAME: notebook("first = 1", "second = 2", ("markdown", "# Notes"))}
IS_CLEAN = "() => jupyterapp.shell.currentWidget.context.model.dirty === false"
SOURCES = """() => jupyterapp.shell.currentWidget?.content?.model?.sharedModel.cells
    .map(cell => cell.getSource())"""
CONTEXT = "jupyterapp.shell.currentWidget.context"


class Person:
    """What somebody does in a page, and what another program does to the file."""

    def __init__(self, desk: Any, name: str = NAME) -> None:
        self.desk = desk
        self.page = desk.page
        self.name = name

    @property
    def file(self) -> Path:
        return self.desk.lab.root / self.desk.folder / self.name

    def type_into(self, index: int, text: str) -> None:
        """At the end of a cell, without saving."""
        self.desk.cells.nth(index).locator(".cm-content").click()
        expect(self.page.locator(".jp-Notebook.jp-mod-editMode")).to_be_visible()
        self.page.keyboard.press("ControlOrMeta+End")
        self.page.keyboard.type(text)

    def save(self) -> None:
        self.page.evaluate(f"async () => {{ await {CONTEXT}.save(); }}")
        self.page.wait_for_function(IS_CLEAN)
        self.no_dialog()

    def no_dialog(self) -> None:
        expect(self.page.locator(".jp-Dialog")).to_have_count(0)

    def sees(self, *sources: str) -> None:
        self.page.wait_for_function(
            f"wanted => JSON.stringify(({SOURCES})()) === wanted",
            arg=json.dumps(sources, separators=(",", ":")),
        )

    def change_file(self, **sources: str) -> None:
        """Another program writes the cells with these ids, past Jupyter."""
        stored = json.loads(self.file.read_text())
        for cell in stored["cells"]:
            if cell["id"] in sources:
                cell["source"] = sources[cell["id"]].splitlines(keepends=True)
        self.file.write_text(json.dumps(stored, indent=1))

    def stored(self) -> list[str]:
        return ["".join(cell["source"]) for cell in json.loads(self.file.read_text())["cells"]]

    def come_back(self) -> None:
        """The page becomes visible again."""
        self.page.evaluate("() => { document.dispatchEvent(new Event('visibilitychange')); }")

    def had_a_bad_file(self) -> None:
        """The browser itself reports that a file could not be fetched."""
        problems = self.desk.problems
        problems[:] = [problem for problem in problems if "/api/contents/" not in problem]

    def notice(self, text: str) -> Any:
        found = self.page.locator(".Toastify__toast").filter(has_text=text)
        expect(found).to_have_count(1)
        return found


@pytest.fixture
def person(desk_on: Any, lab: Lab) -> Person:
    desk = desk_on(lab, files=FILES).open(NAME)
    return ready(Person(desk))


def ready(person: Person) -> Person:
    person.sees("first = 1", "second = 2", "# Notes")
    # JupyterLab writes what the kernel says of its language into the notebook: a change to save
    person.page.wait_for_function(
        f"() => {CONTEXT}.model.getMetadata('language_info')?.version !== undefined"
    )
    person.save()
    return person


def test_a_clean_tab_follows_its_file_and_the_user_stays_where_they_are(person: Person) -> None:
    person.desk.cells.nth(1).locator(".cm-content").click()
    expect(person.page.locator(".jp-Notebook.jp-mod-editMode")).to_be_visible()
    person.page.keyboard.press("ControlOrMeta+End")
    person.change_file(c1="first = 'changed'", c2="import os\nsecond = 2")
    person.come_back()
    person.sees("first = 'changed'", "import os\nsecond = 2", "# Notes")
    person.page.wait_for_function(IS_CLEAN)
    person.no_dialog()
    person.page.keyboard.type("0")  # still in the cell, behind what was there
    person.sees("first = 'changed'", "import os\nsecond = 20", "# Notes")
    person.save()
    assert person.stored() == ["first = 'changed'", "import os\nsecond = 20", "# Notes"]


def test_a_dirty_tab_merges_and_a_save_keeps_the_work_of_both(person: Person) -> None:
    person.type_into(0, "0")
    person.change_file(c2="second = 'theirs'")
    person.come_back()
    person.sees("first = 10", "second = 'theirs'", "# Notes")
    person.notice("1 cell was merged")
    person.desk.shot("merged")
    person.save()
    assert person.stored() == ["first = 10", "second = 'theirs'", "# Notes"]
    person.desk.reload()
    person.sees("first = 10", "second = 'theirs'", "# Notes")


def test_a_save_looks_at_the_file_first(person: Person) -> None:
    person.type_into(0, "0")
    person.change_file(c2="second = 'theirs'")
    person.save()
    assert person.stored() == ["first = 10", "second = 'theirs'", "# Notes"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_cell_changed_by_both_keeps_the_users_text_and_offers_the_other(
    desk_on: Any, lab: Lab, theme: str
) -> None:
    desk = desk_on(lab, files=FILES).open(NAME, theme=theme)
    person = ready(Person(desk))
    person.type_into(1, "22")
    person.change_file(c1="first = 'theirs'", c2="second = 'theirs'")
    person.come_back()
    person.sees("first = 'theirs'", "second = 222", "# Notes")
    notice = person.notice("cell 2 changed in both, yours was kept")
    desk.shot(f"{theme}-conflict-notice")
    notice.get_by_role("button", name="Show the other version").click()
    dialog = desk.page.locator(".jp-Dialog")
    expect(dialog).to_contain_text("second = 'theirs'")
    desk.shot(f"{theme}-conflict-dialog")
    dialog.get_by_role("button", name="Close").click()
    person.save()
    assert person.stored() == ["first = 'theirs'", "second = 222", "# Notes"]


def test_the_other_version_can_be_taken_and_undone(person: Person) -> None:
    person.type_into(1, "22")
    person.change_file(c2="second = 'theirs'")
    person.come_back()
    notice = person.notice("cell 2 changed in both")
    notice.get_by_role("button", name="Show the other version").click()
    dialog = person.page.locator(".jp-Dialog")
    dialog.get_by_role("button", name="Use this version").click()
    dialog.get_by_role("button", name="Close").click()
    person.sees("first = 1", "second = 'theirs'", "# Notes")
    person.desk.command("notebook:undo-cell-action")
    person.sees("first = 1", "second = 222", "# Notes")


def test_two_tabs_show_the_same_after_one_saved(desk_on: Any, lab: Lab) -> None:
    one = ready(Person(desk_on(lab, files=FILES).open(NAME)))
    other = Person(desk_on(lab).open(NAME))
    other.sees("first = 1", "second = 2", "# Notes")
    one.type_into(0, "0")
    one.save()
    other.sees("first = 10", "second = 2", "# Notes")
    other.type_into(1, "0")
    one.type_into(0, "1")
    one.save()
    other.sees("first = 101", "second = 20", "# Notes")
    other.save()
    one.sees("first = 101", "second = 20", "# Notes")
    for person in (one, other):
        person.no_dialog()
    assert one.stored() == ["first = 101", "second = 20", "# Notes"]


def test_the_agent_edits_one_of_two_tabs_and_the_other_follows(
    desk_on: Any, lab: Lab, script: Any
) -> None:
    script(
        call("read_notebook", {}),
        call("edit_cell", {"cell_id": "c2", "source": "second = 'agent'"}),
        say("Done."),
    )
    one = ready(Person(desk_on(lab, files=FILES).open(NAME)))
    other = Person(desk_on(lab).open(NAME))
    other.sees("first = 1", "second = 2", "# Notes")
    one.desk.ask("Change the second.")
    one.desk.button("Allow").click()
    one.desk.finished()
    other.save()
    one.save()
    for person in (one, other):
        person.sees("first = 1", "second = 'agent'", "# Notes")
    one.no_dialog()
    other.no_dialog()


def test_outputs_of_a_run_elsewhere_show_and_newer_ones_here_stay(person: Person) -> None:
    person.type_into(0, "; print('here')")
    person.page.keyboard.press("Control+Enter")
    output = person.desk.cells.nth(0).locator(".jp-OutputArea-output")
    expect(output).to_contain_text("here")
    stored = json.loads(person.file.read_text())
    for cell, text in zip(stored["cells"], ("older", "elsewhere"), strict=False):
        cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": [text]}]
    stored["cells"][1]["execution_count"] = 7
    person.file.write_text(json.dumps(stored))
    person.come_back()
    expect(person.desk.cells.nth(1).locator(".jp-OutputArea-output")).to_contain_text("elsewhere")
    expect(output).to_contain_text("here")
    person.save()
    stored = json.loads(person.file.read_text())["cells"]
    assert "here" in "".join(stored[0]["outputs"][0]["text"])
    assert stored[1]["execution_count"] == 7


def test_a_broken_file_never_replaces_what_is_open(person: Person) -> None:
    person.file.write_text('{"cells": [')
    person.come_back()
    notice = person.notice("cannot be read from disk now")
    person.desk.shot("broken-notice")
    person.sees("first = 1", "second = 2", "# Notes")
    notice.get_by_role("button", name="Put it back").click()
    person.page.wait_for_function(IS_CLEAN)
    person.no_dialog()
    person.had_a_bad_file()
    assert person.stored() == ["first = 1", "second = 2", "# Notes"]


def test_a_notebook_that_shrank_to_nothing_never_replaces_what_is_open(person: Person) -> None:
    stored = json.loads(person.file.read_text())
    person.file.write_text(json.dumps({**stored, "cells": []}))
    person.come_back()
    person.notice("is empty on disk now")
    person.sees("first = 1", "second = 2", "# Notes")
    person.no_dialog()


def test_a_file_that_is_gone_is_said_and_saving_writes_it_again(person: Person) -> None:
    person.type_into(0, "0")
    person.file.unlink()
    person.come_back()
    person.notice("is gone from disk")
    person.save()
    person.had_a_bad_file()
    assert person.stored() == ["first = 10", "second = 2", "# Notes"]


def test_text_files_are_merged_by_lines(desk_on: Any, lab: Lab) -> None:
    lines = "".join(f"line {number}\n" for number in range(1, 9))
    desk = desk_on(lab, files={"notes.txt": lines}).open("notes.txt")
    person = Person(desk, "notes.txt")
    editor = desk.page.locator(".jp-FileEditor .cm-content")
    editor.click()
    desk.page.keyboard.press("ControlOrMeta+Home")
    desk.page.keyboard.type("my ")
    person.file.write_text(lines.replace("line 8", "their line 8"))
    person.come_back()
    expect(editor).to_contain_text("their line 8")
    desk.page.keyboard.type("own ")  # the cursor is where it was
    expect(editor).to_contain_text("my own line 1")
    person.save()
    assert person.file.read_text() == lines.replace("line 1", "my own line 1").replace(
        "line 8", "their line 8"
    )
