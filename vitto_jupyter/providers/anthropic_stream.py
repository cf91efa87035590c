"""From the events of a Messages API stream to pieces and the answer. Pure; used by anthropic.py.

Blocks are built from the server's own JSON, so that what is sent back later is what came.
"""

from __future__ import annotations

import json
from typing import Any, get_args

from ..protocol.base import JsonObject, new_id
from .base import (
    Answer,
    Piece,
    StopReason,
    TextPiece,
    ThinkingPiece,
    TokenUsage,
    ToolInputPiece,
)

_STOP_REASONS = frozenset(get_args(StopReason))
_OTHER_WORDS: dict[str, StopReason] = {"tool_calls": "tool_use", "length": "max_tokens"}
_USAGE_FIELDS = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_input_tokens": "cache_read_tokens",
    "cache_creation_input_tokens": "cache_write_tokens",
}


def parse_event(text: str) -> dict[str, Any]:
    """The JSON object of one server-sent event; `{}` for what is not an object.

    Half of a surrogate pair cannot be encoded, so not be stored or sent back either: it is
    replaced here.

    Raises:
        ValueError: not JSON.
    """
    if text.strip() == "[DONE]":  # some servers end a stream in OpenAI's way
        return {}
    event = json.loads(text)
    if "\\ud" in text or "\\uD" in text:
        whole = json.dumps(event, ensure_ascii=False).encode("utf-16", "surrogatepass")
        event = json.loads(whole.decode("utf-16", "replace"))
    return event if isinstance(event, dict) else {}


class AnswerBuilder:
    """Collects one answer from its events.

    Unknown events, blocks and deltas are no error. `finished` is true after `message_stop`.
    """

    def __init__(self) -> None:
        self.finished = False
        self._blocks: dict[int, _Block] = {}
        self._usage: dict[str, int] = {}
        self._stop_reason: str | None = None
        self._stop_detail = ""

    def feed(self, event: dict[str, Any]) -> Piece | None:
        """Take the next event in; the piece to show, if it brought one."""
        match event.get("type"):
            case "content_block_delta":
                block = self._blocks.get(event.get("index", 0))
                return block.grow(event.get("delta") or {}) if block else None
            case "content_block_start":
                block = _Block(event.get("content_block") or {})
                self._blocks[event.get("index", len(self._blocks))] = block
                return block.first_piece()
            case "message_start":
                self._merge_usage((event.get("message") or {}).get("usage"))
            case "message_delta":
                self._merge_usage(event.get("usage"))
                self._note_stop(event.get("delta") or {})
            case "message_stop":
                self.finished = True
        return None

    def answer(self) -> Answer | None:
        """The answer; None when the server never said why it stopped: the stream was cut."""
        if self._stop_reason is None:
            return None
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        content: list[JsonObject] = []
        invalid_inputs: dict[str, str] = {}
        for block in blocks:
            whole, invalid_input = block.finish()
            content.append(whole)
            if invalid_input is not None:
                invalid_inputs[str(whole.get("id"))] = invalid_input
        return Answer(
            content=tuple(content),
            stop_reason=_stop_reason(self._stop_reason),
            usage=TokenUsage(**self._usage),
            stop_detail=self._stop_detail,
            invalid_inputs=invalid_inputs,
        )

    def _merge_usage(self, usage: Any) -> None:
        """Counts are cumulative and each is optional: what is missing keeps its last value."""
        if not isinstance(usage, dict):
            return
        for theirs, ours in _USAGE_FIELDS.items():
            if isinstance(usage.get(theirs), int):
                self._usage[ours] = usage[theirs]

    def _note_stop(self, delta: dict[str, Any]) -> None:
        self._stop_reason = delta.get("stop_reason") or self._stop_reason
        details = delta.get("stop_details")
        if isinstance(details, dict):
            self._stop_detail = str(details.get("explanation") or details.get("category") or "")


class _Block:
    """A content block while it grows. `json` holds the pieces of a call's input."""

    __slots__ = ("block", "json", "texts")

    def __init__(self, start: dict[str, Any]) -> None:
        self.block = dict(start)
        self.json: list[str] = []
        self.texts: dict[str, list[str]] = {}
        if self.block.get("type") == "tool_use" and not self.block.get("id"):
            self.block["id"] = new_id("toolu")

    def first_piece(self) -> Piece | None:
        match self.block.get("type"):
            case "tool_use":
                return self._input_piece("")
            case "text" if self.block.get("text"):
                return TextPiece(self.block["text"])
            case "thinking" if self.block.get("thinking"):
                return ThinkingPiece(self.block["thinking"])
        return None

    def grow(self, delta: dict[str, Any]) -> Piece | None:
        match delta.get("type"):
            case "text_delta":
                return TextPiece(text) if (text := self._append("text", delta)) else None
            case "input_json_delta":
                self.json.append(delta.get("partial_json") or "")
                return self._input_piece(self.json[-1]) if self.json[-1] else None
            case "thinking_delta":
                return ThinkingPiece(text) if (text := self._append("thinking", delta)) else None
            case "compaction_delta":
                self._append("content", delta)
            case "signature_delta":
                self.block["signature"] = delta.get("signature")
            case "citations_delta":
                cited = self.block.get("citations") or []
                self.block["citations"] = [*cited, delta.get("citation")]
        return None

    def finish(self) -> tuple[JsonObject, str | None]:
        """The whole block, and its input text when that is not a JSON object."""
        for field, pieces in self.texts.items():
            self.block[field] = (self.block.get(field) or "") + "".join(pieces)
        written = "".join(self.json)
        if not written.strip():
            return self.block, None
        parsed = _parse_input(written)
        self.block["input"] = parsed if parsed is not None else {}
        return self.block, written if parsed is None else None

    def _append(self, field: str, delta: dict[str, Any]) -> str:
        text = delta.get(field) or ""
        self.texts.setdefault(field, []).append(text)
        return text

    def _input_piece(self, partial_json: str) -> Piece | None:
        if self.block.get("type") != "tool_use":  # a tool that the server runs itself
            return None
        return ToolInputPiece(self.block["id"], str(self.block.get("name") or ""), partial_json)


def _parse_input(written: str) -> JsonObject | None:
    """A call's input; None when it is no JSON object or holds what JSON cannot carry back."""
    try:
        parsed = json.loads(written, parse_constant=_refuse_constant)
        json.dumps(parsed, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _stop_reason(given: str) -> StopReason:
    """`given`, or what another server means by its word for it; unknown words end the answer."""
    if given in _STOP_REASONS:
        return given  # type: ignore[return-value]
    return _OTHER_WORDS.get(given, "end_turn")
