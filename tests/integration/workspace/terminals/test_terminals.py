"""JupyterTerminals over jupyter_server's terminals, a real bash and real programs."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from real_workspace import RealTerminals, real_terminals, until

from vitto_jupyter.errors import PathRefused, ToolError
from vitto_jupyter.workspace.base import CommandResult
from vitto_jupyter.workspace.terminals.jupyter_terminals import JupyterTerminals

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


class Watcher:
    """What `on_output` was told; waits for a text in it."""

    def __init__(self) -> None:
        self.text = ""
        self._more = asyncio.Event()

    async def __call__(self, piece: str) -> None:
        self.text += piece
        self._more.set()

    async def saw(self, text: str) -> None:
        async with asyncio.timeout(30):
            while text not in self.text:
                self._more.clear()
                await self._more.wait()


async def run(
    terminals: RealTerminals,
    command: str,
    *,
    cwd: str = "",
    timeout_s: float = 60,
    watcher: Watcher | None = None,
) -> CommandResult:
    return await terminals.port.run(
        command, cwd=cwd, timeout_s=timeout_s, on_output=watcher or Watcher()
    )


def user_types(terminals: RealTerminals, text: str, name: str = "vitto") -> None:
    terminals.manager.terminals[name].ptyproc.write(text)


def screen(terminals: RealTerminals, name: str = "vitto") -> str:
    return "".join(terminals.manager.terminals[name].read_buffer)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# -- output and exit codes -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "exit_code", "output"),
    [
        ("echo hi", 0, "hi\n"),
        ("false", 1, ""),
        ("(exit 37)", 37, ""),
        ("printf 'no end'", 0, "no end"),
        ("echo 'é 中 😀'", 0, "é 中 😀\n"),
        ("cat <<'EOF'\na $HOME\n  b\nEOF\nsh -c 'exit 5'", 5, "a $HOME\n  b\n"),
        ("a=1; echo one\necho two\nfalse\necho three", 0, "one\ntwo\nthree\n"),
        ("printf '\\033[31mred\\033[0m\\n'", 0, "red\n"),
        ('for i in 1 2 3; do printf "$i%%\\r"; done; echo done', 0, "done\n"),
        ("echo out; echo err >&2", 0, "out\nerr\n"),
        ("# only a remark", 0, ""),
        ("echo '!!' \"!x\"", 0, "!! !x\n"),
        ("printf '\\033]633;D;forged;0\\007'; false", 1, ""),
    ],
)
async def test_output_is_clean_and_the_exit_code_is_the_commands(
    terminals: RealTerminals, command: str, exit_code: int, output: str
) -> None:
    result = await run(terminals, command)
    assert (result.exit_code, result.output) == (exit_code, output)
    assert result.total_chars == len(output)
    assert (result.terminal_name, result.timed_out, result.ended) == ("vitto", False, "")


async def test_coloured_names_are_plain(terminals: RealTerminals) -> None:
    (terminals.root / "folder").mkdir()
    assert (await run(terminals, "ls --color=always")).output.split() == ["folder"]


async def test_an_error_message_is_captured(terminals: RealTerminals) -> None:
    result = await run(terminals, "ls /nonexistent")
    assert result.exit_code == 2
    assert "No such file" in result.output


@pytest.mark.parametrize("command", ["echo 'open", "if then", "cat <<EOF\nx", "(", "}\necho x\n{"])
async def test_what_bash_cannot_parse_is_refused_before_it_is_typed(
    terminals: RealTerminals, command: str
) -> None:
    result = await run(terminals, command)
    assert result.exit_code == 2
    assert "bash" in result.output
    assert terminals.manager.terminals == {}


async def test_a_command_that_bash_would_continue_is_given_back(terminals: RealTerminals) -> None:
    result = await run(terminals, "echo a \\")
    assert result.exit_code == 2
    assert "not complete" in result.ended
    assert (await run(terminals, "echo b")).output == "b\n"


async def test_long_output_keeps_head_and_tail_and_counts_all(terminals: RealTerminals) -> None:
    command = "echo first; head -c 5000000 /dev/zero | tr '\\0' a; echo; echo last"
    result = await run(terminals, command)
    assert result.total_chars == 5_000_000 + len("first\n\nlast\n")
    assert len(result.output) < 41_000
    assert result.output.startswith("first\naaa")
    assert result.output.endswith("aaa\nlast\n")


async def test_the_watcher_is_told_while_the_command_runs(terminals: RealTerminals) -> None:
    watcher = Watcher()
    command = "echo one; while [ ! -e gate ]; do sleep .02; done; echo two"
    task = asyncio.create_task(run(terminals, command, watcher=watcher))
    await watcher.saw("one\n")
    (terminals.root / "gate").touch()
    assert (await task).output == watcher.text == "one\ntwo\n"


# -- what stays and what does not ----------------------------------------------------------------


async def test_exports_stay_and_each_command_starts_in_its_folder(terminals: RealTerminals) -> None:
    (terminals.root / "it's a folder").mkdir()
    await run(terminals, "export FOO=bär; cd /")
    assert (await run(terminals, "echo $FOO; pwd")).output == f"bär\n{terminals.root}\n"
    result = await run(terminals, "pwd", cwd="it's a folder")
    assert result.output == f"{terminals.root}/it's a folder\n"
    assert list(terminals.manager.terminals) == ["vitto"]


@pytest.mark.parametrize("cwd", ["..", "/etc", "link"])
async def test_a_folder_outside_the_root_is_refused(terminals: RealTerminals, cwd: str) -> None:
    (terminals.root / "link").symlink_to("/")
    with pytest.raises(PathRefused):
        await run(terminals, "pwd", cwd=cwd)


async def test_a_missing_folder_is_an_error(terminals: RealTerminals) -> None:
    with pytest.raises(ToolError, match="no folder"):
        await run(terminals, "pwd", cwd="none")


async def test_commands_take_turns(terminals: RealTerminals) -> None:
    results = await asyncio.gather(*(run(terminals, f"sleep .05; echo {n}") for n in range(3)))
    assert [result.output for result in results] == ["0\n", "1\n", "2\n"]
    assert {result.terminal_name for result in results} == {"vitto"}


# -- what runs is what was shown -----------------------------------------------------------------


async def test_aliases_of_the_user_do_not_replace_a_command(
    home: Path, terminals: RealTerminals
) -> None:
    (home / ".bashrc").write_text(
        "alias echo='touch canary;'\nls() { touch canary; }\nexport A=1\n"
    )
    result = await run(terminals, "echo $A; ls")
    assert result.output == "1\n"
    assert not (terminals.root / "canary").exists()


async def test_aliases_made_by_an_earlier_command_do_not_either(terminals: RealTerminals) -> None:
    await run(terminals, "shopt -s expand_aliases; alias ls='touch canary'")
    await run(terminals, "ls")
    assert not (terminals.root / "canary").exists()


async def test_history_is_neither_expanded_nor_written(
    home: Path, terminals: RealTerminals
) -> None:
    await run(terminals, "set -H -o history")
    await run(terminals, "echo touch canary")
    assert (await run(terminals, "!!:s/echo //")).exit_code == 127
    assert not (terminals.root / "canary").exists()
    await terminals.port.close()
    assert not (home / ".bash_history").exists()


@pytest.mark.parametrize("command", ["ls\rtouch canary", "ls\x1b[201~\rtouch canary", "a\tb"])
async def test_control_characters_never_reach_the_terminal(
    terminals: RealTerminals, command: str
) -> None:
    with pytest.raises(ToolError):
        await run(terminals, command)
    assert terminals.manager.terminals == {}


async def test_the_prompt_hook_cannot_be_replaced(terminals: RealTerminals) -> None:
    await run(terminals, "PROMPT_COMMAND='touch canary'")
    assert (await run(terminals, "echo still")).output == "still\n"
    assert not (terminals.root / "canary").exists()


async def test_a_changed_prompt_does_not_matter(terminals: RealTerminals) -> None:
    await run(terminals, "PS1='> '; set -u")
    assert (await run(terminals, "echo still")).output == "still\n"


async def test_secrets_are_not_in_the_environment(
    terminals: RealTerminals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_TOKEN", "top-secret")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "top-secret")
    assert "top-secret" not in (await run(terminals, "env; cat /proc/$$/environ")).output


# -- the user at the same terminal ---------------------------------------------------------------


async def test_half_a_line_of_the_user_is_not_run(terminals: RealTerminals) -> None:
    await run(terminals, "true")
    user_types(terminals, "touch canary ")
    await until(lambda: "touch canary" in screen(terminals))
    assert (await run(terminals, "echo ours")).output == "ours\n"
    assert not (terminals.root / "canary").exists()


async def test_an_unfinished_quote_of_the_user_does_not_swallow_a_command(
    terminals: RealTerminals,
) -> None:
    await run(terminals, "true")
    user_types(terminals, "touch 'can\r")
    await until(lambda: screen(terminals).rstrip().endswith(">"))
    assert (await run(terminals, "echo ours")).output == "ours\n"
    assert list(terminals.root.iterdir()) == []


async def test_a_command_is_not_typed_into_a_program_of_the_user(terminals: RealTerminals) -> None:
    await run(terminals, "true")
    user_types(terminals, "echo begun; cat > typed\r")
    await until(lambda: (terminals.root / "typed").exists())
    result = await run(terminals, "echo ours")
    assert (result.output, result.terminal_name) == ("ours\n", "vitto2")
    assert (terminals.root / "typed").read_text() == ""


async def test_a_command_of_the_user_is_not_taken_for_ours(terminals: RealTerminals) -> None:
    await run(terminals, "true")
    user_types(terminals, "echo theirs; (exit 9)\r")
    await until(lambda: "theirs\r\n" in screen(terminals))
    result = await run(terminals, "echo ours")
    assert (result.output, result.exit_code) == ("ours\n", 0)


async def test_what_the_user_answers_reaches_the_command(terminals: RealTerminals) -> None:
    watcher = Watcher()
    task = asyncio.create_task(run(terminals, "read -p 'name? ' x; echo got=$x", watcher=watcher))
    await watcher.saw("name? ")
    user_types(terminals, "bob\r")
    assert (await task).output == "name? bob\ngot=bob\n"


async def test_ctrl_c_of_the_user_ends_the_command(terminals: RealTerminals) -> None:
    watcher = Watcher()
    task = asyncio.create_task(run(terminals, "echo on; sleep 60", watcher=watcher))
    await watcher.saw("on\n")
    user_types(terminals, "\x03")
    assert (await task).exit_code == 130


async def test_ctrl_c_works_on_a_server_that_ignores_it(terminals: RealTerminals) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as after `nohup jupyter lab &`
    try:
        result = await run(terminals, "echo on; sleep 60", timeout_s=1)
        pipe = await run(terminals, "yes | head -n 1")
    finally:
        signal.signal(signal.SIGINT, before)
    assert (result.timed_out, result.exit_code) == (True, 130)
    assert pipe.output == "y\n"  # no word of a broken pipe


async def test_another_terminal_named_vitto_is_left_alone(terminals: RealTerminals) -> None:
    terminals.manager.create(name="vitto", shell_command=["sleep", "60"])
    assert (await run(terminals, "echo hi")).terminal_name == "vitto2"


# -- ending commands -----------------------------------------------------------------------------

IGNORES_INTERRUPT = (
    'python3 -c "import signal, time; signal.signal(2, signal.SIG_IGN); '
    "print('on', flush=True); time.sleep(60)\""
)
IGNORES_ALL = IGNORES_INTERRUPT.replace(
    "signal.signal(2, signal.SIG_IGN)",
    "signal.signal(2, signal.SIG_IGN); signal.signal(15, signal.SIG_IGN)",
)


@pytest.mark.parametrize(
    ("command", "exit_code"),
    [
        ("echo on; sleep 60", 130),
        (IGNORES_INTERRUPT, 143),
        (IGNORES_ALL, 137),
        ("echo on; while :; do :; done", 130),
        ("echo on; sleep 60; sleep 60", 130),
    ],
)
async def test_at_the_deadline_the_command_is_ended_and_the_shell_lives(
    terminals: RealTerminals, command: str, exit_code: int
) -> None:
    await run(terminals, "export KEPT=1")
    result = await run(terminals, command, timeout_s=1.5)
    assert (result.timed_out, result.exit_code) == (True, exit_code)
    assert "on\n" in result.output
    assert (await run(terminals, "echo $KEPT")).output == "1\n"


async def test_a_python_program_may_clean_up_at_the_deadline(terminals: RealTerminals) -> None:
    (terminals.root / "p.py").write_text(
        "import time\ntry:\n    time.sleep(60)\n"
        "except KeyboardInterrupt:\n    print('cleanup'); raise SystemExit(3)\n"
    )
    result = await run(terminals, "python3 p.py", timeout_s=1.5)
    assert (result.exit_code, result.output) == (3, "^Ccleanup\n")


@pytest.mark.skipif(shutil.which("less") is None, reason="needs less")
async def test_a_pager_is_ended_at_the_deadline(terminals: RealTerminals) -> None:
    (terminals.root / "long").write_text("line\n" * 500)
    result = await run(terminals, "less long", timeout_s=1)
    assert result.timed_out
    assert (await run(terminals, "echo still")).output == "still\n"


@pytest.mark.parametrize("command", ["echo on; sleep 60", IGNORES_ALL])
async def test_stop_ends_the_command_soon_and_the_shell_lives(
    terminals: RealTerminals, command: str
) -> None:
    await run(terminals, "export KEPT=1")
    watcher = Watcher()
    task = asyncio.create_task(run(terminals, command, watcher=watcher))
    await watcher.saw("on\n")
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < 4
    assert (await run(terminals, "jobs; echo $KEPT")).output == "1\n"


CHILDREN = (
    "sleep 61 >/dev/null & a=$!; (trap '' TERM HUP INT; while :; do sleep 1; done) | cat & "
    "echo pid=$a $! $(jobs -p); sleep 60"
)


def pids_of(text: str) -> list[int]:
    return [int(part) for part in text.split("pid=")[1].split()]


async def test_stop_ends_what_the_command_has_put_into_the_background(
    terminals: RealTerminals,
) -> None:
    await run(terminals, "sleep 63 >/dev/null & echo")
    while not (left := await terminals.port.left_running()):  # noqa: ASYNC110
        await asyncio.sleep(0.01)  # it is a shell yet
    (kept,) = left
    assert kept == "sleep in the background of terminal vitto"
    watcher = Watcher()
    task = asyncio.create_task(run(terminals, CHILDREN, watcher=watcher))
    await watcher.saw("pid=")
    await watcher.saw("\n")
    pids = pids_of(watcher.text)
    assert len(pids) >= 3 and all(map(alive, pids))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    earlier = [pid for pid in pids if alive(pid)]
    assert len(earlier) == 1  # the job of the command before
    assert await terminals.port.left_running() == (kept,)
    await terminals.port.close()
    await until(lambda: not any(map(alive, pids)))


async def test_a_program_that_waits_for_input_is_ended_with_the_reason(
    home: Path, root: Path
) -> None:
    async with real_terminals(root, idle_input_s=0.5) as terminals:
        for command in ("read x", "cat", "python3 -i -q -c 1"):
            result = await run(terminals, command, timeout_s=40)
            assert "waited for input" in result.ended, command
            assert not result.timed_out
        assert (await run(terminals, "echo still")).output == "still\n"


async def test_a_silent_program_is_not_taken_for_one_that_waits(home: Path, root: Path) -> None:
    async with real_terminals(root, idle_input_s=0.1) as terminals:
        result = await run(terminals, "sleep 2; echo done")
        assert (result.output, result.ended) == ("done\n", "")


async def test_a_watcher_that_fails_ends_the_command(terminals: RealTerminals) -> None:
    async def fail(piece: str) -> None:
        raise ToolError("the page is gone")

    with pytest.raises(ToolError, match="the page is gone"):
        await terminals.port.run("echo on; sleep 60", cwd="", timeout_s=60, on_output=fail)
    result = await run(terminals, "echo next")
    assert (result.output, result.terminal_name) == ("next\n", "vitto")


# -- the shell ends ------------------------------------------------------------------------------


@pytest.mark.parametrize(("command", "exit_code"), [("exit 3", 3), ("set -e; false", 1)])
async def test_when_the_shell_exits_the_next_command_gets_a_new_one(
    terminals: RealTerminals, command: str, exit_code: int
) -> None:
    result = await run(terminals, command)
    assert result.exit_code == exit_code
    assert "the shell exited" in result.ended
    assert (await run(terminals, "echo again")).output == "again\n"


async def test_a_terminal_closed_by_the_user_ends_the_command(terminals: RealTerminals) -> None:
    watcher = Watcher()
    task = asyncio.create_task(run(terminals, "echo on; sleep 60", watcher=watcher))
    await watcher.saw("on\n")
    await terminals.manager.terminate("vitto", force=True)
    result = await task
    assert (result.exit_code, result.ended) == (None, "the terminal was closed")
    assert (await run(terminals, "echo again")).output == "again\n"


async def test_a_shell_killed_between_commands_is_replaced(terminals: RealTerminals) -> None:
    await run(terminals, "true")
    os.kill(terminals.manager.terminals["vitto"].ptyproc.pid, signal.SIGKILL)
    assert (await run(terminals, "echo again")).output == "again\n"


@pytest.mark.parametrize("bashrc", ["exit 1\n", "read -p 'name? ' x\n", "exec cat\n"])
async def test_a_start_file_that_does_not_end_is_left_out(
    home: Path, terminals: RealTerminals, bashrc: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vitto_jupyter.workspace.terminals.jupyter_terminals._START_S", 1.0)
    (home / ".bashrc").write_text(bashrc)
    assert (await run(terminals, "echo hi")).output == "hi\n"


# -- nothing is left -----------------------------------------------------------------------------


async def test_close_leaves_no_process_and_no_file(
    terminals: RealTerminals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "temp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    watcher = Watcher()
    task = asyncio.create_task(
        run(terminals, "sleep 61 & echo pid=$! $$; sleep 60", watcher=watcher)
    )
    await watcher.saw("pid=")
    await watcher.saw("\n")
    pids = [int(part) for part in watcher.text.split("pid=")[1].split()[:2]]
    await terminals.port.close()
    await task
    await until(lambda: not any(map(alive, pids)))
    assert list(folder.iterdir()) == []
    assert terminals.manager.terminals == {}
    assert terminals.manager.ptys_by_fd == {}


async def test_nothing_is_started_before_the_first_command(terminals: RealTerminals) -> None:
    assert await terminals.port.available()
    assert terminals.manager.terminals == {}


# -- without a terminal --------------------------------------------------------------------------


async def test_switched_off_terminals_run_nothing(root: Path) -> None:
    port = JupyterTerminals(None, root=str(root))
    assert not await port.available()
    with pytest.raises(ToolError, match="not available"):
        await port.run("touch canary", cwd="", timeout_s=5, on_output=Watcher())
    assert os.listdir(root) == []


@pytest.fixture
async def plain(terminals: RealTerminals, monkeypatch: pytest.MonkeyPatch) -> RealTerminals:
    """Terminals on a machine without bash."""

    async def nothing() -> None:
        return None

    monkeypatch.setattr("vitto_jupyter.workspace.terminals.jupyter_terminals._bash_path", nothing)
    return terminals


async def test_without_bash_a_command_runs_out_of_sight(plain: RealTerminals) -> None:
    (plain.root / "sub").mkdir()
    watcher = Watcher()
    result = await run(plain, "pwd; echo err >&2; exit 4", cwd="sub", watcher=watcher)
    assert (result.exit_code, result.terminal_name) == (4, "")
    assert result.output == watcher.text == f"{plain.root}/sub\nerr\n"
    assert plain.manager.terminals == {}


async def test_without_bash_the_deadline_ends_everything(plain: RealTerminals) -> None:
    command = "sleep 61 & echo $!; trap '' INT TERM; sleep 60"
    result = await run(plain, command, timeout_s=1)
    assert result.timed_out
    await until(lambda: not alive(int(result.output)))


async def test_without_bash_stop_ends_everything(plain: RealTerminals) -> None:
    watcher = Watcher()
    command = "sleep 61 >/dev/null 2>&1 & echo pid=$$ $!; sleep 60"
    task: asyncio.Task[Any] = asyncio.create_task(run(plain, command, watcher=watcher))
    await watcher.saw("\n")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: not any(map(alive, pids_of(watcher.text))))
