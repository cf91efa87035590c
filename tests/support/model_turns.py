"""Short ways to write what the scripted model says, see messages_api."""

from __future__ import annotations

from typing import Any


def say(text: str, **more: Any) -> dict[str, Any]:
    return {"blocks": [{"type": "text", "text": text}], **more}


def call(tool: str, tool_input: dict[str, Any], text: str = "", **more: Any) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    return {"blocks": [*blocks, {"type": "tool_use", "name": tool, "input": tool_input}], **more}


def last_user_text(request: dict[str, Any]) -> str:
    """All text of the last message of a recorded request, tool results included."""
    texts: list[str] = []
    for block in request["body"]["messages"][-1]["content"]:
        content = block.get("content", block.get("text", ""))
        parts = content if isinstance(content, list) else [{"text": content}]
        texts += [str(part.get("text", "")) for part in parts]
    return "\n".join(texts)
