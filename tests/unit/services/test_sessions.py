"""Sessions and turns: one at a time, always ended, always openable again."""

from __future__ import annotations

import asyncio
import errno
import json
import os

import pytest

from vitto_jupyter.errors import Conflict, NotFound, ProviderError, StorageFailed
from vitto_jupyter.protocol.approval import Decision
from vitto_jupyter.protocol.requests import StartTurn
from vitto_jupyter.providers.base import ModelRequest
from vitto_jupyter.providers.scripted import ScriptedProvider, call, fail, hold, say
from vitto_jupyter.services import session_files, sessions
from vitto_jupyter.services.sessions import title_from
from vitto_jupyter.testing.requests import check_requests
from vitto_jupyter.testing.tools import simple_tool
from vitto_jupyter.tools.base import done
from vitto_jupyter.tools.toolset import Toolset

from .conftest import new_session, play, watching


def kinds(home, session_id: str) -> list[str]:
    return [event.type for event in home.trail(session_id)]


async def until(condition) -> None:
    """For what has no event to wait for."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


# -- sessions -----------------------------------------------------------------------------------


async def test_a_new_session_is_listed_and_begins_its_trail(home) -> None:
    manager = home.manager()
    session_id = await new_session(manager, title="Sales", notebook_path="a.ipynb")
    (info,) = await manager.list()
    assert (info.session_id, info.title, info.notebook_path) == (session_id, "Sales", "a.ipynb")
    assert (info.state, info.turns) == ("idle", 0)
    assert kinds(home, session_id) == ["session.created"]


async def test_files_of_a_session_are_only_for_their_owner(home) -> None:
    manager = home.manager(ScriptedProvider(say("Hi.")))
    session_id = await new_session(manager)
    await play(manager, session_id)
    assert home.folder(session_id).stat().st_mode & 0o777 == 0o700
    for name in ("session.json", "trail.jsonl", "conversation.jsonl", "owner.lock"):
        assert (home.folder(session_id) / name).stat().st_mode & 0o777 == 0o600, name


async def test_the_list_holds_only_sessions_of_this_root_latest_first(home) -> None:
    first = home.manager()
    one = await new_session(first, title="one")
    two = await new_session(first, title="two")
    home.root = "/elsewhere"
    other = await new_session(home.manager(), title="other")
    await first.rename(one, "one again")
    assert [info.session_id for info in await first.list()] == [one, two]
    with pytest.raises(NotFound):
        await first.get(other)


async def test_a_renamed_session_keeps_its_name_after_a_restart(home) -> None:
    manager = home.manager()
    session_id = await new_session(manager, title="old")
    assert (await manager.rename(session_id, "new")).title == "new"
    await manager.close()
    assert (await home.manager().get(session_id)).title == "new"
    assert home.transcript(session_id).title == "new"


async def test_a_deleted_session_is_gone_with_its_files(home) -> None:
    manager = home.manager(ScriptedProvider(hold(asyncio.Event())))
    session_id = await new_session(manager)
    await manager.start_turn(session_id, StartTurn(prompt="Go."))
    await manager.delete(session_id)
    assert await manager.list() == ()
    assert not home.folder(session_id).exists()
    with pytest.raises(NotFound):
        await manager.start_turn(session_id, StartTurn(prompt="Go."))


@pytest.mark.parametrize("session_id", ["../up", "a/b", "", ".", "ses_unknown", "x" * 100])
async def test_an_unknown_or_path_like_id_is_not_found(home, session_id: str) -> None:
    with pytest.raises(NotFound):
        await home.manager().get(session_id)


async def test_a_lost_session_json_is_rebuilt_from_the_trail(home) -> None:
    manager = home.manager(ScriptedProvider(say("Hi.")))
    session_id = await new_session(manager, title="Sales", notebook_path="a.ipynb")
    await play(manager, session_id)
    await manager.close()
    (home.folder(session_id) / "session.json").write_text('{"session_id": "')
    (info,) = await home.manager().list()
    assert (info.title, info.notebook_path, info.turns) == ("Sales", "a.ipynb", 1)


# -- turns --------------------------------------------------------------------------------------


async def test_a_turn_is_recorded_from_start_to_end(home) -> None:
    manager = home.manager(ScriptedProvider(say("Hello ", "you.")))
    session_id = await new_session(manager, title="t")
    turn_id = await play(manager, session_id, "Hi.")
    (turn,) = home.transcript(session_id).turns
    assert (turn.turn_id, turn.prompt, turn.state) == (turn_id, "Hi.", "done")
    assert (turn.provider, turn.model) == ("scripted", "scripted")
    assert [block.text for block in turn.blocks] == ["Hello you."]


async def test_the_first_prompt_names_a_session_without_title(home) -> None:
    manager = home.manager(ScriptedProvider(say("a"), say("b")))
    session_id = await new_session(manager)
    await play(manager, session_id, "Plot the sales\nby month")
    await play(manager, session_id, "Now by year")
    assert (await manager.get(session_id)).title == "Plot the sales by month"
    assert home.transcript(session_id).title == "Plot the sales by month"


def test_a_long_prompt_is_cut_at_a_word() -> None:
    title = title_from("word " * 30)
    assert len(title) <= 61
    assert title.endswith("word…")


async def test_a_second_turn_is_refused_while_one_runs(home) -> None:
    gate = asyncio.Event()
    manager = home.manager(ScriptedProvider([hold(gate), say("a")], say("b")))
    session_id = await new_session(manager)
    await manager.start_turn(session_id, StartTurn(prompt="one"))
    with pytest.raises(Conflict) as refused:
        await manager.start_turn(session_id, StartTurn(prompt="two"))
    assert refused.value.code == "turn_running"
    assert refused.value.hint
    gate.set()
    async with watching(manager, session_id) as wait_for:
        await wait_for("turn.finished")
    await play(manager, session_id, "two")


async def test_the_same_start_twice_at_once_is_one_turn(home) -> None:
    manager = home.manager(ScriptedProvider(say("a")))
    session_id = await new_session(manager)
    body = StartTurn(prompt="one", turn_id="trn_mine")
    started = await asyncio.gather(*(manager.start_turn(session_id, body) for _ in range(3)))
    assert started == ["trn_mine"] * 3
    async with watching(manager, session_id) as wait_for:
        await wait_for("turn.finished")
    assert await manager.start_turn(session_id, body) == "trn_mine"
    assert kinds(home, session_id).count("turn.started") == 1


async def test_a_repeated_start_is_known_after_a_restart(home) -> None:
    manager = home.manager(ScriptedProvider(say("a")))
    session_id = await new_session(manager)
    await play(manager, session_id, turn_id="trn_mine")
    await manager.close()
    again = home.manager(ScriptedProvider())
    body = StartTurn(prompt="Go.", turn_id="trn_mine")
    assert await again.start_turn(session_id, body) == "trn_mine"
    assert kinds(home, session_id).count("turn.started") == 1


async def test_a_turn_may_be_started_as_soon_as_the_last_one_is_seen_to_end(home) -> None:
    manager = home.manager(ScriptedProvider(*[say(str(n)) for n in range(20)]))
    session_id = await new_session(manager)
    for _ in range(20):
        await play(manager, session_id)
    assert kinds(home, session_id).count("turn.finished") == 20


async def test_a_fault_in_the_loop_ends_the_turn_with_an_error_for_people(home, caplog) -> None:
    def broken(request: ModelRequest):
        raise RuntimeError("secret detail")

    manager = home.manager(ScriptedProvider(broken, say("fine")))
    session_id = await new_session(manager)
    await play(manager, session_id)
    (turn,) = home.transcript(session_id).turns
    assert (turn.state, turn.error.code) == ("error", "internal")
    assert "secret" not in turn.error.model_dump_json()
    assert "secret detail" in caplog.text
    await play(manager, session_id)
    assert home.transcript(session_id).turns[-1].state == "done"


async def test_a_provider_that_cannot_be_asked_is_a_failed_turn_with_its_prompt(home) -> None:
    class Unreachable(ScriptedProvider):
        async def models(self):
            raise ProviderError("No network.", code="unreachable", hint="Check the cable.")

    manager = home.manager(Unreachable())
    session_id = await new_session(manager)
    await play(manager, session_id, "Keep me.")
    (turn,) = home.transcript(session_id).turns
    assert (turn.prompt, turn.state) == ("Keep me.", "error")
    assert (turn.error.code, turn.error.hint) == ("unreachable", "Check the cable.")


async def test_a_session_keeps_the_model_that_was_chosen(home) -> None:
    provider = ScriptedProvider(say("a"), say("b"), say("c"))
    manager = home.manager(provider, model="configured")
    session_id = await new_session(manager)
    await play(manager, session_id)
    await play(manager, session_id, model="chosen", effort="low")
    await play(manager, session_id)
    assert [request.model for request in provider.requests] == ["configured", "chosen", "chosen"]
    assert [request.effort for request in provider.requests] == [None, "low", "low"]


async def test_turns_of_one_session_only_add_to_the_conversation(home) -> None:
    provider = ScriptedProvider(call("look", {"text": "x"}), say("a"), say("b"), say("c"))
    manager = home.manager(provider)
    session_id = await new_session(manager)
    await play(manager, session_id)
    await play(manager, session_id)
    await manager.close()
    await play(home.manager(provider), session_id)
    assert len(provider.requests) == 4
    check_requests(provider.requests)


# -- stopping -----------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", ["model", "approval", "tool"])
async def test_stop_ends_the_turn_in_every_phase(home, phase: str) -> None:
    async def never(ctx, text, edited):
        await asyncio.Event().wait()

    home.toolset = Toolset((simple_tool("act", "execute"), simple_tool("wait", act=never)))
    first = {
        "model": [say("part"), hold(asyncio.Event())],
        "approval": call("act", {"text": "x"}),
        "tool": call("wait", {"text": "x"}),
    }[phase]
    seen_when = {"model": "text.delta", "approval": "approval.requested", "tool": "tool.started"}
    provider = ScriptedProvider(first, say("next"))
    manager = home.manager(provider)
    session_id = await new_session(manager)
    await manager.start_turn(session_id, StartTurn(prompt="Go."))
    async with watching(manager, session_id) as wait_for:
        await wait_for(seen_when[phase])
    reply = await manager.cancel(session_id)
    assert (reply.cancelled, reply.still_running) == (True, ())
    assert (await manager.get(session_id)).state == "idle"
    assert home.transcript(session_id).turns[0].state == "cancelled"
    await play(manager, session_id)
    assert kinds(home, session_id).count("turn.finished") == 2
    check_requests(provider.requests)


async def test_stop_without_a_turn_says_so(home) -> None:
    manager = home.manager()
    session_id = await new_session(manager)
    assert (await manager.cancel(session_id)).cancelled is False


async def test_two_stops_at_once_end_one_turn(home) -> None:
    manager = home.manager(ScriptedProvider(hold(asyncio.Event())))
    session_id = await new_session(manager)
    await manager.start_turn(session_id, StartTurn(prompt="Go."))
    await asyncio.gather(manager.cancel(session_id), manager.cancel(session_id))
    assert kinds(home, session_id).count("turn.finished") == 1


async def test_stop_says_that_the_kernel_goes_on(home) -> None:
    kernel = await home.workspace.kernels.for_notebook("a.ipynb", kernel_name="python3")
    home.workspace.kernels._set_state(kernel.kernel_id, "busy")
    manager = home.manager(ScriptedProvider(hold(asyncio.Event())))
    session_id = await new_session(manager, notebook_path="a.ipynb")
    await manager.start_turn(session_id, StartTurn(prompt="Go."))
    assert (await manager.cancel(session_id)).still_running == ("kernel of a.ipynb",)


async def test_a_tool_that_will_not_stop_is_left_behind(home, monkeypatch) -> None:
    monkeypatch.setattr(sessions, "STOP_GRACE_S", 0.05)
    released = asyncio.Event()

    async def stubborn(ctx, text, edited):
        while not released.is_set():
            try:
                await released.wait()
            except asyncio.CancelledError:
                continue
        return done("late")

    home.toolset = Toolset((simple_tool("wait", act=stubborn),))
    provider = ScriptedProvider(call("wait", {"text": "x"}), say("next"))
    manager = home.manager(provider)
    session_id = await new_session(manager)
    await manager.start_turn(session_id, StartTurn(prompt="Go."))
    async with watching(manager, session_id) as wait_for:
        await wait_for("tool.started")
    reply = await manager.cancel(session_id)
    assert reply.cancelled
    assert len(reply.still_running) == 1
    await play(manager, session_id, "Next.")
    length = len(home.trail(session_id))
    released.set()
    await asyncio.sleep(0.05)  # nothing is to come of it, so there is nothing to wait for
    assert len(home.trail(session_id)) == length
    check_requests(provider.requests)


# -- crashes, restarts, disks -------------------------------------------------------------------


async def crash(home, manager) -> None:
    """As after a kill: the files stay as they are, the locks go, nothing is written any more."""
    for session in manager._open.all():
        session._lock.release()
        session.hub._trail.append = lambda batch: None
        session._conversation_file and session._conversation_file.close()
    home.managers.remove(manager)


async def test_a_turn_cut_by_a_crash_is_marked_and_its_question_void(home) -> None:
    provider = ScriptedProvider([say("I do it."), call("act", {"text": "x"})])
    manager = home.manager(provider)
    session_id = await new_session(manager)
    await manager.start_turn(session_id, StartTurn(prompt="Go."))
    async with watching(manager, session_id) as wait_for:
        asked = await wait_for("approval.requested")
    await crash(home, manager)

    after = ScriptedProvider(say("Again."))
    again = home.manager(after)
    with pytest.raises(Conflict) as void:
        await again.decide(session_id, asked.approval_id, Decision(decision="approve"))
    assert void.value.code == "approval_void"
    (turn,) = home.transcript(session_id).turns
    assert (turn.state, turn.error.code) == ("error", "interrupted")
    assert turn.blocks[0].text == "I do it."
    assert (turn.blocks[1].approval.decision, turn.blocks[1].approval.by) == ("reject", "system")
    await play(again, session_id)
    check_requests(after.requests)
    (results,) = [
        [b for b in m.content if b["type"] == "tool_result"]
        for m in after.requests[0].messages
        if any(b["type"] == "tool_result" for b in m.content)
    ]
    assert "may or may not have run" in json.dumps(results)


async def test_results_survive_a_clean_restart_unchanged(home) -> None:
    provider = ScriptedProvider(
        *[call("look", {"text": f"result {n}"}) for n in range(50)], say("done"), say("next")
    )
    manager = home.manager(provider)
    session_id = await new_session(manager)
    await play(manager, session_id)
    before = provider.requests[-1].messages
    await manager.close()
    await play(home.manager(provider), session_id)
    assert provider.requests[-1].messages[: len(before)] == before


async def test_a_damaged_conversation_still_takes_the_next_prompt(home) -> None:
    provider = ScriptedProvider(call("look", {"text": "x"}), say("a"), *[say("b")] * 200)
    manager = home.manager(provider)
    session_id = await new_session(manager)
    await play(manager, session_id)
    await manager.close()
    path = home.folder(session_id) / "conversation.jsonl"
    content = path.read_bytes()
    for cut in range(len(content) - 1, len(content) - 900, -37):
        path.write_bytes(content[:cut])
        provider.requests.clear()
        manager = home.manager(provider)
        await play(manager, session_id)
        check_requests(provider.requests)
        await manager.close()


async def test_another_server_may_not_work_on_an_open_session(home) -> None:
    manager = home.manager(ScriptedProvider(hold(asyncio.Event())))
    session_id = await new_session(manager)
    await manager.start_turn(session_id, StartTurn(prompt="Go."))
    other = home.manager(ScriptedProvider(say("a")))
    with pytest.raises(Conflict) as refused:
        await other.start_turn(session_id, StartTurn(prompt="Me too."))
    assert refused.value.code == "session_in_use"
    assert [info.session_id for info in await other.list()] == [session_id]
    await manager.close()
    await play(other, session_id)
    seqs = [event.seq for event in home.trail(session_id)]
    assert seqs == list(range(1, len(seqs) + 1))


async def test_a_session_is_given_back_when_nobody_uses_it(home, monkeypatch) -> None:
    monkeypatch.setattr("vitto_jupyter.services.open_sessions.CLOSE_IDLE_AFTER_S", 0.01)
    manager = home.manager(ScriptedProvider(say("a")))
    session_id = await new_session(manager)
    await play(manager, session_id)
    await until(lambda: manager._open.find(session_id) is None)
    await play(home.manager(ScriptedProvider(say("b"))), session_id)


async def test_shutdown_marks_the_running_turn_and_ends_the_stream(home) -> None:
    manager = home.manager(ScriptedProvider(hold(asyncio.Event())))
    session_id = await new_session(manager)
    await manager.start_turn(session_id, StartTurn(prompt="Go."))
    async with manager.events(session_id, after=0) as subscription:
        await asyncio.wait_for(manager.close(), 10)
        batch = await subscription.next(timeout_s=5)
        assert batch[-1].type == "turn.finished"
        assert subscription.closed
    (turn,) = home.transcript(session_id).turns
    assert (turn.state, turn.error.code) == ("cancelled", "shutdown")
    with pytest.raises(Conflict):
        await manager.start_turn(session_id, StartTurn(prompt="Late."))


async def test_a_full_disk_stops_the_turn_and_the_session_works_again(home, monkeypatch) -> None:
    monkeypatch.setattr(sessions, "SAVE_AGAIN_AFTER_S", 0.01)
    gate = asyncio.Event()
    provider = ScriptedProvider([say("a"), hold(gate), say("b")], say("c"))
    manager = home.manager(provider)
    session_id = await new_session(manager)
    await manager.start_turn(session_id, StartTurn(prompt="Go."))
    async with watching(manager, session_id) as wait_for:
        await wait_for("text.delta")
        full = True
        real_write = os.write

        def write(descriptor: int, content) -> int:
            if full:
                raise OSError(errno.ENOSPC, "No space left on device")
            return real_write(descriptor, content)

        monkeypatch.setattr(session_files.os, "write", write)
        gate.set()
        await until(lambda: manager._open.find(session_id).state == "idle")
        with pytest.raises(StorageFailed):
            await manager.start_turn(session_id, StartTurn(prompt="Still full."))
        full = False
        finished = await wait_for("turn.finished")
    assert (finished.reason, finished.error.code) == ("error", "storage_failed")
    await play(manager, session_id, "Again.")
    assert home.transcript(session_id).turns[-1].state == "done"


async def test_a_provider_fault_keeps_the_session_usable(home) -> None:
    fault = ProviderError("Wrong key.", code="authentication", hint="Set a key.")
    provider = ScriptedProvider(fail(fault), say("now"))
    manager = home.manager(provider)
    session_id = await new_session(manager)
    await play(manager, session_id)
    assert home.transcript(session_id).turns[0].error.code == "authentication"
    await play(manager, session_id)
    assert home.transcript(session_id).turns[1].state == "done"


# -- at the same time ---------------------------------------------------------------------------


class SlowToChoose(ScriptedProvider):
    """Says which models it has once `known` is set."""

    def __init__(self, *script: object) -> None:
        super().__init__(*script)
        self.known = asyncio.Event()
        self.asked = asyncio.Event()

    async def models(self):
        self.asked.set()
        await self.known.wait()
        return await super().models()


async def test_stop_while_the_model_is_being_chosen(home) -> None:
    provider = SlowToChoose(say("Hi."))
    manager = home.manager(provider)
    session_id = await new_session(manager, title="t")
    starting = asyncio.create_task(manager.start_turn(session_id, StartTurn(prompt="Go.")))
    await provider.asked.wait()
    async with asyncio.timeout(2):
        assert (await manager.cancel(session_id)).cancelled
        await starting
    (turn,) = home.transcript(session_id).turns
    assert (turn.prompt, turn.state) == ("Go.", "cancelled")
    assert (await manager.get(session_id)).state == "idle"
    provider.known.set()
    await play(manager, session_id)
    assert home.transcript(session_id).turns[1].state == "done"


async def test_a_shutdown_while_the_model_is_being_chosen_starts_nothing(home) -> None:
    provider = SlowToChoose(say("Hi."))
    manager = home.manager(provider)
    session_id = await new_session(manager, title="t")
    starting = asyncio.create_task(manager.start_turn(session_id, StartTurn(prompt="Go.")))
    await provider.asked.wait()
    async with asyncio.timeout(5):
        await manager.close()
        with pytest.raises(Conflict):
            await starting
    assert "turn.started" not in kinds(home, session_id)


async def test_deleting_does_not_wait_for_a_model_to_be_chosen(home) -> None:
    provider = SlowToChoose(say("Hi."))
    manager = home.manager(provider)
    session_id = await new_session(manager, title="t")
    starting = asyncio.create_task(manager.start_turn(session_id, StartTurn(prompt="Go.")))
    await provider.asked.wait()
    async with asyncio.timeout(5):
        await manager.delete(session_id)
        await asyncio.wait({starting})
    assert not home.folder(session_id).exists()


async def test_of_two_deletions_one_finds_nothing_and_a_start_meanwhile_neither(home) -> None:
    manager = home.manager(ScriptedProvider(hold(asyncio.Event())))
    session_id = await new_session(manager, title="t")
    await manager.start_turn(session_id, StartTurn(prompt="Go."))
    first, second, start = await asyncio.gather(
        manager.delete(session_id),
        manager.delete(session_id),
        manager.start_turn(session_id, StartTurn(prompt="Again.")),
        return_exceptions=True,
    )
    assert first is None
    assert isinstance(second, NotFound) and isinstance(start, NotFound)
    assert await manager.list() == ()


async def test_everything_at_once_leaves_a_session_that_works(home) -> None:
    """Starts, stops and renames in any order: turns do not overlap, and all have an end."""
    manager = home.manager(ScriptedProvider(*[say("Hi.")] * 200))
    session_id = await new_session(manager, title="t")
    async with asyncio.timeout(60):
        for _ in range(10):
            await asyncio.gather(
                *(manager.start_turn(session_id, StartTurn(prompt="Go.")) for _ in range(3)),
                *(manager.cancel(session_id) for _ in range(2)),
                manager.rename(session_id, "t"),
                return_exceptions=True,
            )
        await manager.cancel(session_id)
    running: str | None = None
    for event in home.trail(session_id):
        if event.type == "turn.started":
            assert running is None
            running = event.turn_id
        elif event.type == "turn.finished":
            assert running == event.turn_id
            running = None
    assert running is None
    await play(manager, session_id)


async def test_a_data_folder_that_cannot_be_made_is_a_storage_fault(home) -> None:
    home.data_dir.parent.joinpath("vitto").write_text("a file is in the way")
    with pytest.raises(StorageFailed):
        await new_session(home.manager())
