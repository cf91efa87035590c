"""Tools as the wire sees them: effect and result."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .base import JsonObject, Wire

Effect = Literal["read", "write", "execute"]


class Image(Wire):
    """An image of a result; `data` is base64 without line breaks."""

    media_type: Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
    data: str


class ToolResult(Wire):
    """What every tool answers.

    `output` is text that the model can act on; `error` says what went wrong and what to do
    instead, null on success; `metadata` is for the UI and never sent to the model, except
    `images` (a list of `Image`), which become image blocks.
    """

    success: bool
    output: str = ""
    error: str | None = None
    metadata: JsonObject = Field(default_factory=dict)
