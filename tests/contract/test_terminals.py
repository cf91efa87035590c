"""What every `Terminals` does: the double and the real one."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from real_workspace import real_terminals

from vitto_jupyter.errors import ToolError
from vitto_jupyter.workspace.base import CommandResult, Terminals
from vitto_jupyter.workspace.memory import MemoryTerminals
from vitto_jupyter.workspace.terminals.jupyter_terminals import JupyterTerminals

ANSWERS = {
    "echo hi": "hi\n",
    "echo bad; exit_with() { return 3; }; exit_with": CommandResult(3, "bad\n", 4, 0.1, "vitto"),
}


@pytest.fixture(params=["memory", "jupyter"])
async def terminals(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Terminals]:
    if request.param == "memory":
        yield MemoryTerminals(ANSWERS)
        return
    if shutil.which("bash") is None:
        pytest.skip("needs bash")
    monkeypatch.setenv("HOME", str(tmp_path))
    root = tmp_path / "root"
    root.mkdir()
    async with real_terminals(root) as real:
        yield real.port


async def run(terminals: Terminals, command: str, told: list[str] | None = None) -> CommandResult:
    async def on_output(text: str) -> None:
        if told is not None:
            told.append(text)

    return await terminals.run(command, cwd="", timeout_s=30, on_output=on_output)


async def test_output_is_told_and_returned(terminals: Terminals) -> None:
    told: list[str] = []
    result = await run(terminals, "echo hi", told)
    assert "".join(told) == result.output == "hi\n"
    assert (result.exit_code, result.total_chars, result.timed_out) == (0, 3, False)
    assert result.terminal_name == "vitto"
    assert await terminals.available()


async def test_the_exit_code_is_that_of_the_command(terminals: Terminals) -> None:
    result = await run(terminals, list(ANSWERS)[1])
    assert (result.exit_code, result.output) == (3, "bad\n")


async def test_an_unknown_command_ends_with_127(terminals: Terminals) -> None:
    result = await run(terminals, "no-such-program-here")
    assert result.exit_code == 127
    assert "command not found" in result.output


@pytest.mark.parametrize("off", [MemoryTerminals(usable=False), JupyterTerminals(None, root="/")])
async def test_terminals_that_are_switched_off_say_so(off: Terminals) -> None:
    assert not await off.available()
    with pytest.raises(ToolError):
        await run(off, "echo hi")
