"""The server's address and what the environment says about credentials."""

from __future__ import annotations

from pathlib import Path

import pytest

from vitto_jupyter.providers.anthropic_endpoint import credentials_in, endpoint_of


@pytest.fixture(autouse=True)
def empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.mark.parametrize(
    ("configured", "environ", "base_url", "host", "official"),
    [
        ("", {}, "", "api.anthropic.com", True),
        ("", {"ANTHROPIC_BASE_URL": ""}, "https://api.anthropic.com", "api.anthropic.com", True),
        ("", {"ANTHROPIC_BASE_URL": "http://127.0.0.1:8080/"}, "http://127.0.0.1:8080",
         "127.0.0.1:8080", False),
        ("http://a:1", {"ANTHROPIC_BASE_URL": "http://b:2"}, "http://a:1", "a:1", False),
        ("http://localhost:1234/v1", {}, "http://localhost:1234", "localhost:1234", False),
        ("https://openrouter.ai/api/v1/", {}, "https://openrouter.ai/api", "openrouter.ai", False),
        ("localhost:11434", {}, "http://localhost:11434", "localhost:11434", False),
        ("https://me:pw@gate.example", {}, "https://me:pw@gate.example", "gate.example", False),
        ("http://[::1]:80", {}, "http://[::1]:80", "::1:80", False),
        ("https://api.anthropic.com", {}, "https://api.anthropic.com", "api.anthropic.com", True),
        ("https://notanthropic.com", {}, "https://notanthropic.com", "notanthropic.com", False),
    ],
)  # fmt: skip
def test_the_server_is_found(
    configured: str, environ: dict[str, str], base_url: str, host: str, official: bool
):
    endpoint = endpoint_of(configured, environ)
    assert (endpoint.base_url, endpoint.host, endpoint.is_official) == (base_url, host, official)


@pytest.mark.parametrize(
    ("environ", "found"),
    [
        ({}, "none"),
        ({"ANTHROPIC_API_KEY": ""}, "none"),
        ({"ANTHROPIC_API_KEY": "k"}, "static"),
        ({"ANTHROPIC_AUTH_TOKEN": "t"}, "static"),
        ({"ANTHROPIC_CUSTOM_HEADERS": "X-Team: a\nAuthorization: Bearer b"}, "static"),
        ({"ANTHROPIC_CUSTOM_HEADERS": "X-Team: x-api-key"}, "none"),
        ({"ANTHROPIC_PROFILE": "work"}, "discoverable"),
        ({"ANTHROPIC_FEDERATION_RULE_ID": "r"}, "discoverable"),
    ],
)
def test_plain_variables_decide_where_they_can(environ: dict[str, str], found: str):
    assert credentials_in(environ) == found


def test_a_folder_of_profiles_is_left_to_the_sdk(tmp_path: Path):
    (tmp_path / ".config" / "anthropic").mkdir(parents=True)
    assert credentials_in({}) == "discoverable"
