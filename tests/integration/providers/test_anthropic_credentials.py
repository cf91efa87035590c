"""Where credentials come from, and what is said when there are none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from pathlib import Path

import pytest
from model_turns import say
from provider_turns import KEY, Serve, pieces_of, provider_for, request

from vitto_jupyter.errors import ProviderError
from vitto_jupyter.providers.anthropic import AnthropicProvider
from vitto_jupyter.settings import Settings

LOOK = """
import asyncio, sys
from vitto_jupyter.providers.anthropic import AnthropicProvider
from vitto_jupyter.settings import Settings
found = asyncio.run(AnthropicProvider(Settings()).availability())
heavy = sorted({"anthropic", "httpx2", "httpx"} & set(sys.modules))
print(found.available, heavy)
"""


@pytest.fixture
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")


def write_profile(home: Path, name: str, token: str) -> None:
    folder = home / ".config" / "anthropic"
    (folder / "configs").mkdir(parents=True)
    (folder / "credentials").mkdir()
    config = {"authentication": {"type": "user_oauth"}}
    (folder / "configs" / f"{name}.json").write_text(json.dumps(config))
    secret = folder / "credentials" / f"{name}.json"
    secret.write_text(json.dumps({"type": "oauth_token", "access_token": token}))
    secret.chmod(0o600)


@pytest.mark.parametrize("key", ["k", ""])
def test_plain_variables_are_judged_without_importing_the_sdk(key: str):
    environ = {**os.environ, "ANTHROPIC_API_KEY": key}
    done = subprocess.run(
        [sys.executable, "-c", LOOK], env=environ, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{bool(key)} []\n"


@pytest.mark.usefixtures("no_key")
async def test_without_credentials_it_says_where_it_looked_and_what_to_do(tmp_path: Path):
    provider = AnthropicProvider(Settings())
    found = await provider.availability()
    assert not found.available
    assert "ANTHROPIC_AUTH_TOKEN" in found.reason
    assert str(tmp_path / ".config" / "anthropic") in found.reason
    assert "ANTHROPIC_API_KEY" in found.hint
    with pytest.raises(ProviderError) as caught:
        await pieces_of(provider)
    assert caught.value.code == "no_credentials"
    assert not caught.value.retryable


@pytest.mark.usefixtures("no_key")
async def test_a_profile_on_disk_is_used(serve: Serve, tmp_path: Path):
    write_profile(tmp_path, "default", "profile-token")
    assert (await AnthropicProvider(Settings()).availability()).available
    server = serve(say("a"), api_key="profile-token")
    await pieces_of(provider_for(server))
    assert server.calls()[0]["auths"] == ["bearer"]


@pytest.mark.usefixtures("no_key")
async def test_a_profile_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_PROFILE", "work")
    found = await AnthropicProvider(Settings()).availability()
    assert not found.available
    assert "work" in found.reason


@pytest.mark.usefixtures("no_key")
async def test_a_token_is_sent_as_it_is(serve: Serve, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "tok")
    server = serve(say("a"), api_key="tok")
    await pieces_of(provider_for(server))
    assert server.calls()[0]["auths"] == ["bearer"]


@pytest.mark.usefixtures("no_key")
async def test_the_base_url_of_the_environment_is_used(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
):
    server = serve(say("a"))
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"{server.base_url}/v1/")
    provider = AnthropicProvider(Settings())
    assert (await provider.availability()).available
    await pieces_of(provider, request())
    assert server.calls()[0]["status"] == 200


async def test_a_closed_provider_connects_again(serve: Serve):
    server = serve(say("a"), say("b"))
    provider = provider_for(server)
    await pieces_of(provider)
    await provider.close()
    await pieces_of(provider)
    assert [call["status"] for call in server.calls()] == [200, 200]


async def test_a_line_break_at_the_end_of_a_key_does_no_harm(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ANTHROPIC_API_KEY", f"{KEY}\n")
    server = serve(say("a"), api_key=KEY)
    await pieces_of(provider_for(server))
    assert server.calls()[0]["status"] == 200


@pytest.mark.parametrize("variable", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"])
async def test_a_key_that_is_no_header_is_not_repeated(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, variable: str
):
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv(variable, "secret-value-0815\nmore")
    with pytest.raises(ProviderError) as caught:
        await pieces_of(provider_for(serve(say("a"))))
    logged = "".join(traceback.format_exception(caught.value))
    assert caught.value.code == "bad_header"
    assert "value-0815" not in logged + caught.value.hint
