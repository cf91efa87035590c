"""What runs print: right in the page, in the file and for the model."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from lab import Lab, notebook
from model_turns import call, last_user_text, say
from playwright.sync_api import expect

NAME = "runs.ipynb"

TQDM = "import time\nfrom tqdm import tqdm\nfor _ in tqdm(range(30)):\n    time.sleep(0.01)"
PLOT = "import matplotlib.pyplot as plt\n_ = plt.plot([1, 3, 2])"
STYLED = (
    "import pandas as pd\n"
    "pd.DataFrame({'units': [3, 5, 4]}).style.highlight_max(color='rgb(1, 200, 3)')"
)
SLIDER = "import ipywidgets\nslider = ipywidgets.IntSlider(value=3)\nslider"
SHOWN = "handle = display('first words', display_id=True)"
UPDATED = "handle.update('second words')"
CLEARED = (
    "from IPython.display import clear_output\n"
    "for n in range(4):\n    clear_output(wait=True)\n    print('frame', n)"
)
FLOOD = (
    "line = 'x' * 99 + '\\n'\n"
    "for n in range(1000):\n    print('block', n)\n    print(line * 1000, end='')\n"
    "print('flood over')"
)
RAISES = "def broken():\n    return {}['missing']\nbroken()"


def run(*cell_ids: str, **more: Any) -> dict[str, Any]:
    return call("run_cells", {"cell_ids": list(cell_ids), **more})


def text_of(cell: dict[str, Any]) -> str:
    return "".join(
        "".join(output["text"]) for output in cell["outputs"] if output["output_type"] == "stream"
    )


def said(api: Any) -> str:
    """What the model was told last."""
    return last_user_text(api.calls()[-1])


def output(desk: Any, index: int) -> Any:
    return desk.cells.nth(index).locator(".jp-Cell-outputArea")


def test_rich_outputs_are_right_in_page_file_and_model(desk_on: Any, lab: Lab, script: Any) -> None:
    sources = (TQDM, PLOT, STYLED, SLIDER, SHOWN, UPDATED, CLEARED)
    api = script(run(*(f"c{n}" for n in range(1, 8))), say("All shown."))
    desk = desk_on(lab, files={NAME: notebook(*sources)}).open(NAME)
    desk.ask("Run them all.")
    desk.button("Allow").click()
    expect(desk.vitto.locator(".vitto-turn-end")).to_have_count(1, timeout=90_000)  # imports much
    # the page
    expect(output(desk, 0)).to_contain_text("30/30")
    assert output(desk, 0).inner_text().count("%|") == 1
    expect(output(desk, 1).locator("img")).to_have_count(1)
    cell = output(desk, 2).locator("td", has_text="5")
    assert cell.evaluate("td => getComputedStyle(td).backgroundColor") == "rgb(1, 200, 3)"
    handle = output(desk, 3).locator(".noUi-handle")
    handle.focus()
    desk.page.keyboard.press("ArrowRight")
    expect(output(desk, 3).locator(".widget-readout")).to_have_text("4")
    expect(output(desk, 4)).to_contain_text("second words")
    expect(output(desk, 4)).not_to_contain_text("first words")
    expect(output(desk, 6)).to_contain_text("frame 3")
    expect(output(desk, 6)).not_to_contain_text("frame 2")
    for index in range(7):
        expect(desk.cells.nth(index).locator(".jp-InputPrompt")).to_contain_text(f"[{index + 1}]")
    desk.shot("rich-outputs")
    # the file
    cells = desk.stored(NAME, lambda cells: cells[6]["execution_count"] == 7)
    assert text_of(cells[0]).count("%|") == 1 and "\r" not in text_of(cells[0])
    assert "image/png" in cells[1]["outputs"][0]["data"]
    assert "text/html" in cells[2]["outputs"][0]["data"]
    assert "application/vnd.jupyter.widget-view+json" in cells[3]["outputs"][0]["data"]
    assert "second words" in json.dumps(cells[4]["outputs"])
    assert text_of(cells[6]) == "frame 3\n"
    assert all("trusted" not in cell["metadata"] for cell in cells)
    # the model
    told = said(api)
    assert told.count("%|") == 1 and "30/30" in told
    assert "widget left out" in told and "IntSlider" in told
    assert "<style" not in told and re.search(r"\b5\b", told)
    assert "second words" in told and "frame 3" in told and "frame 2" not in told
    assert api.rejected() == []


def test_a_flood_of_output_is_bounded_everywhere_and_readable_in_parts(
    desk_on: Any, lab: Lab, script: Any
) -> None:
    api = script(
        run("c1"),
        call("read_output", {"cell_id": "c1", "pattern": "block 500$"}),
        say("Found it."),
    )
    desk = desk_on(lab, files={NAME: notebook(FLOOD)}).open(NAME)
    desk.ask("Run it.")
    desk.button("Allow").click()
    expect(desk.vitto.locator(".vitto-turn-end")).to_have_count(1, timeout=120_000)
    expect(output(desk, 0)).to_contain_text("flood over")
    cells = desk.stored(NAME, lambda cells: "flood over" in text_of(cells[0]))
    assert len(text_of(cells[0])) < 2_000_000
    results = [last_user_text(request) for request in api.calls()[1:]]
    assert len(results[0]) < 60_000 and "flood over" in results[0] and "read_output" in results[0]
    assert "block 500" in results[1]
    assert api.rejected() == []


def test_the_first_error_ends_the_run_and_the_rest_is_not_run(
    desk_on: Any, lab: Lab, script: Any
) -> None:
    api = script(run("c1", "c2", "c3"), say("It failed."))
    desk = desk_on(lab, files={NAME: notebook("1 + 1", RAISES, "print('never')")}).open(NAME)
    desk.ask("Run them.")
    desk.button("Allow").click()
    desk.finished()
    expect(output(desk, 1)).to_contain_text("KeyError")
    cells = desk.stored(NAME, lambda cells: cells[1]["execution_count"] == 2)
    assert cells[1]["outputs"][0]["ename"] == "KeyError"
    assert cells[2]["execution_count"] is None and cells[2]["outputs"] == []
    told = said(api)
    assert "KeyError: 'missing'" in told and "broken" in told and "not run" in told


def test_input_asks_the_user_in_the_side_bar(desk_on: Any, lab: Lab, script: Any) -> None:
    source = (
        "import getpass\nname = input('Your name? ')\nword = getpass.getpass('Password: ')\n"
        "print('Hello', name, len(word))"
    )
    api = script(run("c1"), say("Greeted."))
    desk = desk_on(lab, files={NAME: notebook(source)}).open(NAME)
    desk.ask("Run it.")
    desk.button("Allow").click()
    question = desk.vitto.locator(".vitto-question")
    expect(question).to_contain_text("Your name?")
    desk.shot("question")
    question.get_by_role("textbox").first.fill("Bob")
    question.get_by_role("textbox").first.press("Enter")
    expect(question).to_contain_text("Password:")
    secret = question.locator("input[type=password]")
    secret.fill("open sesame")
    secret.press("Enter")
    desk.finished()
    expect(question).to_have_count(0)
    expect(output(desk, 0)).to_contain_text("Your name? Bob")
    expect(output(desk, 0)).to_contain_text("Hello Bob 11")
    cells = desk.stored(NAME, lambda cells: "Hello Bob 11" in text_of(cells[0]))
    assert "sesame" not in json.dumps(cells)
    assert "Hello Bob 11" in said(api)
    data = Path(lab.home) / "data" / "vitto"
    texts = [file.read_text(errors="replace") for file in data.rglob("*") if file.is_file()]
    assert not any("sesame" in text for text in texts)


def test_a_kernel_that_ends_or_dies_is_told_apart_and_the_next_run_works(
    desk_on: Any, lab: Lab, script: Any
) -> None:
    dies = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"
    api = script(run("c1"), run("c2"), run("c3"), say("Well."))
    desk = desk_on(lab, files={NAME: notebook("exit()", dies, "40 + 2")}).open(NAME)
    restarting = desk.page.get_by_role("dialog", name="Kernel Restarting")  # JupyterLab's own
    desk.page.add_locator_handler(
        restarting, lambda: restarting.get_by_role("button", name="Ok").click()
    )
    desk.ask("Try these.")
    for _ in range(3):
        desk.button("Allow").click()
        expect(desk.card).to_have_count(0, timeout=40_000)
        if desk.vitto.locator(".vitto-turn-end").count():
            break
        expect(desk.card.or_(desk.vitto.locator(".vitto-turn-end"))).to_have_count(
            1, timeout=60_000
        )
    desk.finished()
    ended, died, worked = (last_user_text(request) for request in api.calls()[1:])
    assert "ended its own kernel" in ended
    assert "died" in died
    assert "42" in worked
    expect(output(desk, 2)).to_contain_text("42")
    for index in range(3):
        expect(desk.cells.nth(index).locator(".jp-InputPrompt")).not_to_contain_text("*")


def test_a_long_cell_hands_back_a_handle_and_its_end_arrives_later(
    desk_on: Any, lab: Lab, script: Any
) -> None:
    source = (
        "import os, time\nprint('begun', flush=True)\n"
        "while not os.path.exists('go'):\n    time.sleep(0.05)\nprint('went on')"
    )
    api = script(run("c1", wait_s=1), say("It goes on."), say("I see that it has ended."))
    desk = desk_on(lab, files={NAME: notebook(source)}).open(NAME)
    desk.ask("Run it.")
    desk.button("Allow").click()
    desk.finished()
    assert "run_" in last_user_text(api.calls()[1])
    runs = desk.vitto.locator(".vitto-runs")
    expect(runs).to_contain_text("running")
    desk.shot("detached-run")
    desk.page.goto("about:blank")
    (lab.root / desk.folder / "go").write_text("")
    cells = desk.stored(NAME, lambda cells: "went on" in text_of(cells[0]))
    assert text_of(cells[0]) == "begun\nwent on\n"
    assert cells[0]["execution_count"] == 1
    desk.open(NAME)
    expect(output(desk, 0)).to_contain_text("went on")
    desk.ask("And now?")
    desk.finished()
    assert "went on" in said(api) or "ended" in said(api)
    expect(desk.page.locator(".jp-Dialog")).to_have_count(0)


def test_a_run_without_any_page_is_in_the_file_and_shows_when_it_is_opened(
    desk_on: Any, lab: Lab, script: Any
) -> None:
    script(run("c1", "c2"), say("Ran."))
    desk = desk_on(lab, files={NAME: notebook("print('one')", PLOT)})
    _, session = lab.request("POST", "vitto/api/sessions", {})
    session_id = session["session_id"]
    body = {"prompt": "Run it.", "context": {"path": f"{desk.folder}/{NAME}"}}
    lab.request("POST", f"vitto/api/sessions/{session_id}/turns", body)
    approve(lab, session_id)
    cells = desk.stored(NAME, lambda cells: cells[1]["execution_count"] == 2)
    assert text_of(cells[0]) == "one\n"
    desk.open(NAME)
    expect(output(desk, 0)).to_contain_text("one")
    expect(output(desk, 1).locator("img")).to_have_count(1)
    for index in range(2):
        expect(desk.cells.nth(index).locator(".jp-InputPrompt")).to_contain_text(f"[{index + 1}]")


def approve(lab: Lab, session_id: str) -> None:
    """Wait for the question on the trail, and allow."""
    import urllib.request

    request = urllib.request.Request(
        f"{lab.url}vitto/api/sessions/{session_id}/events",
        headers={"Authorization": f"token {lab.token}"},
    )
    with urllib.request.urlopen(request, timeout=60) as stream:
        for line in stream:
            event = json.loads(line[6:]) if line.startswith(b"data: ") else {}
            if event.get("type") == "approval.requested":
                break
    approval = f"vitto/api/sessions/{session_id}/approvals/{event['approval_id']}"
    status, _ = lab.request("PUT", approval, {"decision": "approve"})
    assert status in (200, 204)
