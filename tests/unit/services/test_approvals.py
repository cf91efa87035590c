"""Approvals: bound to what was shown, answered once, never by accident."""

from __future__ import annotations

import asyncio
import errno
from dataclasses import replace

import pytest

from vitto_jupyter.errors import BadRequest, Conflict, NotFound, StorageFailed
from vitto_jupyter.policy.facts import Facts
from vitto_jupyter.protocol.approval import Change, Decision, DiffPreview
from vitto_jupyter.protocol.requests import StartTurn
from vitto_jupyter.providers.scripted import ScriptedProvider, call, say
from vitto_jupyter.services import session_files
from vitto_jupyter.testing.tools import echo, simple_tool
from vitto_jupyter.tools.base import Proposal, done
from vitto_jupyter.tools.toolset import Toolset

from .conftest import new_session, watching

APPROVE = Decision(decision="approve")
REJECT = Decision(decision="reject", comment="Do not.")


def diff(changes: int) -> DiffPreview:
    change = Change(label="", cell_id=None, before="a", after="b")
    return DiffPreview(path="a.txt", language="", changes=(change,) * changes)


@pytest.fixture
def ran() -> list[str | None]:
    return []


@pytest.fixture
async def asked(home, ran):
    """A turn that waits for an approval: (manager, session_id, the approval.requested event)."""

    async def act(ctx, text, edited):
        ran.append(edited or text)
        return await echo(ctx, text, edited)

    home.toolset = Toolset(
        (
            simple_tool("act", "execute", act=act),
            simple_tool("edit", "write", act=act, preview=diff(1)),
            simple_tool("edit_two", "write", act=act, preview=diff(2)),
        )
    )

    async def ask(tool: str = "act"):
        manager = home.manager(ScriptedProvider(call(tool, {"text": "x"}), say("done")))
        session_id = await new_session(manager)
        await manager.start_turn(session_id, StartTurn(prompt="Go."))
        async with watching(manager, session_id) as wait_for:
            return manager, session_id, await wait_for("approval.requested")

    return ask


async def finish(manager, session_id: str) -> None:
    async with watching(manager, session_id) as wait_for:
        await wait_for("turn.finished")


async def test_nothing_runs_before_the_answer_and_the_session_says_it_waits(asked, ran) -> None:
    manager, session_id, _ = await asked()
    assert (await manager.get(session_id)).state == "waiting"
    assert ran == []


async def test_approved_runs_once_and_the_record_comes_first(asked, ran, home) -> None:
    manager, session_id, event = await asked()
    await manager.decide(session_id, event.approval_id, APPROVE)
    await finish(manager, session_id)
    assert ran == ["x"]
    kinds = [e.type for e in home.trail(session_id)]
    assert kinds.index("approval.resolved") < kinds.index("tool.started")


async def test_rejected_does_not_run_and_the_model_hears_why(asked, ran, home) -> None:
    manager, session_id, event = await asked()
    await manager.decide(session_id, event.approval_id, REJECT)
    await finish(manager, session_id)
    assert ran == []
    (block, _) = home.transcript(session_id).turns[0].blocks
    assert block.state == "denied"
    assert "Do not." in block.result.error


async def test_the_same_answer_again_is_fine_and_runs_nothing_twice(asked, ran) -> None:
    manager, session_id, event = await asked()
    await asyncio.gather(
        *(manager.decide(session_id, event.approval_id, APPROVE) for _ in range(3))
    )
    await finish(manager, session_id)
    await manager.decide(session_id, event.approval_id, APPROVE)
    assert ran == ["x"]


async def test_another_answer_afterwards_is_refused(asked, ran) -> None:
    manager, session_id, event = await asked()
    first, second = await asyncio.gather(
        manager.decide(session_id, event.approval_id, REJECT),
        manager.decide(session_id, event.approval_id, APPROVE),
        return_exceptions=True,
    )
    assert first is None
    assert isinstance(second, Conflict)
    await finish(manager, session_id)
    with pytest.raises(Conflict, match="already rejected"):
        await manager.decide(session_id, event.approval_id, APPROVE)
    assert ran == []


