"""Approvals: bound to the bytes that were shown, used once, and by nobody but the user."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import Any

import pytest
from cases import Cases, Row
from http_server import Server
from judged_calls import JudgedCalls

from vitto_jupyter.providers.scripted import call, say

from .conftest import workspace_of

pytestmark = pytest.mark.asyncio(loop_scope="module")
CASES = Cases(
    "approval",
    covered={
        "S-156": "labextension/tests/hosts/clean.test.ts::nothing_fetches,_runs_or_pretends",
        "S-162": "tests/unit/services/test_sessions.py::"
        "test_a_turn_cut_by_a_crash_is_marked_and_its_question_void",
        "S-163": "tests/unit/agent/test_calls.py::test_waiting_for_the_user_has_no_deadline "
        "tests/integration/http/test_agent_session.py::test_the_turn_outlives_a_client_that_leaves",
        "S-168": "tests/unit/services/test_approvals.py::"
        "test_of_calls_side_by_side_one_asks_at_a_time",
    },
)
Question = dict[str, Any]


class Turn:
    """A turn of the model's calls, and the answers of a person to its questions."""

    def __init__(self, site: Server, session_id: str) -> None:
        self.site = site
        self.session_id = session_id

    async def question(self, number: int = 1) -> Question:
        """The turn's question of that number."""
        found = 0
        async for message in self.site.stream(self.session_id):
            found += message.event == "approval.requested"
            if found == number:
                return message.data
            assert message.event != "turn.finished", message.data
        raise AssertionError("the stream ended")

    async def answer(self, question: Question, **body: Any) -> Any:
        url = f"sessions/{self.session_id}/approvals/{question['approval_id']}"
        return await self.site.api.put(url, json={"decision": "approve", **body})

    async def state(self) -> str:
        return (await self.site.api.get(f"sessions/{self.session_id}")).json()["state"]

    async def results(self) -> list[dict[str, Any]]:
        """The results of all calls, once the turn is over."""
        await self.site.wait_for(self.session_id, "turn.finished")
        events = await self.site.events(self.session_id)
        return [e["result"] for e in events if e["type"] == "tool.finished"]


async def turn_of(site: Server, *calls: Any) -> Turn:
    site.script([*calls], say("Done."))
    session_id = await site.new_session(title="t")
    await site.start_turn(session_id)
    return Turn(site, session_id)


def write(content: str) -> Any:
    return call("write_file", {"path": "a.txt", "content": content, "create_if_missing": True})


def command(text: str) -> Any:
    return call("run_command", {"command": text})


@CASES.check("S-150")
async def changed_after_the_diff(row: Row, site: Server) -> None:
    (site.root / "a.txt").write_text("old\n")
    turn = await turn_of(site, call("read_file", {"path": "a.txt"}), write("new\n"))
    question = await turn.question()
    (site.root / "a.txt").write_text("mine\n")
    await turn.answer(question, digest=question["digest"])
    result = (await turn.results())[-1]
    assert "changed after the diff was shown" in result["error"] and "mine" in result["output"]
    assert (site.root / "a.txt").read_text() == "mine\n"


@CASES.check("S-151")
async def other_arguments(row: Row, site: Server) -> None:
    """Stricter than the case asks: such an answer is refused, and the question stays."""
    turn = await turn_of(site, command("echo asked"))
    question = await turn.question()
    refused = await turn.answer(question, args={"command": f"touch {site.root / 'canary'}"})
    assert refused.status_code == 400
    assert await turn.state() == "waiting"
    await turn.answer(question)
    assert "asked" in (await turn.results())[0]["output"]
    assert not (site.root / "canary").exists()


@CASES.check("S-152")
async def answered_twice_at_once(row: Row, site: Server) -> None:
    """The same answer again is taken for the same act: all get 200, and it runs once."""
    turn = await turn_of(site, command("echo run >> ran.txt"))
    question = await turn.question()
    answers = await asyncio.gather(*(turn.answer(question) for _ in range(8)))
    assert {answer.status_code for answer in answers} == {200}
    other = await turn.answer(question, decision="reject")
    assert (other.status_code, other.json()["code"]) == (409, "already_answered")
    assert (await turn.results())[0]["success"]
    assert (await turn.answer(question)).status_code == 200
    assert (site.root / "ran.txt").read_text() == "run\n"


@CASES.check("S-153")
async def of_another_session(row: Row, site: Server) -> None:
    """An approval is looked for in its session alone: 404 where the case says 403."""
    turn = await turn_of(site, command("echo run >> other.txt"))
    question = await turn.question()
    stranger = Turn(site, await site.new_session())
    assert (await stranger.answer(question)).status_code == 404
    assert await turn.state() == "waiting"
    assert not (site.root / "other.txt").exists()
    await turn.answer(question, decision="reject")
    await turn.results()


