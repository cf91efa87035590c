"""Of files with secrets the model reads names, not values."""

from __future__ import annotations

import pytest

from vitto_jupyter.tools.secrets import without_values


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("A_SECRET=abc123", "A_SECRET=•••"),
        ("export TOKEN = 'x y'", "export TOKEN = •••"),
        ('  "key": "abc",', '  "key": •••'),
        ("# A_KEY=old", "# A_KEY=•••"),
        ("password: hunter2", "password: •••"),
        ("machine x.org login joe password hunter2", "machine x.org login ••• password •••"),
        ("-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----"),
        ("MIIEvQIBADANBgkqhkiG9w0B", "•••"),
        ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 joe", "ssh-ed25519 ••• joe"),
        ("[default]", "[default]"),
        ("# a comment", "# a comment"),
        ("EMPTY=", "EMPTY="),
        ("", ""),
    ],
)
def test_values_are_left_out(line: str, kept: str) -> None:
    assert without_values(f"{line}\n") == f"{kept}\n"
