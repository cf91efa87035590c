"""A provider that fails: the message says what happened and what to do; the session goes on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from lab import Lab, free_port, notebook
from messages_api import MessagesApi
from model_turns import say
from playwright.sync_api import expect

FILES = {"a.ipynb": notebook("1 + 1")}
FEW_RETRIES = ("--VittoApp.max_retries=1",)


@pytest.fixture(scope="module")
def unreachable_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    env = {
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{free_port()}",
        "ANTHROPIC_API_KEY": "test-key-never-shown",
    }
    with Lab(tmp_path_factory.mktemp("unreachable"), env=env, args=FEW_RETRIES) as server:
        yield server


@pytest.fixture(scope="module")
def wrong_key_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with MessagesApi({"turns": []}, api_key="another") as strict:
        env = {"ANTHROPIC_BASE_URL": strict.base_url, "ANTHROPIC_API_KEY": "test-key-never-shown"}
        with Lab(tmp_path_factory.mktemp("key"), env=env) as server:
            yield server


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_unreachable_provider_is_named_with_what_to_do(
    desk_on: Any, unreachable_lab: Lab, theme: str
) -> None:
    desk = desk_on(unreachable_lab, files=FILES).open("a.ipynb", theme=theme)
    desk.ask("Hello")
    expect(desk.vitto).to_contain_text("127.0.0.1")
    desk.finished()
    desk.shot(f"{theme}-unreachable")
    assert "test-key-never-shown" not in desk.page.content()
    assert "test-key-never-shown" not in unreachable_lab.log.read_text()


def test_a_bad_key_is_told_without_showing_it(desk_on: Any, wrong_key_lab: Lab) -> None:
    desk = desk_on(wrong_key_lab, files=FILES).open("a.ipynb")
    desk.ask("Hello")
    expect(desk.vitto).to_contain_text("key")
    desk.finished()
    expect(desk.vitto).to_contain_text("ANTHROPIC_API_KEY")
    desk.shot("bad-key")
    assert "test-key-never-shown" not in desk.page.content()
    assert "test-key-never-shown" not in wrong_key_lab.log.read_text()


def test_an_overloaded_server_is_retried_with_a_countdown(
    desk_on: Any, lab: Lab, script: Any
) -> None:
    fault = {"kind": "http", "status": 529, "retry_after": 3, "times": 1}
    api = script(say("Here at last.", fault=fault))
    desk = desk_on(lab, files=FILES).open("a.ipynb")
    desk.ask("Hello")
    expect(desk.vitto).to_contain_text("etrying in")
    desk.shot("retrying")
    expect(desk.vitto).to_contain_text("Here at last.")
    desk.finished()
    assert len(api.calls()) == 2


def test_a_cut_in_mid_stream_never_doubles_text(desk_on: Any, lab: Lab, script: Any) -> None:
    text = " ".join(f"word{n}." for n in range(40))
    script(say(text, fault={"kind": "cut", "after_events": 15, "times": 1}))
    desk = desk_on(lab, files=FILES).open("a.ipynb")
    desk.ask("Hello")
    expect(desk.vitto).to_contain_text("word39.")
    desk.finished()
    assert desk.vitto.inner_text().count("word3.") == 1


def test_a_server_error_is_calm_and_the_next_prompt_works(
    desk_on: Any, lab: Lab, script: Any
) -> None:
    fault = {"kind": "http", "status": 400, "message": "messages: this is not allowed"}
    script(say("Second answer.", fault=fault))  # the fault comes first, once
    desk = desk_on(lab, files=FILES).open("a.ipynb")
    desk.ask("Hello")
    desk.finished()
    desk.shot("server-error")
    assert "Traceback" not in desk.vitto.inner_text()
    desk.ask("And now?")
    expect(desk.vitto).to_contain_text("Second answer.")
