"""The ways in: palette, launcher, shortcuts and context menus."""

from __future__ import annotations

from typing import Any

from lab import Lab, notebook
from model_turns import call, last_user_text, say
from playwright.sync_api import expect

FAILING = {
    "cell_type": "code",
    "id": "bad",
    "metadata": {},
    "source": "1 / 0",
    "execution_count": 1,
    "outputs": [
        {
            "output_type": "error",
            "ename": "ZeroDivisionError",
            "evalue": "division by zero",
            "traceback": ["ZeroDivisionError: division by zero"],
        }
    ],
}


def failing() -> dict[str, Any]:
    made = notebook("x = 1")
    made["cells"].append(FAILING)
    return made


def test_commands_are_in_the_palette_and_a_tile_in_the_launcher(desk_on: Any, lab: Lab) -> None:
    desk = desk_on(lab).open("", query="")
    desk.command("apputils:activate-command-palette")
    search = desk.page.locator(".lm-CommandPalette-input")
    expect(search).to_be_focused()
    search.fill("vitto")
    for label in ("Open Vitto", "New Vitto Session", "Vitto Settings"):
        expect(desk.page.locator(".lm-CommandPalette-item", has_text=label).first).to_be_visible()
    desk.page.keyboard.press("Escape")
    desk.command("launcher:create")
    desk.page.locator(".jp-LauncherCard", has_text="Vitto").first.click()
    expect(desk.composer).to_be_focused()


def test_a_failing_cell_is_fixed_from_its_context_menu(desk_on: Any, lab: Lab, script: Any) -> None:
    api = script(say("I look at it."))
    desk = desk_on(lab, files={"a.ipynb": failing()}).open("a.ipynb", query="")
    expect(desk.cells).to_have_count(2)
    desk.cells.nth(1).locator(".jp-OutputArea-output").click(button="right")
    desk.page.locator(".lm-Menu-item", has_text="Fix with Vitto").click()
    expect(desk.vitto).to_contain_text("I look at it.")
    said = last_user_text(api.calls()[-1])
    assert "ZeroDivisionError" in said
    assert "bad" in said
    desk.shot("fix-from-menu")


def test_the_selection_goes_along_with_a_question(desk_on: Any, lab: Lab, script: Any) -> None:
    api = script(say("It is a number."))
    desk = desk_on(lab, files={"note.py": "alpha = 1\nbeta = 2\n"}).open("note.py", query="")
    editor = desk.page.locator(".jp-FileEditor .cm-content")
    editor.click()
    desk.page.keyboard.press("ControlOrMeta+Home")
    desk.page.keyboard.press("Shift+End")
    desk.page.keyboard.press("ControlOrMeta+Shift+A")
    expect(desk.composer).to_be_focused()
    desk.page.keyboard.type("What is this?")
    desk.page.keyboard.press("Enter")
    expect(desk.vitto).to_contain_text("It is a number.")
    said = last_user_text(api.calls()[-1])
    assert "<selection>\nalpha = 1\n</selection>" in said


def test_an_open_file_is_edited_in_its_editor_and_saved(
    desk_on: Any, lab: Lab, script: Any, folder: str
) -> None:
    path = f"{folder}/note.py"
    edit = {"path": path, "edits": [{"before": "beta = 2", "after": "beta = 3"}]}
    api = script(call("read_file", {"path": path}), call("edit_file", edit), say("Done."))
    desk = desk_on(lab, files={"note.py": "alpha = 1\nbeta = 2\n"}).open("note.py")
    desk.ask("Make beta 3")
    expect(desk.card).to_contain_text("beta = 3")
    desk.shot("approve-file-diff")
    desk.button("Allow").click()
    desk.finished()
    expect(desk.page.locator(".jp-FileEditor .cm-content")).to_contain_text("beta = 3")
    assert (lab.root / desk.folder / "note.py").read_text() == "alpha = 1\nbeta = 3\n"
    assert api.rejected() == []
