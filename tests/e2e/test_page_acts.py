"""What a page does and answers when the server asks: the test takes the server's part."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import pytest
from lab import Lab, notebook
from playwright.sync_api import Route, expect

NAME = "analysis.ipynb"
MODEL = "jupyterapp.shell.currentWidget.content.model"
SCRIPT = "<b>shown</b><script>document.body.dataset.ran = 'yes'</script>"


def html_output(html: str) -> dict[str, Any]:
    return {"output_type": "display_data", "data": {"text/html": html}, "metadata": {}}


def revision(cell_type: str, source: str) -> str:
    return hashlib.sha256(f"{cell_type}\n{source}".encode()).hexdigest()[:16]


class AsServer:
    """Calls of a page's documents; the real server never sees them."""

    def __init__(self, desk: Any) -> None:
        self.desk = desk
        self.page = desk.page
        self.path = f"{desk.folder}/{NAME}"
        self.calls: list[dict[str, Any]] = []
        self.answers: dict[str, Any] = {}
        self.page.route(re.compile(r"/hosts/[^/]+/calls(\?|$)"), self._calls)
        self.page.route(re.compile(r"/hosts/[^/]+/calls/"), self._answer)

    def _calls(self, route: Route) -> None:
        route.fulfill(json={"calls": self.calls})

    def _answer(self, route: Route) -> None:
        call_id = route.request.url.rsplit("/", 1)[1].split("?")[0]
        self.answers[call_id] = route.request.post_data_json
        route.fulfill(status=204)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        call_id = f"call_{len(self.calls)}"
        self.calls.append(
            {"call_id": call_id, "method": method, "params": {"path": self.path, **params}}
        )
        with self.page.expect_response(re.compile(f"/calls/{call_id}")):
            self.page.evaluate("() => { document.dispatchEvent(new Event('visibilitychange')); }")
        return self.answers[call_id]

    def value(self, method: str, **params: Any) -> dict[str, Any]:
        answer = self.ask(method, **params)
        assert answer["error_code"] is None, answer
        return answer["value"]

    def edit(self, *edits: dict[str, Any]) -> dict[str, Any]:
        return self.ask("edit_notebook", edits=list(edits))

    def cell(self, cell_id: str) -> dict[str, Any]:
        cells = self.value("read_notebook")["cells"]
        return next(cell for cell in cells if cell["cell_id"] == cell_id)

    def ids(self) -> list[str]:
        return self.page.evaluate(f"() => Array.from({MODEL}.cells, cell => cell.id)")


@pytest.fixture
def server(desk_on: Any, lab: Lab) -> AsServer:
    desk = desk_on(lab, files={NAME: notebook("1", "2", "3", "4")}).open(NAME)
    # JupyterLab writes what the kernel says of its language into the notebook: a change to save
    desk.page.wait_for_function(
        f"() => {MODEL}.getMetadata('language_info')?.version !== undefined"
    )
    return AsServer(desk)


def begin(cell_id: str, base: str | None = None, *, trusted: bool = False) -> dict[str, Any]:
    return {"op": "begin_run", "cell_id": cell_id, "base": base, "trusted": trusted}


def end(cell_id: str, count: int | None = 1) -> dict[str, Any]:
    return {"op": "end_run", "cell_id": cell_id, "execution_count": count, "timing": {}}


def add(cell_id: str, output: dict[str, Any]) -> dict[str, Any]:
    return {"op": "add_output", "cell_id": cell_id, "output": output}


def test_cells_move_as_one_step_around_the_cell_the_user_is_in(server: AsServer) -> None:
    page = server.page
    server.desk.cells.nth(1).locator(".cm-content").click()
    expect(page.locator(".jp-Notebook.jp-mod-editMode")).to_be_visible()
    page.keyboard.press("End")
    answer = server.edit({"op": "move_cells", "cell_ids": ["c2", "c1"], "after": "end"})
    assert answer["error"] is None
    assert server.ids() == ["c3", "c4", "c2", "c1"]
    page.keyboard.type("0")
    assert server.cell("c2")["source"] == "20"
    server.desk.command("notebook:undo-cell-action")
    page.wait_for_function(f"() => {MODEL}.cells.get(0).id === 'c1'")
    assert server.ids() == ["c1", "c2", "c3", "c4"]


def test_a_run_begins_only_on_the_text_it_is_meant_for(server: AsServer) -> None:
    refused = server.edit(begin("c1", revision("code", "other")))
    assert refused["error_code"] == "edit_conflict"
    assert server.edit(begin("gone", revision("code", "1")))["error_code"] == "edit_conflict"
    assert server.edit(begin("gone"))["error_code"] is None
    assert server.edit(begin("c1", revision("code", "1")))["error_code"] is None
    prompt = server.desk.cells.first.locator(".jp-InputPrompt")
    expect(prompt).to_have_text("[*]:")
    server.edit(end("c1", None))
    expect(prompt).to_have_text("[ ]:")


