"""Values shared by the scripted Messages API: errors, ids, token estimates, blocks."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
import struct
import time
from typing import Any

MAX_BODY = 32 * 1024 * 1024
VERSIONS = ("2023-06-01", "2026-10-21")
TOOL_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,128}$")
TOOL_ID = re.compile(r"^[a-zA-Z0-9_-]+$")
IMAGE_TYPES = {"image/jpeg", "image/png", "image/gif", "image/webp"}
CHARS_PER_TOKEN = 3.0


class ApiError(Exception):
    def __init__(self, status: int, etype: str, message: str, headers: dict | None = None) -> None:
        super().__init__(message)
        self.status, self.etype, self.message, self.headers = status, etype, message, headers or {}

    def body(self, request_id: str) -> dict:
        return {
            "type": "error",
            "error": {"type": self.etype, "message": self.message},
            "request_id": request_id,
        }


def bad(message: str) -> ApiError:
    return ApiError(400, "invalid_request_error", message)


STATUS_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    502: "api_error",
    503: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
STATUS_TEXT = {
    429: "This request would exceed your organization's rate limit.",
    529: "Overloaded",
    500: "Internal server error",
    413: "Request exceeds the maximum size",
}

_ids = itertools.count(1)


def new_id(prefix: str) -> str:
    raw = hashlib.sha256(f"{prefix}{next(_ids)}{time.time_ns()}".encode()).digest()
    return f"{prefix}_01" + base64.b32encode(raw).decode().rstrip("=").lower()[:22]


def tokens_of(value: Any) -> int:
    """A stable estimate, not the real tokenizer."""
    if isinstance(value, str):
        return max(1, round(len(value) / CHARS_PER_TOKEN)) if value else 0
    return tokens_of(json.dumps(value, ensure_ascii=False, sort_keys=True))


def block_tokens(block: Any) -> int:
    if isinstance(block, str):
        return tokens_of(block)
    kind = block.get("type")
    if kind == "image":
        return 1600
    if kind == "document":
        src = block.get("source", {})
        return tokens_of(src.get("data", "")) if src.get("type") == "text" else 3000
    if kind == "tool_result" and isinstance(block.get("content"), list):
        return 8 + sum(block_tokens(b) for b in block["content"])
    if kind == "thinking":
        return tokens_of(block.get("thinking", "")) + 4
    return tokens_of(
        {k: v for k, v in block.items() if k not in ("cache_control", "signature", "id")}
    )


def strip_marks(value: Any) -> Any:
    """What the prefix check and the cache look at: no cache marks, nulls or private keys."""
    if isinstance(value, dict):
        return {
            k: strip_marks(v)
            for k, v in value.items()
            if k != "cache_control" and v is not None and not k.startswith("_")
        }
    if isinstance(value, list):
        return [strip_marks(v) for v in value]
    return value


def digest(*parts: Any) -> str:
    return hashlib.sha256(
        json.dumps(parts, ensure_ascii=False, sort_keys=True).encode()
    ).hexdigest()


def as_blocks(content: Any) -> list:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or [])


def image_size(raw: bytes) -> tuple[str, int, int]:
    """(media type, width, height) from the first bytes; ("", 0, 0) if it's none of the four."""
    try:
        if raw[:8] == b"\x89PNG\r\n\x1a\n":
            return ("image/png", *struct.unpack(">II", raw[16:24]))
        if raw[:6] in (b"GIF87a", b"GIF89a"):
            return ("image/gif", *struct.unpack("<HH", raw[6:10]))
        if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
            return ("image/webp", 0, 0)
        if raw[:2] == b"\xff\xd8":
            i = 2
            while i + 9 < len(raw):
                marker, size = raw[i + 1], struct.unpack(">H", raw[i + 2 : i + 4])[0]
                if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
                    h, w = struct.unpack(">HH", raw[i + 5 : i + 9])
                    return ("image/jpeg", w, h)
                i += 2 + size
            return ("image/jpeg", 0, 0)
    except struct.error:
        pass
    return ("", 0, 0)


def contains_key(value: Any, key: str) -> bool:
    """Whether an object anywhere inside `value` has this key."""
    if isinstance(value, dict):
        return key in value or any(contains_key(v, key) for v in value.values())
    return isinstance(value, list) and any(contains_key(v, key) for v in value)