async def test_another_digest_is_refused_and_the_question_stays(asked, ran) -> None:
    manager, session_id, event = await asked()
    with pytest.raises(Conflict) as refused:
        other = Decision(decision="approve", digest="0" * 64)
        await manager.decide(session_id, event.approval_id, other)
    assert refused.value.code == "digest_mismatch"
    assert ran == []
    shown = Decision(decision="approve", digest=event.digest)
    await manager.decide(session_id, event.approval_id, shown)
    await finish(manager, session_id)
    assert ran == ["x"]


async def test_an_unknown_approval_is_not_found(asked) -> None:
    manager, session_id, _ = await asked()
    with pytest.raises(NotFound):
        await manager.decide(session_id, "apr_unknown", APPROVE)


async def test_an_approval_of_another_session_is_not_found(asked, ran) -> None:
    manager, _, event = await asked()
    other = await new_session(manager)
    with pytest.raises(NotFound):
        await manager.decide(other, event.approval_id, APPROVE)
    assert ran == []


async def test_edited_content_replaces_the_text_of_a_single_change(asked, ran) -> None:
    manager, session_id, event = await asked("edit")
    edited = Decision(decision="approve", edited_content="c")
    await manager.decide(session_id, event.approval_id, edited)
    await finish(manager, session_id)
    assert ran == ["c"]


@pytest.mark.parametrize("tool", ["act", "edit_two"])
async def test_edited_content_is_refused_for_anything_else(asked, ran, tool: str) -> None:
    manager, session_id, event = await asked(tool)
    with pytest.raises(BadRequest):
        edited = Decision(decision="approve", edited_content="c")
        await manager.decide(session_id, event.approval_id, edited)
    assert ran == []


async def test_an_answer_that_cannot_be_recorded_leaves_the_question_open(
    asked, ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    manager, session_id, event = await asked()

    def refuse(descriptor: int, content) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(session_files.os, "write", refuse)
        async with asyncio.timeout(5):
            answers = await asyncio.gather(
                *(manager.decide(session_id, event.approval_id, APPROVE) for _ in range(3)),
                return_exceptions=True,
            )
    assert [type(answer) for answer in answers] == [StorageFailed] * 3
    assert (await manager.get(session_id)).state == "waiting"
    assert ran == []
    await manager.decide(session_id, event.approval_id, APPROVE)
    await finish(manager, session_id)
    assert ran == ["x"]


async def test_answers_while_the_turn_is_stopped_run_nothing_and_do_not_hang(asked, ran) -> None:
    manager, session_id, event = await asked()
    async with asyncio.timeout(5):
        await asyncio.gather(
            manager.cancel(session_id),
            *(manager.decide(session_id, event.approval_id, APPROVE) for _ in range(3)),
            return_exceptions=True,
        )
    assert ran == []
    assert (await manager.get(session_id)).state == "idle"


async def test_of_calls_side_by_side_one_asks_at_a_time(home, ran) -> None:
    """Reads run side by side, and reading a secret asks."""

    async def propose(ctx, args):
        async def apply(grant):
            ran.append(args.text)
            return done("read")

        return Proposal(Facts("read", (f"{args.text}.env",)), apply)

    home.toolset = Toolset((replace(simple_tool("peek"), propose=propose),))
    calls = [call("peek", {"text": str(number)}) for number in range(60)]
    manager = home.manager(ScriptedProvider(calls, say("done")))
    session_id = await new_session(manager)
    await manager.start_turn(session_id, StartTurn(prompt="Go."))
    async with watching(manager, session_id) as wait_for:
        for count in range(60):
            event = await wait_for("approval.requested")
            kinds = [e.type for e in home.trail(session_id)]
            assert kinds.count("approval.requested") == kinds.count("approval.resolved") + 1
            assert len(ran) <= count
            await manager.decide(session_id, event.approval_id, APPROVE)
        await wait_for("turn.finished")
    assert sorted(ran, key=int) == [str(number) for number in range(60)]


async def test_a_stopped_turn_voids_its_question(asked, ran) -> None:
    manager, session_id, event = await asked()
    await manager.cancel(session_id)
    with pytest.raises(Conflict) as void:
        await manager.decide(session_id, event.approval_id, APPROVE)
    assert void.value.code == "approval_void"
    assert ran == []