def test_outputs_of_an_untrusted_run_are_shown_on_request_and_trust_is_not_saved(
    server: AsServer,
) -> None:
    page = server.page
    server.edit(begin("c1"), add("c1", html_output(SCRIPT)), end("c1"))
    expect(server.desk.cells.first.locator(".jp-OutputArea-output")).to_contain_text("shown")
    assert page.evaluate("() => document.body.dataset.ran") is None
    page.evaluate("async () => { await jupyterapp.shell.currentWidget.context.save(); }")
    page.evaluate(
        "args => jupyterapp.commands.execute('vitto:show-outputs', args)",
        {"path": server.path, "cellIds": ["c1"]},
    )
    page.wait_for_function("() => document.body.dataset.ran === 'yes'")
    assert page.evaluate(f"() => {MODEL}.dirty") is False
    assert page.evaluate(f"() => {MODEL}.cells.get(0).trusted") is False
    written = page.evaluate(f"() => {MODEL}.toJSON().cells[0].metadata")
    assert "trusted" not in written
    assert "trusted" not in server.desk.saved(NAME)["cells"][0]["metadata"]


def test_outputs_of_a_run_that_the_user_approved_are_trusted(server: AsServer) -> None:
    server.edit(begin("c1", trusted=True), add("c1", html_output(SCRIPT)), end("c1"))
    server.page.wait_for_function("() => document.body.dataset.ran === 'yes'")
    server.page.evaluate("async () => { await jupyterapp.shell.currentWidget.context.save(); }")
    assert "trusted" not in server.desk.saved(NAME)["cells"][0]["metadata"]


def test_the_page_knows_whether_outputs_are_of_this_source_and_this_kernel(
    server: AsServer,
) -> None:
    known = ("edited_since_run", "kernel_gone")
    assert [server.cell("c1")[name] for name in known] == [None, None]
    server.desk.cells.first.locator(".cm-content").click()
    server.page.keyboard.press("Control+Enter")
    expect(server.desk.cells.first.locator(".jp-InputPrompt")).to_have_text("[1]:")
    assert [server.cell("c1")[name] for name in known] == [False, False]
    server.desk.cells.first.locator(".cm-content").click()
    server.page.keyboard.type("0")
    assert [server.cell("c1")[name] for name in known] == [True, False]
    kernel_id = server.page.evaluate(
        "() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.id"
    )
    lab = server.desk.lab
    assert lab.request("POST", f"api/kernels/{kernel_id}/restart")[0] == 200
    assert server.cell("c1")["kernel_gone"] is True


def test_a_long_output_is_cut_and_read_in_parts(server: AsServer) -> None:
    text = "".join(f"line {number}\n" for number in range(40_000))
    stream = {"output_type": "stream", "name": "stdout", "text": text}
    server.edit(begin("c1"), add("c1", stream), end("c1"))
    answer = server.value("read_notebook")
    assert len(json.dumps(answer)) < 100_000
    assert answer["cells"][0]["outputs"][0]["cut"] == {"text": len(text)}
    part = server.value(
        "output_part", cell_id="c1", index=0, field="text", start=200_000, count=1_000
    )
    assert part == {"text": text[200_000:201_000], "start": 200_000, "total_chars": len(text)}
    gone = server.ask("output_part", cell_id="c1", index=3, field="text", start=0, count=1)
    assert gone["error_code"] == "not_found"


def test_an_edit_answers_the_revisions_that_will_be_saved(server: AsServer) -> None:
    edit = {"op": "replace_source", "cell_id": "c1", "base": revision("code", "1"), "source": "x"}
    drop = {"op": "delete_cell", "cell_id": "c4", "base": revision("code", "4")}
    answer = server.edit(edit, drop)
    assert answer["value"]["cells"] == {"c1": revision("code", "x"), "c4": None}


def test_the_server_may_ask_to_look_at_the_file(server: AsServer) -> None:
    assert server.value("look_on_disk")["outcome"] == "same"
    file = server.desk.lab.root / server.path
    file.write_text(file.read_text().replace('"3"', '"33"'))
    # the page may have looked by itself just before
    assert server.value("look_on_disk")["outcome"] in ("refreshed", "merged", "same")
    assert server.cell("c3")["source"] == "33"
    assert server.ask("look_on_disk", path="not/open.ipynb")["error_code"] == "not_found"
