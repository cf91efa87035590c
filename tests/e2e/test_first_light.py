"""The main job: ask, watch, approve, done; nothing lost, whatever happens in between."""

from __future__ import annotations

from typing import Any

import pytest
from lab import Lab, notebook
from model_turns import call, last_user_text, say
from playwright.sync_api import expect

DATA = "import pandas as pd\nsales = pd.DataFrame({'month': [1, 2, 3], 'units': [3, 5, 4]})"
PLOT = "import matplotlib.pyplot as plt\nsales.plot(x='month')\nplt.show()"
ANALYSIS = {"analysis.ipynb": notebook(DATA, "sales.plto()", ("markdown", "# Notes"))}
SLOW = {"tokens_per_s": 20}
LONG = " ".join(f"word{n}" for n in range(400))


def read() -> dict[str, Any]:
    return call("read_notebook", {}, "I read the notebook.")


def edit_and_run() -> dict[str, Any]:
    return call("edit_cell", {"cell_id": "c2", "source": PLOT, "run": True})


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_approved_diff_changes_the_cell_and_its_plot_shows(
    desk_on: Any, lab: Lab, script: Any, theme: str
) -> None:
    api = script(
        read(),
        call("run_cells", {"cell_ids": ["c1"]}),
        edit_and_run(),
        say("The plot **shows** the units by month."),
    )
    desk = desk_on(lab, files=ANALYSIS).open("analysis.ipynb", theme=theme)
    desk.shot(f"{theme}-0-empty")
    desk.ask("Plot the units by month.")
    expect(desk.card).to_contain_text("Run")
    desk.shot(f"{theme}-1-approve-run")
    desk.button("Allow").click()
    expect(desk.card).to_contain_text("cell 2")
    expect(desk.card).to_contain_text("plt.show()")
    desk.shot(f"{theme}-2-approve-diff")
    desk.button("Allow").click()
    desk.finished()
    expect(desk.vitto).to_contain_text("The plot shows the units by month.")
    expect(desk.cells.nth(1)).to_contain_text("plt.show()")
    expect(desk.cells.nth(1).locator(".jp-OutputArea img")).to_have_count(1)
    desk.vitto.get_by_role("button", name="cell 2").last.click()
    expect(desk.vitto.locator("img")).not_to_have_count(0)
    desk.shot(f"{theme}-3-done")
    assert api.rejected() == []
    saved = desk.saved("analysis.ipynb")["cells"]
    assert "".join(saved[1]["source"]) == PLOT
    assert any("image/png" in output.get("data", {}) for output in saved[1]["outputs"])
    assert "trusted" not in saved[1]["metadata"]


def test_the_model_gets_the_comment_of_a_rejection(desk_on: Any, lab: Lab, script: Any) -> None:
    api = script(read(), edit_and_run(), say("As you wish."))
    desk = desk_on(lab, files=ANALYSIS).open("analysis.ipynb")
    desk.ask("Plot it.")
    expect(desk.card).to_contain_text("cell 2")
    desk.card.get_by_label("Tell Vitto what to do instead").fill("Use a bar chart instead")
    desk.shot("reject-comment")
    desk.button("Reject and say this").click()
    desk.finished()
    expect(desk.vitto).to_contain_text("As you wish.")
    expect(desk.cells.nth(1)).to_contain_text("sales.plto()")
    assert "Use a bar chart instead" in last_user_text(api.calls()[-1])
    assert api.rejected() == []
    desk.shot("rejected")


def test_stop_while_text_streams_leaves_the_session_usable(
    desk_on: Any, lab: Lab, script: Any
) -> None:
    api = script(say(LONG, **SLOW), say("Second answer."))
    desk = desk_on(lab, files=ANALYSIS).open("analysis.ipynb")
    desk.ask("Tell me a lot.")
    expect(desk.vitto).to_contain_text("word5")
    desk.button("Stop").click()
    desk.finished()
    expect(desk.vitto).to_contain_text("topped")
    desk.shot("stopped-streaming")
    desk.ask("And now?")
    expect(desk.vitto).to_contain_text("Second answer.")
    assert api.rejected() == []


def test_stop_while_an_approval_waits_runs_nothing(desk_on: Any, lab: Lab, script: Any) -> None:
    api = script(read(), edit_and_run(), say("Second answer."))
    desk = desk_on(lab, files=ANALYSIS).open("analysis.ipynb")
    desk.ask("Plot it.")
    expect(desk.card).to_contain_text("cell 2")
    desk.button("Stop").click()
    desk.finished()
    expect(desk.card).to_have_count(0)
    desk.shot("stopped-approval")
    desk.ask("And now?")
    expect(desk.vitto).to_contain_text("Second answer.")
    expect(desk.cells.nth(1)).to_contain_text("sales.plto()")
    assert api.rejected() == []


