"""Questions of cells over real HTTP, while a real kernel waits in `input()`."""

from __future__ import annotations

import json

import pytest
from real_workspace import until

from vitto_jupyter.providers.scripted import call, say

ASKS = 'name = input("name? ")\nprint(f"Hello {name}")'
ASKS_SECRET = 'import getpass\np = getpass.getpass("password: ")\nprint(len(p))'
SLOW = "import time\nopen('begun', 'w').close()\nprint('begun')\ntime.sleep(3600)"


def notebook(*sources: str) -> str:
    cells = [
        {
            "cell_type": "code",
            "id": f"c{number}",
            "metadata": {},
            "execution_count": None,
            "outputs": [],
            "source": source,
        }
        for number, source in enumerate(sources, start=1)
    ]
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    content = {"cells": cells, "metadata": {"kernelspec": spec}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1)


@pytest.fixture
def run(server):
    """Starts a turn that runs all cells of a.ipynb: the session's id, when that is allowed."""

    async def start(*sources: str, **arguments: object) -> str:
        (server.root / "a.ipynb").write_text(notebook(*sources))
        server.script(call("run_cells", {"path": "a.ipynb", **arguments}), say("Done."))
        session_id = await server.new_session(notebook_path="a.ipynb")
        await server.start_turn(session_id)
        asked = await server.wait_for(session_id, "approval.requested")
        url = f"sessions/{session_id}/approvals/{asked['approval_id']}"
        await server.api.put(url, json={"decision": "approve", "digest": asked["digest"]})
        return session_id

    return start


async def answer(server, session_id: str, question: dict, text: str | None):
    url = f"sessions/{session_id}/questions/{question['question_id']}"
    return await server.api.put(url, json={"answer": text})


def outputs(server) -> str:
    content = json.loads((server.root / "a.ipynb").read_text())
    return "".join(
        "".join(output.get("text", output.get("ename", "")))
        for cell in content["cells"]
        for output in cell["outputs"]
    )


async def test_the_answer_reaches_the_cell_and_the_model_sees_what_it_printed(server, run) -> None:
    session_id = await run(ASKS)
    question = await server.wait_for(session_id, "question.asked")
    assert (question["prompt"], question["secret"]) == ("name? ", False)
    info = (await server.api.get(f"sessions/{session_id}")).json()
    assert info["state"] == "waiting"
    assert (await answer(server, session_id, question, "Bob")).status_code == 200
    finished = await server.wait_for(session_id, "tool.finished")
    assert "Hello Bob" in finished["result"]["output"]
    assert "name? Bob" in outputs(server)
    again = await answer(server, session_id, question, "Bob")
    assert again.status_code == 200
    other = await answer(server, session_id, question, "Eve")
    assert (other.status_code, other.json()["code"]) == (409, "already_answered")


async def test_a_password_is_in_no_file_and_no_event(server, run) -> None:
    session_id = await run(ASKS_SECRET)
    question = await server.wait_for(session_id, "question.asked")
    assert question["secret"]
    await answer(server, session_id, question, "correct horse")
    await server.wait_for(session_id, "turn.finished")
    assert "13" in outputs(server)
    folders = (server.root, server.data_dir)
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert files and not any(b"correct horse" in path.read_bytes() for path in files)


async def test_who_does_not_answer_interrupts_the_cell_and_the_server_goes_on(server, run) -> None:
    session_id = await run(ASKS)
    question = await server.wait_for(session_id, "question.asked")
    await answer(server, session_id, question, None)
    finished = await server.wait_for(session_id, "tool.finished")
    assert not finished["result"]["success"]
    assert "KeyboardInterrupt" in outputs(server)
    assert (await server.wait_for(session_id, "question.closed"))["outcome"] == "dismissed"


async def test_a_question_is_void_when_its_kernel_is_restarted(server, run) -> None:
    session_id = await run(ASKS)
    question = await server.wait_for(session_id, "question.asked")
    (kernel_id,) = server.app.kernel_manager.list_kernel_ids()
    await server.app.kernel_manager.restart_kernel(kernel_id)
    assert (await server.wait_for(session_id, "question.closed"))["outcome"] == "void"
    refused = await answer(server, session_id, question, "Bob")
    assert (refused.status_code, refused.json()["code"]) == (409, "question_void")
    assert (await server.wait_for(session_id, "turn.finished"))["reason"] == "done"


async def test_a_cell_asks_on_after_the_stop_of_its_turn(server, run) -> None:
    session_id = await run(ASKS)
    question = await server.wait_for(session_id, "question.asked")
    stopped = (await server.api.post(f"sessions/{session_id}/cancel")).json()
    (name,) = stopped["still_running"]
    assert name.startswith("cell 1 of a.ipynb, which asks for input")
    await server.wait_for(session_id, "turn.finished")
    assert (await answer(server, session_id, question, "Bob")).status_code == 200
    ended = await server.wait_for(session_id, "run.finished")
    assert ended["state"] == "ok"
    assert "Hello Bob" in outputs(server)


async def test_a_long_cell_goes_on_after_its_call_and_its_end_is_told(server, run) -> None:
    session_id = await run(SLOW, wait_s=0.5)
    detached = await server.wait_for(session_id, "run.detached")
    assert (detached["path"], detached["labels"]) == ("a.ipynb", ["1"])
    assert (await server.wait_for(session_id, "turn.finished"))["reason"] == "done"
    stopped = (await server.api.post(f"sessions/{session_id}/cancel")).json()
    assert stopped["still_running"][0].startswith("cell 1 of a.ipynb, for ")
    await until((server.root / "begun").exists)
    (kernel_id,) = server.app.kernel_manager.list_kernel_ids()
    await server.app.kernel_manager.interrupt_kernel(kernel_id)
    ended = await server.wait_for(session_id, "run.finished")
    assert (ended["run_id"], ended["state"]) == (detached["run_id"], "interrupted")
    assert "begun" in outputs(server)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"answer": 3}, 400),
        ({"answer": "hunter2", "more": 1}, 400),
        ({"answer": "hunter2"}, 404),
    ],
)
async def test_what_is_no_answer_is_refused(server, body: dict, status: int) -> None:
    session_id = await server.new_session()
    refused = await server.api.put(f"sessions/{session_id}/questions/qst_none", json=body)
    assert refused.status_code == status
    assert "hunter2" not in refused.text


async def test_strangers_may_not_answer(server) -> None:
    session_id = await server.new_session()
    async with server.client() as stranger:
        url = f"sessions/{session_id}/questions/qst_none"
        assert (await stranger.put(url, json={"answer": "x"})).status_code == 403
