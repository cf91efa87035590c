"""Secrets of the server's process stay out of results and live text."""

from __future__ import annotations

import base64

import pytest

from vitto_jupyter.agent.guard import Mask, MaskedText, secret_values
from vitto_jupyter.protocol.tool import ToolResult

SECRET = "sk-ant-0123456789abcdef"
MASK = Mask({"ANTHROPIC_API_KEY": SECRET})


def test_secrets_are_found_by_name() -> None:
    environment = {
        "AWS_SECRET_ACCESS_KEY": "0123456789",
        "DB_PASSWORD": "correct horse",
        "GITHUB_TOKEN": "short",
        "POSTGRES_PASSWORD": "postgres",
        "SSH_KEY_FILE": "/home/u/.ssh/id_rsa",
        "HOME": "/home/user",
    }
    assert set(secret_values(environment)) == {"AWS_SECRET_ACCESS_KEY", "DB_PASSWORD"}


@pytest.mark.parametrize("before", ["", "a", "ab", "abc"])
def test_a_secret_is_hidden_as_it_is_and_in_base64(before: str) -> None:
    assert MASK.text(f"{before}{SECRET}!") == f"{before}[ANTHROPIC_API_KEY is hidden]!"
    encoded = base64.b64encode(SECRET.encode()).decode()
    assert MASK.text(f"{before} {encoded}") == f"{before} [ANTHROPIC_API_KEY is hidden]"


def test_the_longer_of_two_secrets_counts() -> None:
    mask = Mask({"A_KEY": "01234567", "B_KEY": "0123456789"})
    assert mask.text("0123456789 01234567") == "[B_KEY is hidden] [A_KEY is hidden]"


def test_every_text_of_a_result_is_masked() -> None:
    result = ToolResult(
        success=False,
        output=SECRET,
        error=f"no {SECRET}",
        metadata={"cells": [{"reason": SECRET}], "count": 1, "images": [{"data": SECRET}]},
    )
    masked = MASK.result(result)
    assert SECRET not in f"{masked.output}{masked.error}{masked.metadata['cells']}"
    assert masked.metadata["images"] == [{"data": SECRET}]
    assert masked.metadata["count"] == 1


async def test_live_text_cut_anywhere_never_tells_a_secret() -> None:
    text = f"key={SECRET}, sk-and s"
    for first in range(len(text)):
        for second in range(first, len(text), 7):
            said: list[str] = []

            async def say(piece: str, said: list[str] = said) -> None:
                said.append(piece)

            live = MaskedText(MASK, say)
            for piece in (text[:first], text[first:second], text[second:]):
                await live.say(piece)
            await live.end()
            assert "".join(said) == "key=[ANTHROPIC_API_KEY is hidden], sk-and s"


async def test_text_without_secrets_is_not_held_back() -> None:
    said: list[str] = []

    async def say(piece: str) -> None:
        said.append(piece)

    await MaskedText(Mask(), say).say("sk-ant-")
    assert said == ["sk-ant-"]