def test_stop_while_a_cell_runs_says_what_goes_on(desk_on: Any, lab: Lab, script: Any) -> None:
    busy = "import time\nprint('begun')\nwhile True:\n    time.sleep(0.1)"
    api = script(call("run_cells", {"cell_ids": ["c1"]}), say("Second answer."))
    desk = desk_on(lab, files={"busy.ipynb": notebook(busy)}).open("busy.ipynb")
    desk.ask("Run it.")
    desk.button("Allow").click()
    expect(desk.cells.first.locator(".jp-OutputArea-output")).to_contain_text("begun")
    desk.button("Stop").click()
    desk.finished()
    expect(desk.button("Interrupt kernel")).to_be_visible()
    desk.shot("stopped-cell")
    desk.button("Interrupt kernel").click()
    expect(desk.vitto).to_contain_text("Cell 1 of busy.ipynb was interrupted")
    expect(desk.button("Interrupt kernel")).to_have_count(0)
    expect(desk.vitto.locator(".vitto-dock")).to_contain_text("idle")
    desk.ask("And now?")
    expect(desk.vitto).to_contain_text("Second answer.")
    assert api.rejected() == []


def test_stop_while_a_command_runs_ends_it(desk_on: Any, lab: Lab, script: Any) -> None:
    api = script(
        call("run_command", {"command": "echo begun; sleep 300"}),
        say("Second answer."),
    )
    desk = desk_on(lab, files=ANALYSIS).open("analysis.ipynb")
    desk.ask("Wait.")
    expect(desk.card).to_contain_text("echo begun; sleep 300")
    desk.shot("approve-command")
    desk.button("Allow").click()
    expect(desk.vitto.locator(".vitto-stop")).to_be_visible()
    expect(desk.vitto.locator(".vitto-status")).to_contain_text("unning")
    desk.button("Stop").click()
    desk.finished()
    desk.ask("And now?")
    expect(desk.vitto).to_contain_text("Second answer.")
    assert api.rejected() == []


def test_a_reload_in_mid_answer_loses_and_repeats_nothing(
    desk_on: Any, lab: Lab, script: Any
) -> None:
    text = " ".join(f"word{n}." for n in range(120))
    script(say(text, tokens_per_s=40))
    desk = desk_on(lab, files=ANALYSIS).open("analysis.ipynb")
    desk.ask("Tell me a lot.")
    expect(desk.vitto).to_contain_text("word9.")
    desk.reload()
    expect(desk.vitto).to_contain_text("word119.", timeout=60_000)
    desk.finished()
    shown = desk.vitto.inner_text()
    assert [shown.count(f"word{n}.") for n in (0, 9, 60, 119)] == [1, 1, 1, 1]
    assert shown.count("Tell me a lot.") >= 1


def test_a_reload_while_an_approval_waits_keeps_the_question(
    desk_on: Any, lab: Lab, script: Any
) -> None:
    api = script(read(), edit_and_run(), say("All done."))
    desk = desk_on(lab, files=ANALYSIS).open("analysis.ipynb")
    desk.ask("Plot it.")
    expect(desk.card).to_contain_text("cell 2")
    desk.reload()
    expect(desk.card).to_contain_text("cell 2")
    expect(desk.card).to_have_count(1)
    desk.button("Allow").click()
    desk.finished()
    expect(desk.vitto).to_contain_text("All done.")
    assert len(api.calls()) == 3
    assert api.rejected() == []


def test_a_second_tab_shows_the_same_and_can_answer(desk_on: Any, lab: Lab, script: Any) -> None:
    script(read(), edit_and_run(), say("All done."))
    first = desk_on(lab, files=ANALYSIS).open("analysis.ipynb")
    first.ask("Plot it.")
    expect(first.card).to_contain_text("cell 2")
    second = desk_on(lab)
    second.open("analysis.ipynb")
    second.vitto.get_by_role("button", name="Sessions").click()
    second.vitto.get_by_text("Plot it.").first.click()
    expect(second.card).to_contain_text("cell 2")
    second.button("Allow").click()
    for desk in (first, second):
        desk.finished()
        expect(desk.vitto).to_contain_text("All done.")
        expect(desk.card).to_have_count(0)
    second.shot("second-tab")


def test_unsaved_work_of_the_user_survives_an_edit_and_a_run(
    desk_on: Any, lab: Lab, script: Any
) -> None:
    script(read(), call("edit_cell", {"cell_id": "c2", "source": "1 + 1", "run": True}), say("OK."))
    desk = desk_on(lab, files=ANALYSIS).open("analysis.ipynb")
    desk.cells.nth(2).click()
    desk.page.keyboard.press("Enter")
    expect(desk.page.locator(".jp-Notebook.jp-mod-editMode")).to_be_visible()
    desk.page.keyboard.press("ControlOrMeta+End")
    desk.page.keyboard.type(" typed by hand")
    desk.ask("Make it simple.")
    desk.button("Allow").click()
    desk.finished()
    expect(desk.cells.nth(2)).to_contain_text("typed by hand")
    expect(desk.page.locator(".jp-Dialog")).to_have_count(0)
    desk.command("docmanager:save")
    expect(desk.page.locator(".jp-mod-dirty.jp-Notebook, .jp-Dialog")).to_have_count(0)
    desk.page.wait_for_function(
        "() => jupyterapp.shell.currentWidget.context.model.dirty === false"
    )
    sources = ["".join(cell["source"]) for cell in desk.saved("analysis.ipynb")["cells"]]
    assert sources[1] == "1 + 1"
    assert "typed by hand" in sources[2]
