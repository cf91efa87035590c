"""What is typed into the shell, and what is refused before anything is typed."""

from __future__ import annotations

import pytest

from vitto_jupyter.errors import ToolError
from vitto_jupyter.workspace.terminals.terminal_shell import (
    EXTRA_ENVIRONMENT,
    SECRET_VARIABLES,
    check_command,
    start_file,
    typed,
)


@pytest.mark.parametrize(
    "command",
    [
        "",
        " \n ",
        "ls\rrm x",
        "a\tb",
        "a\x1b[201~\rrm x",
        "\x03",
        "a\x7f",
        "a\x9b",
        "a\ud800",
        "a\x00",
    ],
)
def test_a_command_that_a_terminal_would_act_on_is_refused(command: str) -> None:
    with pytest.raises(ToolError) as caught:
        check_command(command)
    assert caught.value.code == "command_refused"


def test_the_character_is_named() -> None:
    with pytest.raises(ToolError, match=r"U\+000D"):
        check_command("ls\rtouch x")


def test_a_command_that_is_too_long_is_refused() -> None:
    with pytest.raises(ToolError, match="longer"):
        check_command("x" * 100_001)


@pytest.mark.parametrize("command", ["ls -la", "echo 'é 中 \u200b'", "a\nb", "  ls"])
def test_a_plain_command_passes_unchanged(command: str) -> None:
    assert check_command(command) == command


def test_line_ends_around_a_command_are_dropped() -> None:
    assert check_command("\nls\n\n") == "ls"


def test_one_line_is_typed_as_it_was_shown() -> None:
    assert typed("git status") == "\x05\x15\x1b[200~git status\x1b[201~\r"


def test_several_lines_are_typed_as_one_group() -> None:
    assert typed("a\nb") == "\x05\x15\x1b[200~{\na\nb\n}\x1b[201~\r"


def test_the_start_file_carries_the_key_in_every_marker() -> None:
    text = start_file("c0ffee", user_files="none")
    assert "@" not in text.replace("${", "")
    assert ".bashrc" not in text
    assert all(f"633;{kind};c0ffee" in text for kind in "BCP")


def test_the_users_start_files_come_first() -> None:
    text = start_file("c0ffee", user_files="interactive")
    assert text.index(".bashrc") < text.index("unalias -a")


@pytest.mark.parametrize("name", ["JUPYTER_TOKEN", "ANTHROPIC_API_KEY"])
def test_secrets_are_taken_out_of_the_environment(name: str) -> None:
    assert name in SECRET_VARIABLES
    assert EXTRA_ENVIRONMENT[name] is None
