"""With real-time collaboration: nothing lost, nothing doubled, no dialog."""

from __future__ import annotations

from typing import Any

from lab import Lab, notebook
from model_turns import call, say
from playwright.sync_api import expect

NAME = "shared.ipynb"
FILES = {NAME: notebook("a = 1", "a + 1", ("markdown", "# Notes"))}
SLOW = "import time\nfor i in range(60):\n    print('tick', i, flush=True)\n    time.sleep(0.1)"


def read() -> dict[str, Any]:
    return call("read_notebook", {}, "I read it.")


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def printed(cell: dict[str, Any]) -> str:
    return "".join("".join(o["text"]) for o in cell["outputs"] if o["output_type"] == "stream")


def ticks(cell: dict[str, Any]) -> list[str]:
    return printed(cell).splitlines()


ALL_TICKS = [f"tick {i}" for i in range(60)]


def test_both_peoples_work_is_in_the_file_and_nothing_is_doubled(
    desk_on: Any, shared_lab: Lab, script: Any
) -> None:
    script(
        read(),
        call("edit_cell", {"cell_id": "c2", "source": "a + 41", "run": True}),
        say("Changed."),
    )
    desk = desk_on(shared_lab, files=FILES).open(NAME)
    desk.type_into(2, " typed by hand")
    desk.ask("Add more.")
    desk.button("Allow").click()
    desk.finished()
    desk.type_into(2, " and more")
    expect(desk.page.locator(".jp-Dialog")).to_have_count(0)
    cells = desk.stored(NAME, lambda cells: "and more" in source(cells[2]))
    assert [source(cell) for cell in cells] == ["a = 1", "a + 41", "# Notes typed by hand and more"]
    assert [output["output_type"] for output in cells[1]["outputs"]] == ["error"]
    assert cells[1]["execution_count"] == 1
    desk.shot("shared-edited")


def test_of_two_tabs_one_acts_and_both_show_it(desk_on: Any, shared_lab: Lab, script: Any) -> None:
    script(
        read(),
        call("insert_cells", {"after": "c1", "cells": [{"source": "print(a)"}], "run": True}),
        call("run_cells", {"cell_ids": ["c1"]}),
        say("Done."),
    )
    first = desk_on(shared_lab, files=FILES).open(NAME)
    second = desk_on(shared_lab).open(NAME)
    second.type_into(2, " from the second tab")
    first.ask("Insert one.")
    first.button("Allow").click()
    expect(first.card).to_contain_text("cell 1")
    first.button("Allow").click()
    first.finished()
    for desk in (first, second):
        expect(desk.cells).to_have_count(4)
        expect(desk.cells.nth(3)).to_contain_text("from the second tab")
        expect(desk.page.locator(".jp-Dialog")).to_have_count(0)
    cells = first.stored(NAME, lambda cells: len(cells) == 4 and cells[0]["execution_count"] == 2)
    assert source(cells[1]) == "print(a)"
    assert len(cells[1]["outputs"]) == 1


def test_a_run_goes_on_when_the_page_closes_and_is_complete_in_the_file(
    desk_on: Any, shared_lab: Lab, script: Any
) -> None:
    script(call("run_cells", {"cell_ids": ["c1"]}), say("Ran."))
    desk = desk_on(shared_lab, files={NAME: notebook(SLOW, "2")}).open(NAME)
    desk.ask("Run it.")
    desk.button("Allow").click()
    expect(desk.cells.nth(0)).to_contain_text("tick 3")
    desk.page.goto("about:blank")
    cells = desk.stored(NAME, lambda cells: "tick 59" in printed(cells[0]))
    assert ticks(cells[0]) == ALL_TICKS
    desk.open(NAME)
    expect(desk.cells.nth(0)).to_contain_text("tick 59")
    expect(desk.page.locator(".jp-Dialog")).to_have_count(0)
    shown = desk.cells.nth(0).locator(".jp-OutputArea").inner_text()
    assert [shown.count(f"tick {i}\n") for i in (3, 30)] == [1, 1]


def test_an_edit_just_after_the_page_closed_keeps_what_was_typed_last(
    desk_on: Any, shared_lab: Lab, script: Any
) -> None:
    """The server still has the document in memory then, with changes it has not stored."""
    script(
        read(),
        call("edit_cell", {"cell_id": "c2", "source": "a + 41"}),
        say("Changed."),
    )
    desk = desk_on(shared_lab, files=FILES).open(NAME)
    desk.ask("Add more.")
    expect(desk.card).to_contain_text("a + 41")
    watcher = desk_on(shared_lab)
    watcher.open("", query="vitto=open")
    watcher.vitto.get_by_role("button", name="Sessions").click()
    watcher.vitto.get_by_text("Add more.").first.click()
    expect(watcher.card).to_contain_text("a + 41")
    desk.type_into(2, " typed at the last moment")
    desk.page.goto("about:blank")
    watcher.button("Allow").click()
    watcher.finished()
    watcher.stored(NAME, lambda cells: source(cells[1]) == "a + 41")
    desk.open(NAME)
    expect(desk.cells.nth(1)).to_contain_text("a + 41")
    # the last letters may never have left the page; what did is kept
    expect(desk.cells.nth(2)).to_contain_text("typed at")
    cells = desk.stored(NAME, lambda cells: "typed at" in source(cells[2]))
    assert [source(cell) for cell in cells[:2]] == ["a = 1", "a + 41"]
