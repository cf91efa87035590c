"""Without any key the demo does its job, plainly labelled."""

from __future__ import annotations

from typing import Any

import pytest
from lab import Lab, notebook
from playwright.sync_api import expect

SETUP = "import pandas as pd\nsales = pd.DataFrame({'month': [1, 2, 3], 'units': [3, 5, 4]})"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_demo_fixes_a_failing_cell(desk_on: Any, demo_lab: Lab, theme: str) -> None:
    files = {"try.ipynb": notebook(SETUP, "sales['unitz'].sum()")}
    desk = desk_on(demo_lab, files=files).open("try.ipynb", theme=theme)
    expect(desk.vitto).to_contain_text("not a language model")
    desk.shot(f"{theme}-demo-empty")
    desk.ask("Fix the failing cell")
    desk.button("Allow").click()  # run the notebook to see where it fails
    expect(desk.card).to_contain_text("Edit")
    desk.shot(f"{theme}-demo-fix")
    desk.button("Allow").click()
    desk.finished()
    expect(desk.cells.nth(1)).to_contain_text("sales['units'].sum()")
    expect(desk.cells.nth(1).locator(".jp-OutputArea")).to_contain_text("12")
    desk.shot(f"{theme}-demo-fixed")


def test_the_demo_plots_a_data_frame(desk_on: Any, demo_lab: Lab) -> None:
    desk = desk_on(demo_lab, files={"try.ipynb": notebook(SETUP)}).open("try.ipynb")
    desk.ask("Plot my data")
    desk.button("Allow").click()
    expect(desk.card).to_contain_text("sales.plot")
    desk.button("Allow").click()
    desk.finished()
    expect(desk.cells).to_have_count(2)
    expect(desk.cells.nth(1).locator(".jp-OutputArea img")).to_have_count(1)
    desk.shot("demo-plot")
