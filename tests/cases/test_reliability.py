"""Faults: nothing is lost, a stop stops, and a session always takes the next prompt."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cases import Cases, Row
from http_server import Server, jupyter_servers
from judged_calls import JudgedCalls
from real_workspace import real_terminals, until

from vitto_jupyter.agent.conversation import Conversation
from vitto_jupyter.errors import ProviderError
from vitto_jupyter.protocol.requests import CreateSession, StartTurn
from vitto_jupyter.providers.scripted import ScriptedProvider, call, fail, hold, say, think
from vitto_jupyter.services.conversations import ConversationFile
from vitto_jupyter.services.provider_choice import ProviderChoice
from vitto_jupyter.services.sessions import SessionManager, Workbench
from vitto_jupyter.services.trails import Trail
from vitto_jupyter.settings import Settings
from vitto_jupyter.testing.requests import check_messages, check_requests
from vitto_jupyter.tools.toolset import Toolset
from vitto_jupyter.workspace.memory import memory_workspace
from vitto_jupyter.workspace.processes import of_session

from .conftest import workspace_of

pytestmark = pytest.mark.asyncio(loop_scope="module")
SESSIONS = "tests/unit/services/test_sessions.py::"
RESTARTS = "tests/integration/http/test_restarts.py::"
EVENTS = "tests/integration/http/test_events.py::"
STARTS = "tests/integration/http/test_sessions.py::"
LOOP = "tests/unit/agent/test_loop_faults.py::"
FAULTS = "tests/integration/providers/test_anthropic_faults.py::"
STRICT = "tests/integration/agent/test_turns_on_a_strict_server.py::"
FILES = "tests/integration/workspace/documents/test_jupyter_documents.py::"
CODEC = "tests/unit/workspace/test_text_codec.py::"
KERNELS = "tests/integration/workspace/kernels/test_kernels.py::"
TERMINALS = "tests/integration/workspace/terminals/test_terminals.py::"
NOTEBOOKS = "tests/unit/workspace/notebooks/test_notebook_edit.py::"
CASES = Cases(
    "reliability",
    covered={
        "R-01": f"{RESTARTS}test_a_killed_server_loses_nothing_that_was_shown",
        "R-02": f"{STRICT}test_after_a_crash_between_call_and_result "
        f"{SESSIONS}test_a_turn_cut_by_a_crash_is_marked_and_its_question_void",
        "R-03": f"{SESSIONS}test_results_survive_a_clean_restart_unchanged",
        "R-04": "tests/integration/workspace/documents/test_save_journal.py::"
        "test_a_killed_save_leaves_the_old_or_the_new_text",
        "R-07": f"{EVENTS}test_reconnecting_after_each_event_loses_and_repeats_nothing "
        f"{EVENTS}test_reconnecting_while_the_turn_runs_loses_and_repeats_nothing",
        "R-08": f"{EVENTS}test_a_reader_behind_the_buffer_still_gets_everything",
        "R-11": f"{EVENTS}test_a_quiet_stream_says_that_it_is_alive",
        "R-12": f"{LOOP}test_fault_that_may_pass_is_waited_out_in_sight_of_the_user "
        "tests/unit/agent/test_retries.py::test_server_is_never_asked_before_it_wished",
        "R-13": f"{LOOP}test_fault_that_stays_ends_the_turn_and_keeps_the_prompt "
        f"{LOOP}test_waiting_for_one_request_is_limited_in_all "
        "tests/unit/agent/test_retries.py::test_gaps_grow",
        "R-14": f"{FAULTS}test_a_stream_that_fails_is_an_error_that_may_be_retried "
        f"{LOOP}test_nothing_of_a_broken_attempt_is_kept_or_run",
        "R-15": f"{STRICT}test_after_a_stream_that_was_cut_within_a_call",
        "R-17": f"{FAULTS}test_a_stream_that_fails_is_an_error_that_may_be_retried",
        "R-18": "tests/unit/agent/test_loop.py::"
        "test_bad_call_becomes_a_result_and_the_turn_goes_on",
        "R-20": f"{FILES}test_a_full_disk_leaves_the_old_text_and_says_so",
        "R-21": f"{SESSIONS}test_a_full_disk_stops_the_turn_and_the_session_works_again",
        "R-26": f"{FILES}test_a_touched_file_is_not_a_changed_one",
        "R-27": f"{CODEC}test_a_one_line_edit_of_a_crlf_file_differs_in_one_line",
        "R-28": f"{CODEC}test_bytes_outside_a_random_edit_are_unchanged",
        "R-29": f"{CODEC}test_a_mark_is_never_added_to_a_file_without_it_and_never_doubled",
        "R-30": f"{CODEC}test_bytes_outside_a_random_edit_are_unchanged "
        f"{CODEC}test_what_is_not_clearly_text_is_refused",
        "R-32": f"{KERNELS}test_how_a_kernel_ended_is_told_and_the_next_run_works",
        "R-33": f"{KERNELS}test_a_restart_by_the_user_ends_the_run_as_restarted "
        "tests/unit/tools/test_running.py::test_death_restart_and_abort_are_told_apart",
        "R-35": f"{TERMINALS}test_when_the_shell_exits_the_next_command_gets_a_new_one "
        f"{TERMINALS}test_a_terminal_closed_by_the_user_ends_the_command",
        "R-36": f"{TERMINALS}test_a_program_that_waits_for_input_is_ended_with_the_reason",
        "R-37": f"{TERMINALS}test_stop_ends_what_the_command_has_put_into_the_background",
        "R-40": "tests/unit/workspace/documents/test_big_notebooks.py::"
        "test_one_of_ten_thousand_cells_is_edited_in_little_time",
        "R-41": f"{FILES}test_a_damaged_notebook_stays_as_it_is",
        "R-42": f"{NOTEBOOKS}test_untouched_text_keeps_its_bytes_however_it_is_written "
        "tests/cases/test_notebook.py::huge_output",
        "R-43": "labextension/tests/hosts/documents.test.ts::"
        "edits_are_planned_in_order,_each_seeing_the_ones_before "
        "tests/unit/workspace/documents/test_live.py::test_a_conflict_in_the_page_changes_nothing_anywhere",
        "R-44": "tests/unit/workspace/documents/test_live.py::"
        "test_unsaved_changes_in_a_silent_page_are_never_overwritten "
        "tests/e2e/test_first_light.py::"
        "test_unsaved_work_of_the_user_survives_an_edit_and_a_run",
        "R-45": f"{STARTS}test_a_repeated_start_is_one_turn "
        f"{STARTS}test_a_turn_answers_at_once_and_a_second_one_is_refused "
        f"{EVENTS}test_two_subscribers_see_the_same_events",
        "R-46": f"{RESTARTS}test_two_servers_on_one_home_do_not_disturb_each_other",
        "R-48": f"{SESSIONS}test_another_server_may_not_work_on_an_open_session "
        f"{SESSIONS}test_a_session_is_given_back_when_nobody_uses_it",
        "R-58": f"{FILES}test_success_is_told_by_the_disk_and_not_by_the_manager",
        "R-60": f"{LOOP}test_wrong_key_is_told_at_once_with_its_hint "
        f"{FAULTS}test_the_key_is_in_no_message_and_no_log "
        f"{FAULTS}test_a_server_that_is_not_there_is_named",
    },
)
WRITE = {"path": "made.txt", "content": "hello\n", "create_if_missing": True}


# -- over HTTP -----------------------------------------------------------------------------------


@CASES.check("R-09")
async def reload_while_asked(row: Row, site: Server, tmp_path: Path) -> None:
    site.script(call("run_command", {"command": "echo once >> once.txt"}), say("Done."))
    session_id = await site.new_session(title="t")
    await site.start_turn(session_id)
    asked = [await site.wait_for(session_id, "approval.requested") for _ in range(3)]
    assert asked[0] == asked[1] == asked[2]
    assert (await site.api.get(f"sessions/{session_id}")).json()["state"] == "waiting"
    url = f"sessions/{session_id}/approvals/{asked[0]['approval_id']}"
    body = {"decision": "approve", "digest": asked[0]["digest"]}
    answers = [await site.api.put(url, json=body) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200] * 3
    await site.wait_for(session_id, "turn.finished")
    assert (site.root / "once.txt").read_text() == "once\n"


PHASES: dict[str, tuple[Callable[[], Any], str]] = {
    "waiting for the model": (lambda: hold(asyncio.Event()), "model.requested"),
    "thinking": (lambda: [think("Hm"), hold(asyncio.Event())], "thinking.delta"),
    "streaming": (lambda: [say("part"), hold(asyncio.Event())], "text.delta"),
    "retry wait": (
        lambda: fail(ProviderError("Busy.", code="busy", retryable=True, retry_after_s=60)),
        "notice",
    ),
    "approval": (lambda: [call("write_file", WRITE)] * 2, "approval.requested"),
    "tool running": (
        lambda: [call("run_command", {"command": "sleep 300 & sleep 300"})] * 2,
        "tool.progress|tool.started",
    ),
}


@CASES.check("R-54")
async def stop_in_every_phase(row: Row, site: Server, tmp_path: Path) -> None:
    for phase, (first, seen_when) in PHASES.items():
        provider = site.script(first(), say("next"))
        session_id = await site.new_session(title="t")
        await site.start_turn(session_id)
        await reach(site, session_id, seen_when)
        started = time.monotonic()
        stopped = await site.api.post(f"sessions/{session_id}/cancel")
        assert time.monotonic() - started < 2, phase
        assert stopped.json()["cancelled"] is True
        assert (await site.api.get(f"sessions/{session_id}")).json()["state"] == "idle"
        before = len(await site.events(session_id))
        await site.play(session_id)
        after = (await site.events(session_id))[before:]
        assert [e["type"] for e in after if e["type"].startswith("tool.")] == [], phase
        assert after[-1]["reason"] == "done", phase
        check_requests(provider.requests)
        assert not (site.root / "made.txt").exists()


async def reach(site: Server, session_id: str, kinds: str) -> None:
    """Wait for one of the event types; approve what is asked on the way to a running tool."""
    async for message in site.stream(session_id):
        if message.event in kinds.split("|"):
            return
        if message.event == "approval.requested":
            url = f"sessions/{session_id}/approvals/{message.data['approval_id']}"
            await site.api.put(url, json={"decision": "approve"})
    raise AssertionError("the stream ended")


@CASES.check("R-57")
async def graceful_stop(row: Row, site: Server, tmp_path: Path) -> None:
    """What the server does on SIGTERM; test_restarts.py sends the signal to a real process."""
    async with jupyter_servers(tmp_path) as start:
        server = await start(extensions=("jupyter_server_terminals",))
        server.script([say("part"), hold(asyncio.Event())])
        talking = await server.new_session(title="t")
        await server.start_turn(talking)
        await reach(server, talking, "text.delta")
        sleeping = "sleep 301 & sleep 300"
        server.script(call("run_command", {"command": sleeping}))
        working = await server.new_session(title="t")
        await server.start_turn(working)
        await reach(server, working, "tool.started")
        terminals = server.app.web_app.settings["terminal_manager"].terminals
        await until(lambda: "vitto" in terminals)
        shell = terminals["vitto"].ptyproc.pid
        await until(lambda: len(of_session(shell)) >= 3)
        streams = [
            asyncio.create_task(server.events(session_id, "")) for session_id in (talking, working)
        ]
        started = time.monotonic()
        await server.vitto.stop_extension()
        assert time.monotonic() - started < 10
        for told in await asyncio.gather(*streams):
            assert told[-1]["error"]["code"] == "shutdown"
            assert [event["seq"] for event in told] == list(range(1, len(told) + 1))
        await until(lambda: not of_session(shell))


# -- files on disk -------------------------------------------------------------------------------


@CASES.check("R-22")
async def read_only_file(row: Row, site: Server, tmp_path: Path) -> None:
    """Root may write such a file too; what counts is that it stays the same file."""
    target = tmp_path / "a.txt"
    target.write_text("old\n")
    target.chmod(0o444)
    before = target.stat()
    calls = JudgedCalls(workspace_of(tmp_path, terminals=None))  # type: ignore[arg-type]
    await calls.call("read_file", path="a.txt")
    judged = await calls.call("write_file", path="a.txt", content="new\n", approve=True)
    after = target.stat()
    assert (after.st_mode, after.st_ino) == (before.st_mode, before.st_ino)
    if os.geteuid() != 0:
        assert not judged.result.success and target.read_text() == "old\n"


@CASES.check("R-24", "R-25")
async def changed_between(row: Row, site: Server, tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    mine = "one\ntwo\nmine\n" if row.id == "R-24" else "one\ntwO\n"
    for tool, more in (
        ("write_file", {"content": "new\n"}),
        ("edit_file", {"edits": [{"before": "one", "after": "1"}]}),
    ):
        target.write_text("one\ntwo\n")
        calls = JudgedCalls(workspace_of(tmp_path, terminals=None))  # type: ignore[arg-type]
        await calls.call("read_file", path="a.txt")
        read = target.stat()
        target.write_text(mine)
        os.utime(target, ns=(read.st_atime_ns, read.st_mtime_ns))
        judged = await calls.call(tool, path="a.txt", approve=True, **more)
        assert judged.outcome == "DENY" and "has changed since" in judged.text
        assert target.read_text() == mine


@CASES.check("R-38")
async def huge_output(row: Row, site: Server, tmp_path: Path) -> None:
    """Less than the case says, for time; nothing that is kept grows with the output."""
    async with real_terminals(tmp_path) as terminals:
        calls = JudgedCalls(workspace_of(tmp_path, terminals=terminals.port))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        run = asyncio.create_task(
            calls.call("run_command", command="yes | head -c 6000000; echo end", approve=True)
        )
        slowest = 0.0
        # of this thread's processor: what other programs take is not the loop's doing
        asked = time.thread_time()
        while not run.done():
            await asyncio.wait({run}, timeout=0.02)
            slowest, asked = max(slowest, time.thread_time() - asked), time.thread_time()
        judged = await run
    assert judged.result.success, judged.text
    assert slowest < 1
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < 200_000_000
    assert "6,000,004 characters of output in all" in judged.result.output
    assert judged.result.output.rstrip().endswith("end") and len(judged.result.output) < 20_000
    assert len("".join(map(str, judged.sink.events))) < 100_000


# -- sessions on disk ----------------------------------------------------------------------------


@dataclass
class JumpingClock:
    """A clock that somebody sets: each look at it is an hour earlier, or a day later."""

    jumps: list[timedelta] = field(default_factory=list)
    now: datetime = datetime(2026, 1, 1, tzinfo=UTC)

    def now_iso(self, *, after_s: float = 0.0) -> str:
        self.jumps.append(timedelta(hours=-1) if len(self.jumps) % 3 else timedelta(days=1))
        self.now += self.jumps[-1]
        return self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


def manager_on(data_dir: Path, provider: ScriptedProvider, root: str = "/root") -> SessionManager:
    settings = Settings(data_dir=data_dir, provider="scripted")
    clock = JumpingClock()
    workspace = memory_workspace()

    async def workbench() -> Workbench:
        return Workbench(workspace, Toolset(()))

    return SessionManager(
        settings=settings,
        root=root,
        clock=clock,
        choice=ProviderChoice(providers={"scripted": provider}, settings=settings, clock=clock),
        workbench=workbench,
        wake=lambda session_id: None,
    )


async def play(manager: SessionManager, session_id: str) -> str:
    """A turn; how it ended."""
    await manager.start_turn(session_id, StartTurn(prompt="Go."))
    async with manager.events(session_id, after=0) as subscription:
        seen: list[bytes] = []
        while not subscription.idle:
            seen += [w.line for w in await subscription.next(timeout_s=10)]
    return seen[-1].decode()


@CASES.check("R-47")
async def clock_skew(row: Row, site: Server, tmp_path: Path) -> None:
    provider = ScriptedProvider(*[say(f"answer {n}") for n in range(4)])
    manager = manager_on(tmp_path, provider)
    session_id = (await manager.create(CreateSession(title="t"))).session_id
    for _ in range(3):
        assert '"reason":"done"' in await play(manager, session_id)
    await manager.close()
    again = manager_on(tmp_path, provider)
    assert '"reason":"done"' in await play(again, session_id)
    async with again.events(session_id, after=0) as subscription:
        lines = [w.line.decode() for w in await subscription.next(timeout_s=5)]
    texts = [line.split('"text":"')[1][:8] for line in lines if '"text.delta"' in line]
    assert texts == [f"answer {n}" for n in range(4)]
    await again.close()


async def recorded(site: Server) -> Path:
    """The folder of a session with all kinds of events and blocks."""
    site.script(
        [think("Hm."), say("I look. ü 🙂"), call("list_files", {"pattern": "*"})],
        call("write_file", WRITE),
        [think("So."), say("Done.")],
    )
    session_id = await site.new_session(title="Sales ü", notebook_path="a.ipynb")
    await site.start_turn(session_id)
    await reach(site, session_id, "turn.finished")
    (site.root / "made.txt").unlink()
    return site.data_dir / "sessions" / session_id


def damages(content: bytes) -> list[tuple[int, bytes]]:
    """Cut at each byte of the last 2 kB, and every fourth of them flipped."""
    places = range(max(0, len(content) - 2048), len(content))
    flipped = []
    for place in places[::4]:
        changed = bytearray(content)
        changed[place] ^= 0x04
        flipped.append((place, bytes(changed)))
    return [(place, content[:place]) for place in places] + flipped


@CASES.check("R-50")
async def damaged_files(
    row: Row, site: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = await recorded(site)
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # thousands of files
    trail, conversation = (folder / f"{n}.jsonl" for n in ("trail", "conversation"))
    check_trails(trail.read_bytes(), tmp_path / "t")
    await check_conversations(conversation.read_bytes(), tmp_path / "c")
    contents = (trail.read_bytes(), conversation.read_bytes())
    for number, (_, spoiled) in enumerate(damages(contents[0])[::131]):
        other = damages(contents[1])
        await check_session(
            folder, tmp_path / f"s{number}", spoiled, other[(number * 137) % len(other)][1]
        )


def check_trails(content: bytes, folder: Path) -> None:
    for place, spoiled in damages(content):
        folder.mkdir()
        (folder / "trail.jsonl").write_bytes(spoiled)
        trail = Trail(folder)
        trail.open("ses_1", "2026-11-30T09:00:00.000Z")
        written = []
        while batch := trail.read(after=len(written)):
            written += batch
        assert [w.seq for w in written] == list(range(1, len(written) + 1))
        whole = content[:place].count(b"\n")
        assert [w.line for w in written][:whole] == content.split(b"\n")[:whole], place
        kept = b"\n".join(w.line for w in written)
        aside = b"".join(path.read_bytes() for path in folder.glob("*.damaged-*"))
        for line in spoiled.split(b"\n"):
            assert line in kept or line in aside, place
        shutil.rmtree(folder)


async def check_conversations(content: bytes, folder: Path) -> None:
    os.mkdir(folder)
    for place, spoiled in damages(content):
        (folder / "conversation.jsonl").write_bytes(spoiled)
        file = ConversationFile(folder)
        found = file.open()
        whole = content[:place].count(b"\n")
        assert (found is None) == (whole == 0), place
        if found is not None:
            assert len(found.messages) == whole - 1
            conversation = Conversation(
                system=found.system, tools=found.tools, messages=found.messages, store=file
            )
            await conversation.repair()
            check_messages(conversation.messages)


async def check_session(folder: Path, data_dir: Path, trail: bytes, conversation: bytes) -> None:
    copied = data_dir / "sessions" / folder.name
    shutil.copytree(folder, copied)
    (copied / "trail.jsonl").write_bytes(trail)
    (copied / "conversation.jsonl").write_bytes(conversation)
    (copied / "session.json").write_bytes(b'{"session_id": ')
    provider = ScriptedProvider(say("next"))
    manager = manager_on(data_dir, provider)
    assert '"reason":"done"' in await play(manager, folder.name)
    check_requests(provider.requests)
    await manager.close()


@pytest.mark.parametrize("id", sorted(CASES.checks))
async def test_reliability(
    id: str, site: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = (monkeypatch,) if id == "R-50" else ()
    await CASES.checks[id](CASES.rows[id], site, tmp_path, *more)


async def test_every_row_is_accounted_for() -> None:
    CASES.assert_all_accounted_for()
