"""Events of a turn as the one-shot form tells them to thin clients. Pure."""

from __future__ import annotations

import json
from collections.abc import Set
from dataclasses import dataclass, field

from ..protocol.base import JsonObject
from ..protocol.events import (
    AnyEvent,
    ApprovalRequested,
    QuestionAsked,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolRequested,
    ToolStarted,
    TurnFinished,
)


@dataclass(slots=True)
class Translator:
    """Turns events into messages `{type, …}`.

    A tool run by the client is told as `tool_use` only when it is to run: after policy has
    passed it, never before. One that the server runs is told when the model asks for it
    (`tool_use`) and again when it starts (`tool_start`).
    """

    client_tools: Set[str]
    _calls: dict[str, ToolRequested] = field(default_factory=dict)
    _text: str = ""

    def messages(self, event: AnyEvent) -> tuple[JsonObject, ...]:
        match event:
            case TextDelta():
                self._text += event.text
                return ({"type": "text", "content": event.text},)
            case ThinkingDelta():
                return ({"type": "thinking", "content": event.text},)
            case ToolRequested():
                self._calls[event.tool_call_id] = event
                self._text = ""  # the summary is what is said after the last call
                return () if event.name in self.client_tools else (_call("tool_use", event),)
            case ToolStarted():
                call = self._calls[event.tool_call_id]
                kind = "tool_use" if call.name in self.client_tools else "tool_start"
                return (_call(kind, call),)
            case ApprovalRequested():
                return (_approval(event),)
            case QuestionAsked():
                return (_question(event),)
            case ToolFinished():
                call = self._calls[event.tool_call_id]
                result = event.result.model_dump(mode="json")
                return (
                    {
                        "type": "tool_result",
                        "id": event.tool_call_id,
                        "name": call.name,
                        "result": result,
                    },
                )
            case TurnFinished():
                return (self._end(event),)
        return ()

    def _end(self, event: TurnFinished) -> JsonObject:
        if event.reason == "done":
            return {"type": "done", "summary": self._text.strip()}
        if event.reason == "cancelled":
            return {"type": "cancelled"}
        error = event.error
        message = f"{error.message} {error.hint}".strip() if error else "The turn failed."
        return {"type": "error", "message": message, "code": error.code if error else "internal"}


def _call(kind: str, call: ToolRequested) -> JsonObject:
    return {"type": kind, "id": call.tool_call_id, "name": call.name, "input": call.input}


def _question(event: QuestionAsked) -> JsonObject:
    """It waits for `PUT sessions/{session_id}/questions/{question_id}`."""
    return {
        "type": "question",
        "question_id": event.question_id,
        "id": event.tool_call_id,
        "prompt": event.prompt,
        "secret": event.secret,
        "choices": [choice.model_dump() for choice in event.choices],
    }


def _approval(event: ApprovalRequested) -> JsonObject:
    """The turn waits for `PUT sessions/{session_id}/approvals/{approval_id}`."""
    return {
        "type": "approval",
        "approval_id": event.approval_id,
        "id": event.tool_call_id,
        "title": event.title,
        "preview": event.preview.model_dump(mode="json"),
        "digest": event.digest,
    }


def encode(message: JsonObject) -> bytes:
    """One line of JSON in ASCII: no character in it can end the line."""
    return json.dumps(message, separators=(",", ":")).encode("ascii")
