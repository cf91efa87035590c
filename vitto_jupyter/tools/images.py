"""Images of outputs: which of them a model can be shown. Pure.

A model API refuses a whole request over one broken image, and then every later request of the
conversation too; so nothing is attached that has not been looked at.
"""

from __future__ import annotations

import base64
import binascii
import struct

from ..protocol.base import JsonObject

MAX_IMAGES = 4
MAX_BASE64_CHARS = 1_500_000
_MAX_SIDE = 8000
_SIGNATURES = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}
MEDIA_TYPES = tuple(_SIGNATURES)


class Images:
    """Collects the images of one result; `items` goes into `metadata["images"]`."""

    def __init__(self) -> None:
        self.items: list[JsonObject] = []

    def add(self, media_type: str, data: str) -> str:
        """Take the image if it can be shown; returns the marker for the text."""
        data = "".join(data.split())
        size = f"{media_type}, {len(data) * 3 // 4 / 1000:,.0f} kB"
        if len(data) > MAX_BASE64_CHARS:
            return f"[image left out: {size}, too large]"
        if len(self.items) >= MAX_IMAGES:
            return f"[image left out: {size}, at most {MAX_IMAGES} per call]"
        if not can_be_shown(media_type, data):
            return f"[image left out: {size}, not a usable image]"
        self.items.append({"media_type": media_type, "data": data})
        return f"[image {len(self.items)}: {size}]"


def can_be_shown(media_type: str, data: str) -> bool:
    """True when base64 `data` is what `media_type` (one of MEDIA_TYPES) says, of a usable size."""
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return False
    if not raw.startswith(_SIGNATURES[media_type]):
        return False
    sides = _size_of(media_type, raw)
    return sides is None or all(0 < side <= _MAX_SIDE for side in sides)


def _size_of(media_type: str, raw: bytes) -> tuple[int, int] | None:
    """Width and height in pixels; None when the header does not say it simply."""
    if media_type == "image/png" and len(raw) >= 24:
        return struct.unpack(">II", raw[16:24])
    if media_type == "image/gif" and len(raw) >= 10:
        return struct.unpack("<HH", raw[6:10])
    if media_type == "image/jpeg":
        return _jpeg_size(raw)
    return None


def _jpeg_size(raw: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(raw) and raw[at] == 0xFF:
        marker, length = raw[at + 1], int.from_bytes(raw[at + 2 : at + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", raw[at + 5 : at + 9])
            return width, height
        at += 2 + length
    return None
