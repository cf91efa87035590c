import asyncio

import pytest
from tool_calls import ToolCalls

from vitto_jupyter.errors import PathRefused, ToolError
from vitto_jupyter.settings import Settings
from vitto_jupyter.workspace.base import CommandResult
from vitto_jupyter.workspace.memory import memory_workspace


def _calls(settings=None, **commands):
    workspace = memory_workspace({"src/a.py": "", "a.txt": ""}, commands=commands)
    return ToolCalls(workspace, settings=settings)


async def test_the_card_holds_the_exact_command():
    command = "echo " + "A" * 10_000 + "; rm -rf build"
    calls = _calls()
    proposal = await calls.propose("run_command", command=command, cwd="src")
    assert proposal.title == "Run this command?"
    assert proposal.preview.command == command and proposal.preview.cwd == "src"
    assert proposal.facts.command == command and proposal.facts.effect == "execute"
    assert calls.ctx.workspace.terminals.ran == []
    await calls.apply(proposal)
    assert calls.ctx.workspace.terminals.ran == [(command, "src")]


async def test_output_exit_code_and_terminal_come_back():
    done = await _calls(ls="a.txt\nsrc\n").call("run_command", command="ls")
    assert done.success
    assert done.output == "exit code 0, 0.01 s\na.txt\nsrc"
    assert done.metadata == {"terminal": "vitto", "exit_code": 0, "seconds": 0.01}


async def test_a_failing_command_gives_its_exit_code_and_output():
    done = await _calls().call("run_command", command="nope")
    assert not done.success
    assert "Exit code 127" in done.error and "command not found" in done.output
    assert done.metadata["exit_code"] == 127


@pytest.mark.parametrize(
    "command",
    ["ls\rtouch x", "echo \x1b[2J", "echo \x7f", "echo \x9b", "echo ok \u202e; hsab", "a\u200bb"],
)
async def test_characters_that_cannot_be_seen_are_refused_and_named(command):
    with pytest.raises(ToolError) as caught:
        await _calls().propose("run_command", command=command)
    assert caught.value.code == "control_characters"
    assert "U+" in caught.value.message
    assert all(char.isprintable() for char in caught.value.message)


async def test_several_lines_and_tabs_are_fine():
    command = "cat <<EOF\n\tx\nEOF"
    proposal = await _calls().propose("run_command", command=command)
    assert proposal.preview.command == command


@pytest.mark.parametrize("cwd", ["/home/u", "..", "src/../.."])
async def test_a_folder_outside_the_root_is_refused_as_a_path_is(cwd):
    with pytest.raises(PathRefused):
        await _calls().propose("run_command", command="ls", cwd=cwd)


@pytest.mark.parametrize("cwd", ["nope", "a.txt"])
async def test_the_folder_must_be_one(cwd):
    done = await _calls().call("run_command", command="ls", cwd=cwd)
    assert "no folder" in done.error or "not a folder" in done.error


async def test_a_time_out_says_so():
    result = CommandResult(130, "working\n", 8, 5.0, "vitto", timed_out=True)
    done = await _calls(make=result).call("run_command", command="make", timeout_s=5)
    assert "Time-out after 5.00 s" in done.error and done.output == "working"
    assert done.metadata["state"] == "timed_out"


async def test_a_shell_that_ends_says_so():
    result = CommandResult(None, "", 0, 0.1, "vitto", ended="shell exited")
    done = await _calls(exit=result).call("run_command", command="exit")
    assert "The shell itself ended: shell exited" in done.error


async def test_long_output_is_cut_in_the_middle_and_counted():
    text = "first\n" + "x" * 90_000 + "\nfatal: not a git repository\n" + "y" * 90_000 + "\nlast\n"
    result = CommandResult(0, text, 5_000_000, 1.0, "vitto")
    done = await _calls(make=result).call("run_command", command="make")
    assert len(done.output) < 18_000
    for part in ("first", "last", "fatal: not a git repository", "5,000,000 characters"):
        assert part in done.output


async def test_without_terminals_it_says_so_before_asking():
    calls = _calls()
    calls.ctx.workspace.terminals.usable = False
    with pytest.raises(ToolError, match="not available"):
        await calls.propose("run_command", command="ls")


async def test_live_output_is_told_while_the_command_runs():
    told = asyncio.Event()

    async def work(on_output):
        await on_output("half\n")
        told.set()
        return CommandResult(0, "half\ndone\n", 10, 0.1, "vitto")

    calls = _calls(make=work)
    await calls.call("run_command", command="make")
    assert told.is_set() and calls.said == ["half\n"]


async def test_an_empty_command_is_refused():
    assert "empty" in (await _calls().call("run_command", command=" \n")).error


async def test_the_models_time_is_bounded_by_the_settings():
    calls = _calls(Settings(command_timeout_s=10, cell_timeout_s=20))
    for timeout_s in (None, 15, 5000):
        await calls.call("run_command", command="ls", timeout_s=timeout_s)
    assert calls.ctx.workspace.terminals.timeouts_s == [10, 15, 20]
