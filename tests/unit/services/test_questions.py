"""Questions: asked by calls and cells, answered once, and the answer is recorded nowhere."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging

import pytest

from vitto_jupyter.errors import BadRequest, Conflict, NotFound, StorageFailed
from vitto_jupyter.protocol.requests import StartTurn
from vitto_jupyter.providers.scripted import ScriptedProvider, call, say
from vitto_jupyter.services import open_sessions
from vitto_jupyter.services.questions import LABEL_CHARS, PROMPT_CHARS, plain
from vitto_jupyter.testing.tools import simple_tool
from vitto_jupyter.tools.base import done
from vitto_jupyter.tools.toolset import Toolset
from vitto_jupyter.workspace.base import Question

from .conftest import new_session, play, watching

NAME = Question("Your name? ")
KERNELS = Question("Which kernel?", choices=(("python3", "Python 3"), ("bash", "Bash")))


class Cell:
    """What a cell does that a call has started: it asks, in a task that outlives the turn."""

    def __init__(self) -> None:
        self.question = NAME
        self.detached = False
        self.answers: list[str | None] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def act(self, ctx, text, edited):
        async def ask() -> None:
            self.answers.append(await ctx.ask(self.question))

        if self.detached:
            self.tasks.append(asyncio.create_task(ask()))
            return done("It goes on.")
        await ask()
        return done(f"answered: {self.answers[-1]}")


@pytest.fixture
async def cell():
    cell = Cell()
    yield cell
    for task in cell.tasks:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@pytest.fixture
async def asked(home, cell):
    """Starts a turn whose call asks: (manager, session_id, the question.asked event)."""
    home.toolset = Toolset((simple_tool("act", act=cell.act),))

    async def ask(question: Question = NAME, *, detached: bool = False, **settings):
        cell.question, cell.detached = question, detached
        provider = ScriptedProvider(call("act", {"text": "x"}), say("done"), say("again"))
        manager = home.manager(provider, **settings)
        session_id = await new_session(manager)
        if detached:
            await play(manager, session_id)
        else:
            await manager.start_turn(session_id, StartTurn(prompt="Go."))
        async with watching(manager, session_id) as wait_for:
            return manager, session_id, await wait_for("question.asked")

    return ask


async def closed(manager, session_id: str):
    async with watching(manager, session_id) as wait_for:
        return await wait_for("question.closed")


async def finish(manager, session_id: str) -> None:
    async with watching(manager, session_id) as wait_for:
        await wait_for("turn.finished")


async def test_the_answer_reaches_who_asked_and_the_session_waited_meanwhile(asked, cell) -> None:
    manager, session_id, event = await asked()
    assert (event.prompt, event.secret, event.tool_call_id != "") == ("Your name? ", False, True)
    assert (await manager.get(session_id)).state == "waiting"
    await manager.answer(session_id, event.question_id, "Bob")
    await finish(manager, session_id)
    assert cell.answers == ["Bob"]
    assert (await manager.get(session_id)).state == "idle"


async def test_no_answer_is_an_answer_too(asked, cell) -> None:
    manager, session_id, event = await asked()
    await manager.answer(session_id, event.question_id, None)
    assert (await closed(manager, session_id)).outcome == "dismissed"
    await finish(manager, session_id)
    assert cell.answers == [None]


async def test_what_was_typed_is_in_no_event_and_no_log(asked, home, cell, caplog) -> None:
    caplog.set_level(logging.DEBUG)
    manager, session_id, event = await asked(Question("Password: ", secret=True), detached=True)
    assert event.secret
    await manager.answer(session_id, event.question_id, "hunter2!")
    await closed(manager, session_id)
    await asyncio.gather(*cell.tasks)
    assert cell.answers == ["hunter2!"]
    files = [path.read_bytes() for path in home.data_dir.rglob("*") if path.is_file()]
    assert files and not any(b"hunter2!" in content for content in files)
    assert "hunter2!" not in caplog.text


async def test_the_same_answer_again_is_fine_and_another_one_is_refused(asked, cell) -> None:
    manager, session_id, event = await asked()
    await asyncio.gather(*(manager.answer(session_id, event.question_id, "Bob") for _ in range(3)))
    await finish(manager, session_id)
    await manager.answer(session_id, event.question_id, "Bob")
    for other in ("Eve", None, ""):
        with pytest.raises(Conflict) as refused:
            await manager.answer(session_id, event.question_id, other)
        assert refused.value.code == "already_answered"
    assert cell.answers == ["Bob"]


async def test_an_unknown_question_is_not_found(asked) -> None:
    manager, session_id, _ = await asked()
    with pytest.raises(NotFound):
        await manager.answer(session_id, "qst_none", "Bob")


async def test_only_one_of_the_choices_is_taken(asked, cell) -> None:
    manager, session_id, event = await asked(KERNELS)
    assert [(c.value, c.label) for c in event.choices] == list(KERNELS.choices)
    with pytest.raises(BadRequest):
        await manager.answer(session_id, event.question_id, "julia")
    await manager.answer(session_id, event.question_id, "bash")
    await finish(manager, session_id)
    assert cell.answers == ["bash"]


async def test_a_stop_makes_the_question_of_a_call_void(asked, home, cell) -> None:
    manager, session_id, event = await asked()
    await manager.cancel(session_id)
    assert (await closed(manager, session_id)).outcome == "void"
    with pytest.raises(Conflict, match="void"):
        await manager.answer(session_id, event.question_id, "Bob")
    assert cell.answers == []
    assert home.transcript(session_id).questions == ()


async def test_the_question_of_a_cell_outlives_its_turn_and_wakes_idle_pages(
    asked, home, cell
) -> None:
    manager, session_id, event = await asked(detached=True)
    assert home.woken.count(session_id) >= 1
    assert event.turn_id == home.transcript(session_id).turns[0].turn_id
    assert (await manager.get(session_id)).state == "waiting"
    await play(manager, session_id)  # another turn, while it waits
    woken = len(home.woken)
    await manager.answer(session_id, event.question_id, "Bob")
    await asyncio.gather(*cell.tasks)
    assert cell.answers == ["Bob"]
    assert len(home.woken) > woken


async def test_a_session_with_a_waiting_question_stays_open(asked, cell, monkeypatch) -> None:
    monkeypatch.setattr(open_sessions, "CLOSE_IDLE_AFTER_S", 0.0)
    manager, session_id, event = await asked(detached=True)
    for _ in range(20):
        await asyncio.sleep(0)
    await manager.answer(session_id, event.question_id, "Bob")
    await asyncio.gather(*cell.tasks)
    assert cell.answers == ["Bob"]


async def test_a_question_is_void_after_a_crash(asked, home) -> None:
    _, session_id, event = await asked(detached=True)
    folder = home.folder(session_id)
    copy = home.data_dir / "sessions" / "ses_copy0000000000000000"
    copy.mkdir()
    for name in ("trail.jsonl", "session.json"):
        text = (folder / name).read_text().replace(session_id, copy.name)
        (copy / name).write_text(text)
    manager = home.manager()
    assert (await closed(manager, copy.name)).outcome == "void"
    with pytest.raises(Conflict):
        await manager.answer(copy.name, event.question_id, "Bob")
    assert home.transcript(copy.name).questions == ()


async def test_a_shutdown_leaves_no_question_open(asked, home, cell) -> None:
    manager, session_id, _ = await asked(detached=True)
    await manager.close()
    await asyncio.gather(*cell.tasks)
    assert cell.answers == [None]
    assert home.trail(session_id)[-1].outcome == "void"


async def test_a_deleted_session_answers_nobody(asked, cell) -> None:
    manager, session_id, _ = await asked(detached=True)
    await manager.delete(session_id)
    await asyncio.gather(*cell.tasks)
    assert cell.answers == [None]


async def test_an_answer_that_cannot_be_recorded_can_be_given_again(
    asked, cell, monkeypatch
) -> None:
    manager, session_id, event = await asked(detached=True)

    def full(*args: object, **kwargs: object) -> None:
        raise StorageFailed("No space.") from OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patched:
        patched.setattr("vitto_jupyter.services.trails.append_bytes", full)
        with pytest.raises(StorageFailed):
            await manager.answer(session_id, event.question_id, "Bob")
    assert (await manager.get(session_id)).state == "waiting"
    await manager.answer(session_id, event.question_id, "Bob")
    await asyncio.gather(*cell.tasks)
    assert cell.answers == ["Bob"]


async def test_time_does_not_run_while_a_call_asks(asked, cell) -> None:
    manager, session_id, event = await asked(read_timeout_s=0.2)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await finish(manager, session_id)
    await manager.answer(session_id, event.question_id, "Bob")
    await finish(manager, session_id)
    assert cell.answers == ["Bob"]


@pytest.mark.parametrize(
    ("prompt", "shown"),
    [
        ("\x1b[31mName\x1b[0m? ", "Name? "),
        ("\x1b]0;title\x07Name? ", "Name? "),
        ("\rName\x00\x07? ", "Name? "),
        ("a\u202egnp.exe", "agnp.exe"),
        ("two\nlines\n", "two\nlines"),
        ("half \ud83d emoji", "half ? emoji"),
    ],
)
async def test_a_prompt_is_shown_as_plain_text(prompt: str, shown: str) -> None:
    assert plain(prompt, PROMPT_CHARS) == shown


async def test_a_long_prompt_keeps_its_end(asked) -> None:
    _, _, event = await asked(
        Question("x" * 100_000 + "name? ", choices=(("a", "y" * 10_000), ("b", "\x07")))
    )
    assert event.prompt.endswith("name? ") and len(event.prompt) < PROMPT_CHARS + 100
    first, second = event.choices
    assert len(first.label) < LABEL_CHARS + 100
    assert second.label == "b"
