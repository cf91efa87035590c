"""A real JupyterLab in a real browser, with the real SDK talking to a scripted Messages API.

One server for all tests of a kind and one browser a module; each test has a folder, a browser
context and a script of its own. Screenshots go to `test-results/`, to be looked at.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lab import CHROMIUM_ARGS, Lab, chromium_path
from messages_api import MessagesApi
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

FAILED = pytest.StashKey[bool]()
SHOTS = Path(__file__).parents[2] / "test-results"
# the theme of tests that do not choose one: VITTO_THEME=dark makes all screenshots dark
THEME = os.environ.get("VITTO_THEME", "light")
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
expect.set_options(timeout=20_000)

# not ours: a page that leaves while something loads; the server's list of kernels while one
# starts (500); a widget comm of another tab; what a page asked a kernel that died
IGNORED = re.compile(
    r"net::ERR_ABORTED|favicon|AbortError|/api/kernels\?|^Comm not found|Canceled future"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Of one module: while Playwright's own event loop runs, no asyncio test could."""
    path = chromium_path()
    if path is None:
        pytest.fail("No chromium found: .ci/run installs it, or apt-get install chromium.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def api() -> Iterator[MessagesApi]:
    with MessagesApi({"turns": []}) as server:
        yield server


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory, api: MessagesApi) -> Iterator[Lab]:
    env = {"ANTHROPIC_BASE_URL": api.base_url, "ANTHROPIC_API_KEY": "test-key-never-shown"}
    with Lab(tmp_path_factory.mktemp("lab"), env=env) as server:
        yield server


