"""Protected names: in any case, at any depth, also when absent."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from vitto_jupyter.policy.paths import below, care_of, is_secret


@pytest.mark.parametrize(
    "path",
    [
        ".vitto/trust.json",
        ".VITTO/rules/x",
        "a/b/.vitto/settings.json",
        ".vitto./x",
        ".vi\u200btto/x",
        "\uff0evitto/x",
        ".local/share/jupyter/nbsignatures.db",
        ".local/share/jupyter/runtime/kernel-1.json",
    ],
)
def test_what_is_vittos_or_the_servers_own_is_never_changed(path: str) -> None:
    for effect in ("write", "execute"):
        assert care_of(path, effect)[0] == "deny"


@pytest.mark.parametrize(
    "path",
    [
        ".local/share/jupyter/runtime/jpserver-12.json",
        "jpserver-12.json",
        "x/jupyter_cookie_secret",
        "kernel-0a1b2c3d-0000-1111-2222-333344445555.json",
    ],
)
def test_what_logs_in_is_not_even_read(path: str) -> None:
    assert care_of(path, "read")[0] == "deny"


@pytest.mark.parametrize(
    "path",
    [".env", ".env.local", "conf/prod.env", ".SSH/id_rsa", "keys/server.pem", ".aws/credentials"],
)
def test_secrets_are_read_when_the_user_allows_it(path: str) -> None:
    action, why = care_of(path, "read")
    assert action == "ask" and why
    assert is_secret(path)


@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/pre-commit",
        "sub/.git/config",
        "GIT~1/hooks/x",
        ".bashrc",
        ".zshenv",
        ".config/pip/pip.conf",
        ".ipython/profile_default/startup/00-x.py",
        ".local/share/jupyter/kernels/python3/kernel.json",
        "venv/lib/python3.11/site-packages/SiteCustomize.py",
        ".vscode/settings.json",
    ],
)
def test_what_programs_obey_later_is_written_with_a_warning(path: str) -> None:
    action, why = care_of(path, "write")
    assert action == "ask" and why


@pytest.mark.parametrize(
    "path",
    [
        "",
        "src/a.py",
        "environment.yml",
        ".env.example",
        "vitto/x.py",
        "git/hooks.py",
        ".gitignore",
        "keys.py",
        "jupyter/notes.md",
        "pth/model.py",
    ],
)
def test_ordinary_names_are_left_alone(path: str) -> None:
    assert care_of(path, "read") == care_of(path, "write") == ("allow", "")


def test_the_folder_of_the_sessions_is_vittos_own_wherever_it_is() -> None:
    assert care_of("Deep/Sessions/x.json", "write", private="deep/sessions")[0] == "deny"
    assert care_of("deep/sessions-2/x.json", "write", private="deep/sessions")[0] == "allow"


def test_a_folder_is_named_from_the_root_or_not_at_all() -> None:
    assert below("/home/u", PurePosixPath("/home/u/.local/vitto")) == ".local/vitto"
    assert below("/", PurePosixPath("/var/vitto")) == "var/vitto"
    assert below("/home/u/p", PurePosixPath("/home/u/.local/vitto")) is None
