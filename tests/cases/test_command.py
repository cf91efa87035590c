"""Commands under the first policy: each one asks, is shown as it is, and runs only then."""

from __future__ import annotations

import asyncio
import os
import time

import pytest
from cases import Cases, Row
from judged_calls import JudgedCalls

from vitto_jupyter.agent.guard import Guard, Mask, secret_values

from .conftest import Place

CASES = Cases(
    "command",
    covered={
        "S-069": "tests/integration/workspace/terminals/test_terminals.py::"
        "test_half_a_line_of_the_user_is_not_run",
    },
)
SPECIAL = {"S-064", "S-072", "S-073", "S-080", "S-081", "S-084", "S-085", "S-088", "S-089"}
PLAIN = sorted(
    id
    for id, row in CASES.rows.items()
    if (row.do.get("tool") == "run_command" or "sequence" in row.do)
    and id not in SPECIAL | set(CASES.covered)
)


@pytest.fixture
def calls(place: Place) -> JudgedCalls:
    """The work tree of the cases."""
    place.write("README.md", "foo\n")
    place.write("x.tmp")
    place.write(".git/config", "[core]\n")
    place.write("a.txt", "a" * 40 + "!")
    for name in ("pre.sh", "x.sh", "bin/ls"):
        place.write(name, f"#!/bin/sh\ntouch {place.canary}\n").chmod(0o755)
    (place.home / ".bashrc").write_text("# mine\n")
    return place.calls()


def snapshot(place: Place) -> dict[str, bytes]:
    folders = (place.root, place.home)
    found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return {str(path): path.read_bytes() for path in found}


@CASES.check(*PLAIN)
async def asks(row: Row, place: Place, calls: JudgedCalls) -> None:
    before = snapshot(place)
    for step in row.do.get("sequence", [row.do]):
        command = place.here(step["command"])
        judged = await calls.call("run_command", command=command)
        assert judged.outcome == "ASK"
        assert judged.question.preview.command == command
        assert "Rejected by the user" in judged.text
    assert not place.canary.exists()
    assert snapshot(place) == before
    if row.id == "S-012":
        assert "It goes on after 2,000 blanks." in judged.question.reason
    if row.id == "S-071":
        assert "U+0456" in judged.question.reason


@CASES.check("S-064", "S-072", "S-073")
async def unseen_characters(row: Row, place: Place, calls: JudgedCalls) -> None:
    judged = await calls.call("run_command", command=place.here(row.do["command"]), approve=True)
    assert judged.outcome == "DENY"
    assert "U+" in judged.text and not set("\r\u200b\u202e") & set(judged.text)
    assert not place.canary.exists()


@CASES.check("S-080", "S-081")
async def environment(
    row: Row, place: Place, calls: JudgedCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused nothing leaves; allowed, values are masked all the same."""
    secrets = {"ANTHROPIC_API_KEY": "sk-ant-0123456789", "DB_PASSWORD": "hunter2-hunter2"}
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    calls.guard = Guard(mask=Mask(secret_values(os.environ)))
    command = row.do["command"]
    assert (await calls.call("run_command", command=command)).outcome == "ASK"
    judged = await calls.call("run_command", command=command, approve=True)
    assert "HOME=" in judged.text
    assert not [v for v in secrets.values() if v in judged.text + repr(judged.sink.events)]


@CASES.check("S-084")
async def login_file(row: Row, place: Place, calls: JudgedCalls) -> None:
    runtime = place.home / ".local/share/jupyter/runtime"
    runtime.mkdir(parents=True)
    (runtime / "jpserver-1.json").write_text('{"token": "TOKEN-0123456789"}')
    judged = await calls.call("run_command", command=row.do["command"], approve=True)
    assert judged.outcome == "DENY"
    assert "TOKEN-0123" not in judged.text


@CASES.check("S-085")
async def own_approval(row: Row, place: Place, calls: JudgedCalls) -> None:
    """The shell has no token; a proof that only the page holds is not part of this version."""
    assert (await calls.call("run_command", command=row.do["command"])).outcome == "ASK"
    printed = await calls.call("run_command", command='echo "[$JUPYTER_TOKEN]"', approve=True)
    assert "\n[]" in printed.result.output


@CASES.check("S-088")
async def option_as_pattern(row: Row, place: Place, calls: JudgedCalls) -> None:
    place.write("b.txt", "--pre=./pre.sh")
    judged = await calls.call("search_code", pattern=row.do["query"])
    assert judged.outcome == "ALLOW" and "b.txt:1" in judged.result.output
    assert not place.canary.exists()


@CASES.check("S-089")
async def option_as_path(row: Row, place: Place, calls: JudgedCalls) -> None:
    judged = await calls.call("search_code", pattern=row.do["query"], path=row.do["path"])
    assert judged.outcome == "DENY" and "root:" not in judged.text


@CASES.check("S-090")
async def configured_linter(row: Row, place: Place, calls: JudgedCalls) -> None:
    hook = f"open('{place.canary}','w')"
    place.write("pyproject.toml", f'[tool.pylint.main]\ninit-hook="{hook}"\n')
    place.write("a.py", "import os\n")
    judged = await calls.call("get_diagnostics", path="a.py")
    assert judged.outcome == "ALLOW" and "'os' imported but unused" in judged.result.output
    assert not place.canary.exists()


@CASES.check("S-092")
async def configured_git(row: Row, place: Place, calls: JudgedCalls) -> None:
    place.write(".git/HEAD", "ref: refs/heads/main\n")
    place.write(".git/config", f"[core]\n\tfsmonitor = touch {place.canary}; false\n")
    judged = await calls.call("get_context")
    assert "Git branch: main" in judged.result.output
    assert not place.canary.exists()


@CASES.check("S-094")
async def catastrophic_pattern(row: Row, place: Place, calls: JudgedCalls) -> None:
    search = asyncio.create_task(
        calls.call("search_code", pattern=row.do["query"], regex=True, path="a.txt")
    )
    started = asked = time.monotonic()
    slowest = 0.0
    while not search.done():
        await asyncio.wait({search}, timeout=0.02)
        slowest, asked = max(slowest, time.monotonic() - asked), time.monotonic()
    assert time.monotonic() - started < 5
    assert slowest < 0.5
    found = (await search).text
    assert "0 matches" in found or "matching took too long" in found  # as the engine is


@pytest.mark.parametrize("id", sorted(CASES.checks))
async def test_command(
    id: str, place: Place, calls: JudgedCalls, request: pytest.FixtureRequest
) -> None:
    more = [request.getfixturevalue("monkeypatch")] if id in ("S-080", "S-081") else []
    await CASES.checks[id](CASES.rows[id], place, calls, *more)


def test_every_row_is_accounted_for() -> None:
    CASES.assert_all_accounted_for()
