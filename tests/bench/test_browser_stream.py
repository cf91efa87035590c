"""What a user waits for in the browser: first and last token, smoothness, Stop; turns 1 to 10.

The scripted server waits 300 ms to the first token and sends 2,000 tokens at 200 a second; the
floor is the same page standing idle. Gaps between frames are what a user sees, and count what
other programs take; the CPU time of the page's tasks is ours alone.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab import CHROMIUM_ARGS, Lab, chromium_path, notebook
from main_thread import MainThread
from messages_api import MessagesApi
from playwright.sync_api import Page, sync_playwright

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

TTFT_MS = 300
TURNS = 10
SECTION = (
    "## Part {n}\n\nThe mean of group {n} is **{n}.5**, see `df.groupby('g')`.\n\n"
    "```python\nfor i in range({n}):\n    print(i, df.iloc[i])\n```\n\n"
    "| a | b |\n|---|---|\n| {n} | 2 |\n\n- first point of {n}\n- second point of {n}\n\n"
)

# looks once a frame, at the turn that runs only: it must not cost what it measures
WATCH = """end => {
  const w = window.vittoWatch = { gaps: [], first: 0, end: 0, changed: 0, stop: false };
  const before = document.querySelectorAll('.vitto-turn').length;
  let last = performance.now(), isNew = false;
  const now = () => performance.timeOrigin + performance.now();
  const look = () => {
    isNew = false;
    const turn = [...document.querySelectorAll('.vitto-turn')].slice(before).pop();
    const text = turn?.querySelector('.vitto-answer')?.textContent ?? '';
    if (!w.first && text) w.first = now();
    if (!w.end && text.includes(end)) w.end = now();
  };
  const frame = time => {
    if (!w.end) w.gaps.push(time - last);
    last = time;
    if (isNew) look();
    if (!w.stop) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  w.observer = new MutationObserver(() => { isNew = true; w.changed = now(); });
  w.observer.observe(document.querySelector('.vitto-transcript'),
    { childList: true, subtree: true, characterData: true });
}"""
UNWATCH = """() => {
  const w = window.vittoWatch;
  w.stop = true;
  w.observer.disconnect();
  const gaps = w.gaps.slice(2);
  return {
    entered: w.entered, first: w.first, end: w.end,
    longest: Math.max(...gaps), over50: gaps.filter(g => g > 50).length,
  };
}"""
ENTER = """box => {
  window.vittoWatch.entered = performance.timeOrigin + performance.now();
  box.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}));
}"""
STOP = """async () => {
  const app = document.querySelector('.vitto-app');
  const w = window.vittoWatch;
  const since = at => Math.max(0, performance.timeOrigin + performance.now() - at);
  const at = performance.timeOrigin + performance.now();
  app.querySelector('.vitto-stop').click();
  while (!/Stopping/.test(app.querySelector('.vitto-status')?.textContent ?? 'Stopping'))
    await new Promise(requestAnimationFrame);
  const said = since(at);
  while (app.querySelector('.vitto-stop')) await new Promise(requestAnimationFrame);
  const ended = since(at);
  await new Promise(resolve => setTimeout(resolve, 300));
  return { at, said, ended, text: Math.max(0, w.changed - at) };
}"""


@pytest.fixture
def api() -> Iterator[MessagesApi]:
    with MessagesApi({"turns": []}) as server:
        yield server


@pytest.fixture
def page(tmp_path: Path, api: MessagesApi) -> Iterator[Page]:
    env = {"ANTHROPIC_BASE_URL": api.base_url, "ANTHROPIC_API_KEY": "test-key"}
    with Lab(tmp_path, env=env) as lab, sync_playwright() as playwright:
        (lab.root / "a.ipynb").write_text(json.dumps(notebook("1 + 1")))
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_ARGS)
        page = browser.new_page(viewport={"width": 1360, "height": 860})
        page.goto(lab.lab_url("a.ipynb", "vitto=open"))
        page.wait_for_selector(".vitto-app textarea")
        yield page
        browser.close()


def answer(turn: int) -> str:
    """About 2,000 tokens of what models write: headings, words, code, a table, a list."""
    sections = "".join(SECTION.format(n=n + turn * 100) for n in range(28))
    return f"Here it is.\n\n{sections}\n\n{last_word(turn)}"


def last_word(turn: int) -> str:
    return f"end{turn}"


def load(api: MessagesApi, *texts: str, **defaults: float) -> None:
    turns = [{"blocks": [{"type": "text", "text": text}]} for text in texts]
    api.fake.reset({"turns": turns, "defaults": defaults})


def watch_and_send(page: Page, prompt: str, end: str) -> None:
    box = page.locator(".vitto-app textarea").first
    box.fill(prompt)
    page.evaluate(WATCH, end)
    box.evaluate(ENTER)


def one_turn(page: Page, api: MessagesApi, turn: int, tokens_per_s: float) -> dict[str, float]:
    load(api, answer(turn), ttft_ms=TTFT_MS, tokens_per_s=tokens_per_s)
    thread = MainThread(page)
    thread.start()
    watch_and_send(page, f"question {turn}", last_word(turn))
    page.wait_for_function("() => window.vittoWatch.end > 0", timeout=120_000, polling=100)
    tasks = thread.stop()
    seen = page.evaluate(UNWATCH)
    page.wait_for_selector(".vitto-stop", state="detached")
    record = api.calls()[-1]
    first_sent, last_sent = record["t_first"], record["t_first"] + record["stream_s"]
    return {
        "enter_to_first": seen["first"] - seen["entered"] - TTFT_MS,
        "enter_to_model": record["t"] * 1000 - seen["entered"],
        "sent_to_first": seen["first"] - first_sent * 1000,
        "last_to_visible": seen["end"] - last_sent * 1000,
        "longest_gap": seen["longest"],
        "gaps_over_50": seen["over50"],
        "longest_task": max(tasks),
        "busy": sum(tasks) / (seen["end"] - seen["entered"]) * 100,
    }


def idle_gap(page: Page) -> float:
    page.evaluate(WATCH, "nothing says this")
    page.wait_for_function("() => window.vittoWatch.gaps.length > 300", polling=500)
    return float(page.evaluate(UNWATCH)["longest"])


def test_streaming_in_the_browser(
    page: Page, api: MessagesApi, capsys: pytest.CaptureFixture[str]
) -> None:
    floors = [idle_gap(page)]
    paced = [one_turn(page, api, turn, 200) for turn in range(1, TURNS + 1)]
    floors.append(idle_gap(page))
    full = [one_turn(page, api, 100 + turn, 0) for turn in range(3)]
    with capsys.disabled():
        print(
            f"\nlongest gap of the idle page before and after: {[round(gap) for gap in floors]} ms"
        )
        print("turn " + " ".join(f"{name:>15}" for name in paced[0]))
        for number, row in enumerate(paced, 1):
            print(f"{number:4} " + " ".join(f"{value:15.1f}" for value in row.values()))
        visible = statistics.median(row["last_to_visible"] for row in full)
        longest = max(row["longest_task"] for row in full)
        print(f"full speed: last to visible {visible:.0f} ms, longest task {longest:.0f} ms CPU")
        print("times in ms, tasks in ms of CPU, busy in %")
        print(
            "aims: enter to first <= 75 (first turn 250), last to visible <= 100 (full speed 500)"
        )
        print("longest gap <= 50, at most 4 over 50; the tenth turn like the first")
    assert all(row["enter_to_first"] > 0 for row in paced)
    assert api.rejected() == []


def test_stop_in_the_browser(
    page: Page, api: MessagesApi, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("says so", "text ends", "turn ended", "model stream ends", "next prompt")
    times: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(1, 6):
        load(api, answer(turn), f"It goes on, {turn}", tokens_per_s=100)
        watch_and_send(page, "Go on", last_word(turn))
        page.wait_for_function("() => window.vittoWatch.first > 0")
        page.wait_for_timeout(1000)  # well within the stream
        stopped = page.evaluate(STOP)
        page.evaluate(UNWATCH)
        record = api.calls()[-1]
        watch_and_send(page, "Next", f"on, {turn}")
        page.wait_for_function("() => window.vittoWatch.end > 0", polling=50)
        seen = page.evaluate(UNWATCH)
        times["says so"].append(stopped["said"])
        times["text ends"].append(stopped["text"])
        times["turn ended"].append(stopped["ended"])
        times["model stream ends"].append(record["t_closed"] * 1000 - stopped["at"])
        times["next prompt"].append(seen["end"] - seen["entered"])
        page.wait_for_selector(".vitto-stop", state="detached")
    with capsys.disabled():
        print("\nStop, median ms of 5 (aims: text <= 50, model stream <= 20, next prompt <= 300):")
        for name, found in times.items():
            print(f"  {name}: {statistics.median(found):.0f}  {[round(value) for value in found]}")
    assert api.rejected() == []
