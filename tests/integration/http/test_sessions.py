"""Sessions, turns and approvals over real HTTP."""

from __future__ import annotations

import asyncio

import pytest

from vitto_jupyter.providers.scripted import call, hold, say

WRITE = {"path": "made.txt", "content": "hello\n", "create_if_missing": True}


async def test_a_session_is_created_listed_renamed_and_deleted(server) -> None:
    session_id = await server.new_session(title="Sales", notebook_path="a.ipynb")
    (listed,) = (await server.api.get("sessions")).json()
    assert (listed["session_id"], listed["title"]) == (session_id, "Sales")
    assert (await server.api.get(f"sessions/{session_id}")).json() == listed
    renamed = await server.api.patch(f"sessions/{session_id}", json={"title": "Costs"})
    assert renamed.json()["title"] == "Costs"
    assert (await server.api.delete(f"sessions/{session_id}")).status_code == 204
    assert (await server.api.get("sessions")).json() == []
    gone = await server.api.get(f"sessions/{session_id}")
    assert (gone.status_code, gone.json()["code"]) == (404, "session_not_found")


async def test_a_turn_answers_at_once_and_a_second_one_is_refused(server) -> None:
    server.script(hold(asyncio.Event()))
    session_id = await server.new_session()
    await server.start_turn(session_id)
    refused = await server.api.post(f"sessions/{session_id}/turns", json={"prompt": "Again."})
    assert (refused.status_code, refused.json()["code"]) == (409, "turn_running")
    assert refused.json()["hint"]


async def test_a_repeated_start_is_one_turn(server) -> None:
    server.script(say("Hi."))
    session_id = await server.new_session()
    body = {"turn_id": "trn_mine"}
    started = [server.start_turn(session_id, **body) for _ in range(3)]
    assert set(await asyncio.gather(*started)) == {"trn_mine"}
    events = await server.events(session_id)
    assert [e["type"] for e in events].count("turn.started") == 1


async def test_stop_ends_the_turn(server) -> None:
    server.script([say("part"), hold(asyncio.Event())], say("next"))
    session_id = await server.new_session()
    await server.start_turn(session_id)
    await server.wait_for(session_id, "text.delta")
    stopped = await server.api.post(f"sessions/{session_id}/cancel")
    assert stopped.json() == {"cancelled": True, "still_running": []}
    assert (await server.api.get(f"sessions/{session_id}")).json()["state"] == "idle"
    await server.play(session_id)
    reasons = [e["reason"] for e in await server.events(session_id) if "reason" in e]
    assert reasons == ["cancelled", "done"]


async def test_an_approved_write_is_on_disk(server) -> None:
    server.script(call("write_file", WRITE), say("Done."))
    session_id = await server.new_session()
    await server.start_turn(session_id)
    asked = await server.wait_for(session_id, "approval.requested")
    assert not (server.root / "made.txt").exists()
    url = f"sessions/{session_id}/approvals/{asked['approval_id']}"
    answer = {"decision": "approve", "digest": asked["digest"]}
    assert (await server.api.put(url, json=answer)).status_code == 200
    assert (await server.wait_for(session_id, "turn.finished"))["reason"] == "done"
    assert (server.root / "made.txt").read_text() == "hello\n"
    assert (await server.api.put(url, json=answer)).status_code == 200
    other = await server.api.put(url, json={"decision": "reject"})
    assert (other.status_code, other.json()["code"]) == (409, "already_answered")


async def test_edited_content_is_what_is_written(server) -> None:
    server.script(call("write_file", WRITE), say("Done."))
    session_id = await server.new_session()
    await server.start_turn(session_id)
    asked = await server.wait_for(session_id, "approval.requested")
    url = f"sessions/{session_id}/approvals/{asked['approval_id']}"
    await server.api.put(url, json={"decision": "approve", "edited_content": "edited\n"})
    await server.wait_for(session_id, "turn.finished")
    assert (server.root / "made.txt").read_text() == "edited\n"


@pytest.mark.parametrize(
    ("answer", "status", "code"),
    [
        ({"decision": "approve", "digest": "0" * 64}, 409, "digest_mismatch"),
        ({"decision": "approve", "command": "touch x"}, 400, "invalid_body"),
        ({"decision": "maybe"}, 400, "invalid_body"),
        ({"decision": "reject", "edited_content": "x"}, 400, "bad_request"),
    ],
)
async def test_an_answer_that_does_not_fit_changes_nothing(
    server, answer, status: int, code: str
) -> None:
    server.script(call("write_file", WRITE), say("Done."))
    session_id = await server.new_session()
    await server.start_turn(session_id)
    asked = await server.wait_for(session_id, "approval.requested")
    url = f"sessions/{session_id}/approvals/{asked['approval_id']}"
    refused = await server.api.put(url, json=answer)
    assert (refused.status_code, refused.json()["code"]) == (status, code)
    assert (await server.api.get(f"sessions/{session_id}")).json()["state"] == "waiting"
    assert not (server.root / "made.txt").exists()


async def test_an_approval_is_not_found_under_another_session(server) -> None:
    server.script(call("write_file", WRITE), say("Done."))
    session_id = await server.new_session()
    other = await server.new_session()
    await server.start_turn(session_id)
    asked = await server.wait_for(session_id, "approval.requested")
    for wrong in (f"{other}/approvals/{asked['approval_id']}", f"{session_id}/approvals/apr_1"):
        refused = await server.api.put(f"sessions/{wrong}", json={"decision": "approve"})
        assert refused.status_code == 404


async def test_only_what_was_asked_runs_for_two_concurrent_answers(server) -> None:
    server.script(call("write_file", WRITE), say("Done."))
    session_id = await server.new_session()
    await server.start_turn(session_id)
    asked = await server.wait_for(session_id, "approval.requested")
    url = f"sessions/{session_id}/approvals/{asked['approval_id']}"
    answers = await asyncio.gather(
        server.api.put(url, json={"decision": "approve"}),
        server.api.put(url, json={"decision": "reject"}),
    )
    assert sorted(answer.status_code for answer in answers) == [200, 409]


async def test_an_unknown_provider_is_refused_with_the_known_ones(server) -> None:
    session_id = await server.new_session()
    body = {"prompt": "Hi.", "provider": "nobody"}
    refused = await server.api.post(f"sessions/{session_id}/turns", json=body)
    assert (refused.status_code, refused.json()["code"]) == (400, "unknown_provider")
    assert "anthropic" in refused.json()["hint"]


async def test_providers_tell_what_is_there_and_why_not(server) -> None:
    reply = (await server.api.get("providers")).json()
    known = {provider["name"]: provider for provider in reply["providers"]}
    assert set(known) == {"anthropic", "demo"}
    assert known["demo"]["available"] is True
    assert known["anthropic"]["available"] is False
    assert known["anthropic"]["reason"]
    assert known["anthropic"]["hint"]


async def test_providers_of_a_session_are_its_own_choice(server) -> None:
    server.script(say("Hi."))
    session_id = await server.new_session()
    await server.play(session_id, model="special", effort="high")
    reply = (await server.api.get(f"providers?session_id={session_id}")).json()
    assert (reply["provider"], reply["model"], reply["effort"]) == ("scripted", "special", "high")


async def test_without_credentials_the_demo_answers(start_server) -> None:
    server = await start_server(args=("--VittoApp.provider=auto",))
    assert (await server.api.get("providers")).json()["provider"] == "demo"
    session_id = await server.new_session()
    await server.start_turn(session_id, "Hello")
    started = await server.wait_for(session_id, "turn.started")
    assert started["provider"] == "demo"
