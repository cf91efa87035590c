"""Tool results as the model reads them. Pure."""

from __future__ import annotations

from ..protocol.base import JsonObject
from ..protocol.tool import ToolResult
from .texts import capped, clean, clean_json

RESULT_CHARS = 60_000


def storable(result: ToolResult) -> ToolResult:
    """`result` in a form that can be written and sent whatever a kernel or file held."""
    return ToolResult(
        success=result.success,
        output=clean(result.output),
        error=None if result.error is None else clean(result.error),
        metadata=_object(clean_json(result.metadata)),
    )


def result_block(tool_call_id: str, result: ToolResult) -> JsonObject:
    """The `tool_result` block of a result.

    Metadata stays out, but for `images`. The API refuses images beside `is_error`; a failed
    result with images therefore says in words that the call failed.
    """
    images = _images(result)
    text = _text(result)
    if images and not result.success:
        text = f"The call failed. {text}"
    content: list[JsonObject] = []
    if text.strip() or not images:
        content.append({"type": "text", "text": text if text.strip() else "(no output)"})
    block: JsonObject = {
        "type": "tool_result",
        "tool_use_id": tool_call_id,
        "content": [*content, *(_image_block(image) for image in images)],
    }
    return block if result.success or images else {**block, "is_error": True}


def _text(result: ToolResult) -> str:
    parts = [part for part in (result.error, result.output) if part and part.strip()]
    return capped("\n\n".join(parts), RESULT_CHARS)


def _images(result: ToolResult) -> list[JsonObject]:
    images = result.metadata.get("images")
    if not isinstance(images, list):
        return []
    return [image for image in images if isinstance(image, dict) and image.get("data")]


def _image_block(image: JsonObject) -> JsonObject:
    source: JsonObject = {
        "type": "base64",
        "media_type": image.get("media_type"),
        "data": image.get("data"),
    }
    return {"type": "image", "source": source}


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}
