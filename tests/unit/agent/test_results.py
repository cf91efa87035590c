"""Tool results as the model reads them."""

from __future__ import annotations

import json

from vitto_jupyter.agent.results import RESULT_CHARS, result_block, storable
from vitto_jupyter.agent.texts import capped
from vitto_jupyter.tools.base import done, failed

IMAGE = {"media_type": "image/png", "data": "aGk="}


def text_of(block: dict) -> str:
    return block["content"][0]["text"]


def test_output_of_a_success_is_the_text() -> None:
    assert result_block("a", done("42", path="x.py")) == {
        "type": "tool_result",
        "tool_use_id": "a",
        "content": [{"type": "text", "text": "42"}],
    }


def test_failure_shows_the_error_first_then_the_output() -> None:
    block = result_block("a", failed("It broke.", output="line 1"))
    assert text_of(block) == "It broke.\n\nline 1"
    assert block["is_error"] is True


def test_empty_output_is_said() -> None:
    assert text_of(result_block("a", done(""))) == "(no output)"


def test_images_become_image_blocks_after_the_text() -> None:
    block = result_block("a", done("A plot.", images=[IMAGE]))
    assert block["content"][1] == {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
    }


def test_images_alone_need_no_text() -> None:
    (only,) = result_block("a", done("", images=[IMAGE]))["content"]
    assert only["type"] == "image"


def test_images_of_a_failed_run_are_seen_too_and_the_failure_is_said_in_words() -> None:
    block = result_block("a", failed("It broke.", images=[IMAGE, IMAGE]))
    assert [part["type"] for part in block["content"]] == ["text", "image", "image"]
    assert text_of(block) == "The call failed. It broke."
    assert "is_error" not in block  # the API refuses a request with images beside it


def test_long_text_keeps_head_and_tail_and_says_how_much_is_missing() -> None:
    text = text_of(result_block("a", done("a" * 50_000 + "b" * 50_000)))
    assert len(text) < RESULT_CHARS + 100
    assert text.startswith("aaa") and text.endswith("bbb")
    assert "[… 40,000 characters left out …]" in text


def test_error_survives_a_huge_output() -> None:
    assert text_of(result_block("a", failed("It broke.", output="x" * 10**6))).startswith(
        "It broke."
    )


def test_text_at_the_limit_is_whole() -> None:
    assert capped("abcd", 4) == "abcd"
    assert capped("abcdef", 4) == "ab\n[… 2 characters left out …]\nef"


def test_half_surrogate_pairs_can_neither_break_the_trail_nor_a_request() -> None:
    result = storable(failed("e\udcff", output="😀\ud83d", paths=["x\udc80"]))
    result.model_dump_json()
    json.dumps(result_block("a", result), ensure_ascii=False).encode()
    assert result.output == "😀?"
    assert result.metadata == {"paths": ["x?"]}
