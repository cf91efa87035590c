"""Model lists of Anthropic and of local servers as ModelInfo, and which is the default."""

from __future__ import annotations

from typing import Any

from vitto_jupyter.providers.anthropic_models import model_infos, rows_of
from vitto_jupyter.providers.base import ModelInfo


def claude(model_id: str, line: str | None, created: str, **more: Any) -> dict[str, Any]:
    row = {"id": model_id, "line": line, "created_at": created, "lifecycle": "active"}
    return {"type": "model", "display_name": model_id.title(), **row, **more}


def ids(rows: list[dict[str, Any]], wanted: str = "") -> list[str]:
    return [info.id for info in model_infos(rows, wanted)]


ROWS = [
    claude("claude-opus-5", "opus", "2026-07-24"),
    claude("claude-sonnet-5", "sonnet", "2026-06-30"),
    claude("claude-sonnet-5-5", "sonnet", "2026-09-15"),
    claude("claude-haiku-5-5", "haiku", "2026-10-01"),
]


def test_capabilities_are_read_from_the_list():
    row = claude(
        "claude-sonnet-5-5",
        "sonnet",
        "2026-09-15",
        max_input_tokens=1_000_000,
        max_tokens=128_000,
        capabilities={
            "effort": {
                "supported": True,
                "low": {"supported": True},
                "max": {"supported": True},
                "xhigh": None,
                "high": {"supported": False},
            },
            "image_input": {"supported": False},
            "thinking": {
                "supported": True,
                "types": {"adaptive": {"supported": True}, "enabled": {"supported": True}},
            },
        },
    )
    assert model_infos([row], "") == (
        ModelInfo(
            id="claude-sonnet-5-5",
            label="Claude-Sonnet-5-5",
            context_tokens=1_000_000,
            output_tokens=128_000,
            efforts=("low", "max"),
            thinking="adaptive",
            images=False,
        ),
    )


def test_the_newest_sonnet_is_the_default_and_the_rest_keeps_its_order():
    assert ids(ROWS) == [
        "claude-sonnet-5-5",
        "claude-opus-5",
        "claude-sonnet-5",
        "claude-haiku-5-5",
    ]


def test_without_a_sonnet_the_newest_opus_is_the_default():
    rows = [ROWS[3], ROWS[0], claude("claude-opus-5-5", "opus", "2026-09-01")]
    assert ids(rows)[0] == "claude-opus-5-5"


def test_a_deprecated_model_is_no_default_and_a_retired_one_is_not_listed():
    rows = [
        claude("claude-sonnet-9", "sonnet", "2027-01-01", lifecycle="deprecated"),
        claude("claude-sonnet-8", "sonnet", "2026-12-01", lifecycle="retired"),
        *ROWS,
    ]
    listed = ids(rows_of({"data": rows}))
    assert listed[0] == "claude-sonnet-5-5"
    assert "claude-sonnet-9" in listed and "claude-sonnet-8" not in listed


def test_the_configured_model_comes_first_whether_listed_or_not():
    assert ids(ROWS, "claude-haiku-5-5")[0] == "claude-haiku-5-5"
    assert ids(ROWS, "my-own")[0] == "my-own"
    assert ids([], "my-own") == ["my-own"]


def test_an_empty_list_is_empty():
    assert model_infos([], "") == ()


def test_a_list_of_ids_gives_models_of_unknown_capabilities():
    rows = rows_of({"object": "list", "data": [{"id": "qwen3:8b", "object": "model"}]})
    assert model_infos(rows, "") == (ModelInfo(id="qwen3:8b", label="qwen3:8b", images=False),)


def test_a_gateway_that_lists_ids_of_claude_gets_the_same_default():
    rows = rows_of({"data": [{"id": "claude-haiku-5-5"}, {"id": "claude-sonnet-5-5"}]})
    infos = model_infos(rows, "")
    assert infos[0].id == "claude-sonnet-5-5"
    assert infos[0].images


def test_other_shapes_are_read_too():
    assert ids(rows_of({"models": [{"name": "a", "model": "a:latest"}]})) == ["a:latest"]
    assert rows_of({"data": None}) == rows_of("<html>") == rows_of({"data": [3, {}]}) == []


def test_a_window_is_found_under_the_names_that_servers_use():
    rows = [{"id": "a", "context_length": 32_768}, {"id": "b", "max_context_length": 4_096}]
    assert [info.context_tokens for info in model_infos(rows, "")] == [32_768, 4_096]
