"""Runs that outlive their call: told on the trail, kept alive, named after a stop."""

from __future__ import annotations

import asyncio

import pytest

from vitto_jupyter.protocol.requests import StartTurn
from vitto_jupyter.providers.scripted import ScriptedProvider, call, say
from vitto_jupyter.services import open_sessions
from vitto_jupyter.services.detached_runs import still_running
from vitto_jupyter.testing.tools import simple_tool
from vitto_jupyter.tools.base import done
from vitto_jupyter.tools.toolset import Toolset
from vitto_jupyter.workspace.base import Execution, Question
from vitto_jupyter.workspace.memory import memory_workspace
from vitto_jupyter.workspace.runs.run_reports import OpenRun
from vitto_jupyter.workspace.runs.runs import RunRequest

from .conftest import new_session, play, watching

NOW = "2026-11-30T10:02:05.000Z"


async def run_cell(ctx, text, edited):
    """Runs the cell of a notebook; "wait" waits for its end, and lets go of it when stopped."""
    runs = ctx.workspace.runs
    path = "asks.ipynb" if text == "ask" else "a.ipynb"
    notebook = await ctx.workspace.documents.read_notebook(path)
    run = await runs.start(
        RunRequest(
            path,
            notebook.cells,
            "python3",
            session_id=ctx.session_id,
            tool_call_id=ctx.tool_call_id,
            ask=ctx.ask,
        )
    )
    try:
        await runs.wait(run, 0 if text == "go" else 60)
    except asyncio.CancelledError:
        runs.stop_after_current(run)
        raise
    finally:
        runs.hand_back(run)
    return done("It goes on.")


@pytest.fixture
def go_on() -> asyncio.Event:
    return asyncio.Event()


@pytest.fixture
def began() -> asyncio.Event:
    return asyncio.Event()


@pytest.fixture(autouse=True)
def workspace(home, began, go_on) -> None:
    async def slow() -> Execution:
        began.set()
        await go_on.wait()
        return Execution("ok", None, (), 0.01)

    home.workspace = memory_workspace(
        notebooks={"a.ipynb": ["slow()"], "asks.ipynb": ["ask()"]},
        answers={"slow()": slow, "ask()": Question("name? ")},
    )
    home.toolset = Toolset((simple_tool("run", act=run_cell),))


async def start(home, text: str = "go", *, provider: ScriptedProvider | None = None):
    script = (call("run", {"text": text}), say("ok"), say("more"), say("and more"))
    manager = home.manager(provider or ScriptedProvider(*script))
    return manager, await new_session(manager)


async def test_the_trail_tells_that_a_run_goes_on_and_how_it_ended(home, go_on) -> None:
    manager, session_id = await start(home)
    await play(manager, session_id)
    async with watching(manager, session_id) as wait_for:
        detached = await wait_for("run.detached")
        assert (detached.path, detached.labels) == ("a.ipynb", ("1",))
        assert manager.running() == [session_id]
        woken = len(home.woken)
        go_on.set()
        finished = await wait_for("run.finished")
    assert (finished.run_id, finished.state) == (detached.run_id, "ok")
    assert len(home.woken) > woken
    assert manager.running() == []
    (run,) = home.transcript(session_id).runs
    assert (run.state, run.tool_call_id) == ("ok", detached.tool_call_id)


async def test_a_session_stays_open_until_its_run_has_ended(home, go_on, monkeypatch) -> None:
    monkeypatch.setattr(open_sessions, "CLOSE_IDLE_AFTER_S", 0.0)
    manager, session_id = await start(home)
    await play(manager, session_id)
    for _ in range(20):
        await asyncio.sleep(0)
    go_on.set()
    async with watching(manager, session_id) as wait_for:
        await wait_for("run.finished")
    assert [event.type for event in home.trail(session_id)].count("run.detached") == 1


async def test_after_a_stop_the_cell_that_runs_is_named_with_its_notebook(
    home, began, go_on
) -> None:
    manager, session_id = await start(home, "wait")
    await manager.start_turn(session_id, StartTurn(prompt="Go."))
    async with watching(manager, session_id) as wait_for:
        await began.wait()
        reply = await manager.cancel(session_id)
        (name,) = reply.still_running
        assert name.startswith("cell 1 of a.ipynb, for ")
        await wait_for("run.detached")
        go_on.set()
        await wait_for("run.finished")
    assert (await manager.cancel(session_id)).still_running == ()


async def test_the_question_of_a_cell_waits_after_the_stop_of_its_turn(home) -> None:
    manager, session_id = await start(home, "ask")
    await manager.start_turn(session_id, StartTurn(prompt="Go."))
    async with watching(manager, session_id) as wait_for:
        question = await wait_for("question.asked")
        reply = await manager.cancel(session_id)
        assert "which asks for input" in reply.still_running[0]
        assert (await manager.get(session_id)).state == "waiting"
        await manager.answer(session_id, question.question_id, "Bob")
        assert (await wait_for("run.finished")).state == "ok"


async def test_the_model_hears_once_how_a_run_ended_that_it_had_left(home, go_on) -> None:
    provider = ScriptedProvider(call("run", {"text": "go"}), say("ok"), say("more"), say("end"))
    manager, session_id = await start(home, provider=provider)
    await play(manager, session_id)
    go_on.set()
    async with watching(manager, session_id) as wait_for:
        run = await wait_for("run.finished")
    await play(manager, session_id)
    await play(manager, session_id)
    told = [str(request.messages[-1].content) for request in provider.requests]
    assert [run.run_id in text and "has ended" in text for text in told[2:]] == [True, False]


async def test_after_a_restart_an_open_run_is_lost(home) -> None:
    manager, session_id = await start(home)
    await play(manager, session_id)
    async with watching(manager, session_id) as wait_for:
        await wait_for("run.detached")
    await manager.close()
    again = home.manager()
    async with watching(again, session_id) as wait_for:
        lost = await wait_for("run.finished")
    assert lost.state == "lost"
    (run,) = home.transcript(session_id).runs
    assert run.finished_at is not None


async def test_a_deleted_session_hears_nothing_more(home, go_on) -> None:
    manager, session_id = await start(home)
    await play(manager, session_id)
    await manager.delete(session_id)
    go_on.set()
    await home.workspace.runs.close()
    assert not home.folder(session_id).exists()
    assert manager.running() == []


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (
            OpenRun("r", "s", "c", "a.ipynb", "c4", "4", "2026-11-30T10:00:00Z", ()),
            "cell 4 of a.ipynb, for 2 min 5 s",
        ),
        (
            OpenRun("r", "s", "c", "a.ipynb", "", "", "2026-11-30T08:02:05Z", (), asks=True),
            "code of a.ipynb, which asks for input, for 2 h 0 min",
        ),
        (
            OpenRun("r", "s", "c", "a.ipynb", "", "", "", ("4",)),
            "cells of a.ipynb that wait for another run to end",
        ),
    ],
)
def test_what_still_runs_is_said_with_its_place_and_age(run: OpenRun, words: str) -> None:
    assert still_running([run], now_iso=NOW) == (words,)