@pytest.fixture(scope="session")
def demo_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A server without any key."""
    with Lab(tmp_path_factory.mktemp("demo")) as server:
        yield server


@pytest.fixture(scope="session")
def shared_lab(tmp_path_factory: pytest.TempPathFactory, api: MessagesApi) -> Iterator[Lab]:
    """A server with real-time collaboration."""
    env = {"ANTHROPIC_BASE_URL": api.base_url, "ANTHROPIC_API_KEY": "test-key-never-shown"}
    with Lab(tmp_path_factory.mktemp("shared"), env=env, collaborative=True) as server:
        yield server


class Desk:
    """One browser page on one Lab, as a user sees it."""

    def __init__(self, page: Page, lab: Lab, folder: str, workspace: str) -> None:
        self.page = page
        self.workspace = workspace
        self.lab = lab
        self.folder = folder
        self.problems: list[str] = []
        page.on("console", self._listen)
        page.on("pageerror", lambda error: self._note(error.stack or str(error)))

    def _listen(self, message: Any) -> None:
        text = f"{message.text} ({message.location.get('url', '')})"
        if message.type == "error":
            self._note(text)

    def _note(self, problem: str) -> None:
        if not IGNORED.search(problem):
            self.problems.append(problem)

    # -- going places -----------------------------------------------------------------------

    def open(self, name: str, *, theme: str = THEME, query: str = "vitto=open") -> Desk:
        path = f"{self.folder}/{name}" if name else ""
        self.page.goto(self.lab.lab_url(path, query, workspace=self.workspace))
        self.ready()
        self.page.evaluate(  # the server keeps the last one
            "theme => jupyterapp.commands.execute('apputils:change-theme', { theme })",
            THEMES[theme],
        )
        if query and name:
            expect(self.vitto.locator(".vitto-dock")).to_contain_text(name)
        return self

    def ready(self) -> None:
        self.page.wait_for_function("() => window.jupyterapp !== undefined")
        self.page.evaluate("async () => { await jupyterapp.started; await jupyterapp.restored; }")
        # A theme that changes while it fades out makes JupyterLab take it away twice: an error.
        expect(self.page.locator("#jupyterlab-splash")).to_have_count(0)

    def reload(self) -> None:
        self.page.reload()
        self.ready()

    def command(self, command_id: str, args: dict[str, Any] | None = None) -> Any:
        return self.page.evaluate(
            "([id, args]) => { void jupyterapp.commands.execute(id, args); }",
            [command_id, args or {}],
        )

    def end_kernels(self) -> None:
        """Those of its notebooks: the next tests need the memory."""
        for session in self.kernels():
            if session["path"].startswith(f"{self.folder}/"):
                self.lab.request("DELETE", f"api/sessions/{session['id']}")

    def kernels(self) -> list[dict[str, Any]]:
        """The sessions of the server; none when the test has ended it."""
        return self.lab.request("GET", "api/sessions")[1] if self.lab.process else []

    def said(self) -> str:
        """What the side bar and open dialogs show, as text."""
        shown = self.page.locator(".vitto-app, .jp-Dialog")
        return "\n--\n".join(shown.all_inner_texts())

    # -- the side bar -----------------------------------------------------------------------

    @property
    def vitto(self) -> Locator:
        return self.page.locator(".vitto-app")

    @property
    def composer(self) -> Locator:
        return self.vitto.get_by_role("textbox", name="Prompt for Vitto")

    @property
    def card(self) -> Locator:
        """The approval that waits, as pinned above the composer."""
        return self.vitto.locator(".vitto-approval")

    def button(self, name: str) -> Locator:
        return self.vitto.get_by_role("button", name=name, exact=True).first

    def ask(self, prompt: str) -> None:
        self.composer.fill(prompt)
        self.composer.press("Enter")
        expect(self.vitto.locator(".vitto-prompt").last).to_contain_text(prompt)

    def finished(self) -> None:
        """Wait until no turn runs: each prompt has its receipt."""
        prompts = self.vitto.locator(".vitto-prompt").count()
        expect(self.vitto.locator(".vitto-turn-end")).to_have_count(prompts)

    def shot(self, name: str) -> None:
        folder = SHOTS if THEME == "light" else SHOTS / THEME
        folder.mkdir(exist_ok=True, parents=True)
        self.page.screenshot(path=folder / f"{name}.png")

    # -- the notebook -----------------------------------------------------------------------

    @property
    def cells(self) -> Locator:
        return self.page.locator(".jp-Notebook .jp-Cell")

    def saved(self, name: str) -> dict[str, Any]:
        return json.loads((self.lab.root / self.folder / name).read_text())

    def stored(
        self, name: str, fits: Callable[[list[dict[str, Any]]], bool]
    ) -> list[dict[str, Any]]:
        """The cells of the file, once they fit: it may be written a moment later."""
        cells: list[dict[str, Any]] = []
        for _ in range(300):
            try:
                cells = self.saved(name)["cells"]
            except json.JSONDecodeError:  # in the middle of a write
                cells = []
            if cells and fits(cells):
                return cells
            self.page.wait_for_timeout(100)
        raise AssertionError(f"the file never became so: {json.dumps(cells)[:3000]}")

    def type_into(self, index: int, text: str) -> None:
        """At the end of a cell, as a person does; leaves the cell in edit mode."""
        self.page.keyboard.press("Escape")
        self.cells.nth(index).click()
        self.page.keyboard.press("Escape")
        self.page.keyboard.press("Enter")
        expect(self.page.locator(".jp-Notebook.jp-mod-editMode")).to_be_visible()
        self.page.keyboard.press("ControlOrMeta+End")
        self.page.keyboard.type(text)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


@pytest.fixture
def folder(request: pytest.FixtureRequest) -> str:
    return re.sub(r"\W+", "-", request.node.name).strip("-")


@pytest.fixture
def desk_on(request: pytest.FixtureRequest, browser: Browser, folder: str) -> Iterator[Any]:
    """Makes a Desk on a Lab with the given notebooks; checks the browser's console at the end."""
    opened: list[Desk] = []

    def make(
        lab: Lab, *, files: dict[str, Any] | None = None, width: int = 1360, **context: Any
    ) -> Desk:
        place = lab.root / folder
        place.mkdir(exist_ok=True)
        for name, content in (files or {}).items():
            text = content if isinstance(content, str) else json.dumps(content, indent=1)
            (place / name).write_text(text)
        page = browser.new_context(viewport={"width": width, "height": 860}, **context).new_page()
        opened.append(Desk(page, lab, folder, f"{folder}-{len(opened)}"))
        return opened[-1]

    yield make
    for number, desk in enumerate(opened):
        if request.node.stash.get(FAILED, False):
            desk.shot(f"failed-{folder}-{number}")
            print(f"-- page {number} when the test failed:", desk.said(), sep="\n")
            print("-- kernels:", desk.kernels(), sep="\n")
            print("-- end of the server's log:", desk.lab.log.read_text()[-4000:], sep="\n")
    problems = [problem for desk in opened for problem in desk.problems]
    for desk in opened:
        desk.page.context.close()
        desk.end_kernels()
        shutil.rmtree(desk.lab.root / desk.folder, ignore_errors=True)
    assert problems == []


@pytest.fixture
def script(api: MessagesApi) -> Any:
    """Replaces what the model says: `script(turn, …)`, see messages_api."""

    def load(*turns: dict[str, Any], **rest: Any) -> MessagesApi:
        for what, body in (("reset", None), ("script", {"turns": list(turns), **rest})):
            request = urllib.request.Request(
                f"{api.base_url}/__fake__/{what}",
                data=json.dumps(body or {}).encode(),
                method="POST",
                headers={"Content-Type": "application/json"},
            )
            with urllib.request.urlopen(request) as reply:
                assert reply.status == 200
        return api

    return load