@CASES.check("S-154")
async def long_command(row: Row, site: Server) -> None:
    text = f"echo {'A' * 10_000} >> long.txt; echo the end"
    turn = await turn_of(site, command(text))
    question = await turn.question()
    preview = question["preview"]
    assert preview["command"] == text
    shown = f"{question['title']}\n{json.dumps(preview, separators=(',', ':'))}"
    assert hashlib.sha256(shown.encode()).hexdigest() == question["digest"]
    await turn.answer(question)
    assert "the end" in (await turn.results())[0]["output"]
    assert (site.root / "long.txt").read_text() == "A" * 10_000 + "\n"


@CASES.check("S-155")
async def words_beside_the_command(row: Row, site: Server) -> None:
    """There is no place for them: a call with words of the model's own is refused."""
    given = {key: value for key, value in row.do.items() if key != "tool"}
    turn = await turn_of(site, call("run_command", given), command(row.do["command"]))
    question = await turn.question()
    assert question["title"] == "Run this command?"
    assert question["preview"] == {"kind": "command", "command": "rm -rf build", "cwd": ""}
    await turn.answer(question, decision="reject")
    assert "description is not known" in (await turn.results())[0]["error"]


@CASES.check("S-157")
async def content_that_claims_approval(row: Row, site: Server) -> None:
    (site.root / "claims.txt").write_text(row.do["content"])
    turn = await turn_of(
        site, call("read_file", {"path": "claims.txt"}), command("touch canary"), say("Approved.")
    )
    question = await turn.question()
    assert await turn.state() == "waiting"
    assert not (site.root / "canary").exists()
    await turn.answer(question, decision="reject")
    assert "SYSTEM" in (await turn.results())[0]["output"]


@CASES.check("S-161")
async def two_edits_of_one_file(row: Row, site: Server) -> None:
    """The second is not drawn before the first is done, so it is never based on the old text."""
    (site.root / "a.txt").write_text("old\n")
    turn = await turn_of(
        site, call("read_file", {"path": "a.txt"}), write("first\n"), write("second\n")
    )
    first = await turn.question()
    assert len(await asked(turn)) == 1
    await turn.answer(first, digest=first["digest"])
    second = await turn.question(2)
    (change,) = second["preview"]["changes"]
    assert (change["before"], change["after"]) == ("first\n", "second\n")
    refused = await turn.answer(second, digest=first["digest"])
    assert (refused.status_code, refused.json()["code"]) == (409, "digest_mismatch")
    assert (site.root / "a.txt").read_text() == "first\n"
    await turn.answer(second, decision="reject")
    await turn.results()


async def asked(turn: Turn) -> list[str]:
    trail = turn.site.data_dir / "sessions" / turn.session_id / "trail.jsonl"
    events = [json.loads(line) for line in trail.read_text().splitlines()]
    return [event["approval_id"] for event in events if event["type"] == "approval.requested"]


@CASES.check("S-166")
async def line_ends_and_mode(row: Row, site: Server) -> None:
    """The file keeps its own line ends and mode, and the card says so."""
    script = site.root / "run.sh"
    script.write_bytes(b"#!/bin/sh\necho 1\n")
    script.chmod(0o755)
    calls = JudgedCalls(workspace_of(site.root, terminals=None))  # type: ignore[arg-type]
    await calls.call("read_file", path="run.sh")
    same = await calls.call("write_file", path="run.sh", content="#!/bin/sh\r\necho 1\r\n")
    assert same.outcome == "ALLOW" and "nothing was written" in same.result.output
    other = await calls.call(
        "write_file", path="run.sh", content="#!/bin/sh\r\necho 2\r\n", approve=True
    )
    assert other.outcome == "ASK"
    assert "CRLF line ends; the file keeps LF" in other.question.preview.note
    assert script.read_bytes() == b"#!/bin/sh\necho 2\n"
    assert script.stat().st_mode & 0o777 == 0o755


@CASES.check("S-167")
async def blank_padding(row: Row, site: Server) -> None:
    source = row.do["source"].replace("\\n", "\n")
    calls = JudgedCalls(workspace_of(site.root, terminals=None))  # type: ignore[arg-type]
    await calls.call(
        "insert_cells",
        path="p.ipynb",
        after="end",
        cells=[{"source": source}],
        create_if_missing=True,
        approve=True,
    )
    judged = await calls.call("run_cells", path="p.ipynb")
    assert judged.outcome == "ASK"
    assert judged.question.preview.snippets[0].source == source
    assert "It goes on after " in judged.question.reason


@pytest.mark.parametrize("id", sorted(CASES.checks))
async def test_approval(id: str, site: Server) -> None:
    await CASES.checks[id](CASES.rows[id], site)


async def test_every_row_is_accounted_for() -> None:
    CASES.assert_all_accounted_for()
