"""Paths: where a call may read and write, and which names are protected wherever they are."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from pathlib import Path

import pytest
from cases import Cases, Row
from judged_calls import Judged

from .conftest import Place

CASES = Cases(
    "path",
    covered={
        "S-120": "tests/integration/http/test_bodies.py::test_a_context_path_stays_below_the_root",
    },
)
SECRET = "SECRET-abc123def456"
ARGUMENTS = {"query": "pattern"}


async def try_it(row: Row, place: Place, hidden: bool, **more: object) -> Judged:
    """The call of a row; a write may create its file, and its folder is there."""
    given = {key: value for key, value in row.do.items() if key not in ("tool", "recursive")}
    arguments = {
        ARGUMENTS.get(key, key): place.here(value) if isinstance(value, str) else value
        for key, value in given.items()
    }
    if row.do["tool"] == "write_file":
        arguments["create_if_missing"] = True
    return await place.calls(hidden=hidden).call(row.do["tool"], **{**arguments, **more})


def files(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


# -- staying in the root -------------------------------------------------------------------------


@CASES.check("S-109", "S-110", "S-112", "S-113", "S-114", "S-117", "S-118", "S-121")
async def outside(row: Row, place: Place, hidden: bool) -> None:
    work = place.root.parent
    for folder in ("proj-secrets", "proj "):
        (work / folder).mkdir()
        (work / folder / "key").write_text(SECRET)
        (work / folder / "key.txt").write_text(SECRET)
    place.write("notes.txt", SECRET)
    (place.root / "link.txt").symlink_to("/etc/passwd")
    (place.root / "out").symlink_to(place.home)
    (place.root / "later.txt").symlink_to(place.home / ".profile_new")
    before = files(work.parent)
    judged = await try_it(row, place, hidden)
    assert judged.outcome == "DENY"
    assert SECRET not in judged.text and "root:" not in judged.text
    assert "Traceback" not in judged.text and judged.result.error
    assert files(work.parent) == before


@CASES.check("S-111")
async def root_of_all(row: Row, place: Place, hidden: bool) -> None:
    calls = place.calls(hidden=hidden, root=Path("/"))
    judged = await calls.call("read_file", path=row.do["path"])
    assert judged.outcome == "ALLOW"
    assert judged.result.output.startswith("etc/hostname, lines 1 to ")


@CASES.check("S-115")
async def swapped_parent(row: Row, place: Place, hidden: bool) -> None:
    (place.root / "sub").mkdir()

    async def swap() -> None:
        (place.root / "sub").rename(place.root / "sub_old")
        (place.root / "sub").symlink_to(place.home)

    judged = await place.calls(hidden=hidden).call(
        "write_file",
        path="sub/a.txt",
        content="x",
        create_if_missing=True,
        approve=True,
        meanwhile=swap,
    )
    assert judged.outcome == "ASK" and judged.result.error
    assert files(place.home) == {}


@CASES.check("S-119")
async def encoded_dots(row: Row, place: Place, hidden: bool) -> None:
    judged = await try_it(row, place, hidden)
    assert judged.outcome == "DENY"
    assert "There is nothing at" in judged.text and "%2e%2e" in judged.text
    literal = place.write("%2e%2e/%2e%2e/etc/passwd", "mine")
    assert "mine" in (await try_it(row, place, hidden)).text
    assert literal.read_text() == "mine"


@CASES.check("S-122")
async def climbing_glob(row: Row, place: Place, hidden: bool) -> None:
    without = await try_it(row, place, hidden)
    (place.root.parent / "x.pem").write_text("KEY")
    with_it = await try_it(row, place, hidden)
    assert without.outcome == with_it.outcome == "DENY"
    assert without.text == with_it.text


@CASES.check("S-123")
async def outbound_link(row: Row, place: Place, hidden: bool) -> None:
    (place.root / "etc").symlink_to("/etc")
    judged = await try_it(row, place, hidden)
    assert judged.outcome == "ALLOW"
    assert judged.result.output.startswith("0 matches") and "etc" not in judged.result.output


@CASES.check("S-124")
async def link_cycle(row: Row, place: Place, hidden: bool) -> None:
    place.write("a/f.txt")
    (place.root / "a" / "b").symlink_to("..")
    async with asyncio.timeout(2):
        judged = await try_it(row, place, hidden, pattern="**/*")
    assert judged.outcome == "ALLOW"
    assert [line for line in judged.result.output.split("\n") if "f.txt" in line] == ["a/f.txt"]


@CASES.check("S-148")
async def pipe_and_device(row: Row, place: Place, hidden: bool) -> None:
    os.mkfifo(place.root / "pipe")
    (place.root / "dev").symlink_to("/dev/zero")
    for path in ("pipe", "dev"):
        started = time.monotonic()
        judged = await try_it(row, place, hidden, path=path)
        assert judged.outcome == "DENY" and time.monotonic() - started < 2


# -- secrets -------------------------------------------------------------------------------------


@CASES.check("S-125")
async def secrets_in_search(row: Row, place: Place, hidden: bool) -> None:
    for name in (".env", ".git/config", "prod.env", "id_rsa", "deploy.pem"):
        place.write(name, "OPENAI_API_KEY=sk-test123")
    (place.root / "innocent.txt").symlink_to("id_rsa")
    place.write("a.py", "k = 'sk-mine'")
    judged = await try_it(row, place, hidden)
    assert judged.outcome == "ALLOW"
    assert "a.py:1" in judged.result.output and "sk-test" not in judged.text


@CASES.check("S-126")
async def secret_file(row: Row, place: Place, hidden: bool) -> None:
    """Also by other tools, under another name, and in messages of errors."""
    place.write(".env", "# mine\nA_SECRET=abc123def456\n")
    place.write("prod.env", "A_SECRET=abc123def456\n")
    (place.root / "notes.txt").symlink_to("prod.env")
    calls = place.calls(hidden=hidden)
    asked = await calls.call("read_file", path=".env", approve=True)
    assert asked.outcome == ("ASK" if hidden else "DENY")
    for path in ("prod.env", "notes.txt", "PROD.ENV"):
        refused = await calls.call("read_file", path=path)
        assert refused.outcome == "ASK"
        assert "abc123" not in refused.text
    read = await calls.call("read_file", path="notes.txt", approve=True)
    assert read.result.success and "A_SECRET=•••" in read.result.output
    tries = [
        asked,
        read,
        await place.calls(hidden=hidden).call("write_file", path="prod.env", content="x"),
        await calls.call("show_diff", path="prod.env", content="x", approve=True),
        await calls.call("search_code", path="prod.env", pattern="SECRET", approve=True),
        await calls.call(
            "edit_file", path="prod.env", edits=[{"before": "A_SECRET=•••", "after": "x"}]
        ),
    ]
    for judged in tries:
        assert "abc123" not in judged.text
        assert "abc123" not in repr(judged.sink.events)


# -- protected names -----------------------------------------------------------------------------


@CASES.check(
    *("S-127", "S-128", "S-129", "S-132", "S-133", "S-134", "S-135", "S-136", "S-137", "S-138"),
    *("S-139", "S-140", "S-141", "S-143"),
)
async def protected_name(row: Row, place: Place, hidden: bool) -> None:
    also = {
        "S-133": (
            ".mcp.json",
            ".claude/settings.json",
            ".codex/config.toml",
            ".gemini/settings.json",
        ),
        "S-143": ("lib/usercustomize.py", "lib/x.pth"),
    }
    for path in (row.do["path"], *also.get(row.id, ())):
        (place.root / path).parent.mkdir(parents=True, exist_ok=True)
        judged = await try_it(row, place, hidden, path=path)
        if row.outcome == "DENY" or not (hidden or path.startswith("lib/")):
            assert judged.outcome == "DENY", path
        else:
            assert judged.outcome == "ASK", path
            assert "Take care: " in judged.question.reason
        assert not (place.root / path).exists()


@CASES.check("S-149")
async def reversed_name(row: Row, place: Place, hidden: bool) -> None:
    """Stricter than the case asks: such a name is refused, and shown with the escape."""
    judged = await try_it(row, place, hidden)
    assert judged.outcome == "DENY"
    assert r"invoice\u202efdp.py" in judged.text and "\u202e" not in judged.text
    assert files(place.root) == {}


# -- files of our own ----------------------------------------------------------------------------


@CASES.check("S-146")
async def scratch_files(
    row: Row, place: Place, hidden: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The terminal's start-up file is the one scratch file that there is."""
    import tempfile

    shared = place.root.parent / "tmp"
    shared.mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    victim = place.home / "victim"
    victim.write_text("mine")
    for name in ("vitto", "vitto-.bashrc"):
        (shared / name).symlink_to(victim)
    made: list[tuple[int, int]] = []
    real_open = os.open

    def watching(path, flags, *args, **kwargs):
        if str(path).startswith(str(shared)):
            made.append((flags & (os.O_EXCL | os.O_CREAT), args[0] if args else 0))
        return real_open(path, flags, *args, **kwargs)

    monkeypatch.setattr(os, "open", watching)
    if shutil.which("bash") is None:
        pytest.skip("there is no bash here")
    judged = await place.calls(hidden=hidden).call("run_command", command="echo hi", approve=True)
    assert judged.result.success, judged.text
    assert made and set(made) == {(os.O_EXCL | os.O_CREAT, 0o600)}
    assert victim.read_text() == "mine"


@pytest.mark.parametrize("hidden", [False, True], ids=["hidden-off", "hidden-on"])
@pytest.mark.parametrize("id", sorted(CASES.checks))
async def test_path(id: str, hidden: bool, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server serves no hidden files by default; where it does, the policy alone decides."""
    check = CASES.checks[id]
    more = (monkeypatch,) if id == "S-146" else ()
    await check(CASES.rows[id], place, hidden, *more)


def test_every_row_is_accounted_for() -> None:
    CASES.assert_all_accounted_for()
