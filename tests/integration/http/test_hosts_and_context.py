"""Pages that hold documents, and the context that they are part of."""

from __future__ import annotations

import asyncio
import json

import pytest

NOTEBOOK = {
    "cells": [
        {
            "cell_type": "code",
            "id": "c1",
            "metadata": {},
            "source": "1",
            "outputs": [],
            "execution_count": None,
        }
    ],
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}
HELD = {"path": "n.ipynb", "type": "notebook", "dirty": True, "active": True}


@pytest.fixture
def notebook(server):
    (server.root / "n.ipynb").write_text(json.dumps(NOTEBOOK))


async def test_context_tells_the_notebook_on_disk(server, notebook) -> None:
    context = (await server.api.get("context?path=n.ipynb")).json()
    assert context["root"] == str(server.root)
    assert context["notebook"] == {
        "path": "n.ipynb",
        "cells": 1,
        "cells_with_errors": 0,
        "kernel_name": "python3",
        "kernel_state": "not started",
    }


async def test_context_without_a_path_is_about_the_workspace(server) -> None:
    context = (await server.api.get("context")).json()
    assert (context["path"], context["notebook"], context["problems"]) == (None, None, 0)


async def test_a_held_notebook_is_read_in_its_page(server, notebook) -> None:
    woken = asyncio.Event()

    async def hear(logger, schema_id, data) -> None:
        if data["host_id"] == "page_1":
            woken.set()

    schema = "https://vitto-jupyter.invalid/wake/v1"
    server.app.event_logger.add_listener(schema_id=schema, listener=hear)
    registered = await server.api.put("hosts/page_1", json={"documents": [HELD]})
    assert registered.status_code == 204
    asking = asyncio.create_task(server.api.get("context?path=n.ipynb"))
    await asyncio.wait_for(woken.wait(), 10)
    (asked,) = (await server.api.get("hosts/page_1/calls")).json()["calls"]
    assert (asked["method"], asked["params"]) == ("read_notebook", {"path": "n.ipynb"})
    cell = {"cell_id": "c1", "cell_type": "code", "execution_count": None, "outputs": []}
    value = {
        "cells": [{**cell, "source": "typed"}, {**cell, "cell_id": "c2", "source": "more"}],
        "kernel_name": "python3",
        "language": "python",
        "dirty": True,
    }
    url = f"hosts/page_1/calls/{asked['call_id']}"
    assert (await server.api.put(url, json={"value": value})).status_code == 204
    assert (await asking).json()["notebook"]["cells"] == 2
    assert (await server.api.put(url, json={"value": value})).status_code == 204
    other = await server.api.put(f"hosts/page_2/calls/{asked['call_id']}", json={"value": value})
    assert other.status_code == 404


async def test_a_page_that_closes_holds_nothing_any_more(server, notebook) -> None:
    await server.api.put("hosts/page_1", json={"documents": [HELD]})
    closing = {"documents": [], "closing": True}
    assert (await server.api.put("hosts/page_1", json=closing)).status_code == 204
    assert (await server.api.get("hosts/page_1/calls")).status_code == 404
    context = await asyncio.wait_for(server.api.get("context?path=n.ipynb"), 10)
    assert context.json()["notebook"]["cells"] == 1


async def test_problems_of_open_documents_are_part_of_the_context(server) -> None:
    problem = {"path": "a.py", "line": 1, "severity": "error", "message": "undefined name"}
    body = {"documents": [], "diagnostics": [problem]}
    await server.api.put("hosts/page_1", json=body)
    context = (await server.api.get("context")).json()
    assert context["problems"] == 1
    assert context["diagnostics"][0]["message"] == "undefined name"
