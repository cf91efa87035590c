"""Images of outputs: which of them a model is shown, and in what size.

A model API refuses a whole request over one broken image, and then every later request of the
conversation too; so nothing is attached that has not been decoded. Pillow is imported on first
use, and works in a thread.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import io
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from ..errors import ToolError
from ..protocol.base import JsonObject

MAX_IMAGES = 4
MAX_BASE64_CHARS = 1_500_000
# Larger ones are scaled down by the API anyway, and only cost time.
MAX_SIDE = 1568
_MAX_PIXELS = 50_000_000
_MAX_FETCHED_CHARS = 48_000_000
_API_SIDE = 8000
_SIGNATURES = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}
_FORMATS = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}
_PLAIN_MODES = ("1", "L", "LA", "P", "RGB", "RGBA")
# Of displays; what the API does not take is re-encoded.
MEDIA_TYPES = (*_SIGNATURES, "image/bmp", "image/tiff")

# The base64 text of an image that was left out of its output: cell id, index, media type.
Fetch = Callable[[str, int, str], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class _Asked:
    """An image that may be shown. `total` is the length of its base64 text; `rest` how to see it
    when there is no room."""

    token: str
    media_type: str
    data: str
    total: int
    cell_id: str
    index: int
    rest: str


@dataclass(frozen=True, slots=True)
class Picture:
    """An image as a model API takes it; `note` says how it differs from the original."""

    media_type: str
    data: str
    note: str = ""


class Unusable(Exception):
    """The image cannot be shown; the text says why."""


class Images:
    """Collects the images of one result; `items` goes into `metadata["images"]`.

    `add` gives a token for the text; `placed` decodes those that are still in it.
    """

    def __init__(self, fetch: Fetch | None = None) -> None:
        self.items: list[JsonObject] = []
        self._fetch = fetch
        self._asked: list[_Asked] = []

    def add(
        self,
        media_type: str,
        data: str,
        *,
        total: int = 0,
        cell_id: str = "",
        index: int = 0,
        rest: str = "",
    ) -> str:
        """Ask for an image; the token that is returned stands for its marker."""
        # NUL is in no text of an output: `plain` takes it away.
        token = f"\0image {len(self._asked)}\0"
        size = max(total, len(data))
        self._asked.append(_Asked(token, media_type, data, size, cell_id, index, rest))
        return token

    async def placed(self, text: str) -> str:
        """`text` with a marker for each token; the images are in `items` then, in this order."""
        for asked in self._asked:
            if asked.token in text:
                text = text.replace(asked.token, await self._marker(asked))
        return text

    async def _marker(self, asked: _Asked) -> str:
        size = f"{asked.media_type}, {asked.total * 3 // 4 / 1000:,.0f} kB"
        try:
            if len(self.items) >= MAX_IMAGES:
                see = f"; see it with {asked.rest}" if asked.rest else ""
                raise Unusable(f"at most {MAX_IMAGES} per call{see}")
            data = await self._data(asked)
            picture = await asyncio.to_thread(fitted, asked.media_type, data)
        except Unusable as err:
            return f"[image left out: {size}, {err}]"
        self.items.append({"media_type": picture.media_type, "data": picture.data})
        note = f", {picture.note}" if picture.note else ""
        return f"[image {len(self.items)}: {size}{note}]"

    async def _data(self, asked: _Asked) -> str:
        if asked.total > _MAX_FETCHED_CHARS:
            raise Unusable("too large")
        if asked.data or not asked.total:
            return asked.data
        if self._fetch is None:
            raise Unusable("its data is not at hand")
        try:
            return await self._fetch(asked.cell_id, asked.index, asked.media_type)
        except ToolError as err:
            raise Unusable(f"it could not be read: {err.message}") from err


def can_be_shown(media_type: str, data: str) -> bool:
    """True when the header of base64 `data` is what `media_type` says, of a usable size."""
    signature = _SIGNATURES.get(media_type)
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return False
    if signature is None or not raw.startswith(signature):
        return False
    sides = _size_of(media_type, raw)
    return sides is None or all(0 < side <= _API_SIDE for side in sides)


def fitted(media_type: str, data: str) -> Picture:
    """The image in base64 `data` as a model API takes it: itself, or scaled and re-encoded.

    Slow for large ones: never on the event loop.

    Raises:
        Unusable: it is broken, or too large to decode.
    """
    from PIL import Image

    data = "".join(data.split())
    try:
        raw = base64.b64decode(data, validate=True)
        with Image.open(io.BytesIO(raw), formats=[*_FORMATS, "BMP", "TIFF"]) as image:
            width, height = image.size
            if width * height > _MAX_PIXELS:
                raise Unusable(f"{width:,}×{height:,} pixels are too many")
            frames = getattr(image, "n_frames", 1)
            found = _FORMATS.get(image.format or "", "")
            image.draft("RGB", (MAX_SIDE, MAX_SIDE))
            image.load()
            as_it_is = frames == 1 and found == media_type and image.mode in _PLAIN_MODES
            if as_it_is and max(width, height) <= MAX_SIDE and len(data) <= MAX_BASE64_CHARS:
                return Picture(media_type, data)
            notes = [f"first of {frames:,} frames"] if frames > 1 else []
            return _encoded(image, (width, height), notes, photo=found == "image/jpeg")
    except Image.DecompressionBombError as err:
        raise Unusable("its pixels are too many") from err
    except (OSError, ValueError, SyntaxError, EOFError, IndexError, struct.error) as err:
        raise Unusable("not a usable image") from err


def _encoded(image, size: tuple[int, int], notes: list[str], *, photo: bool) -> Picture:  # type: ignore[no-untyped-def]
    """PNG, or JPEG when that is a photo or the PNG would be too large."""
    side = MAX_SIDE
    small = image.convert(
        "RGBA" if image.mode in ("P", "LA", "PA", "RGBA", "La", "RGBa") else "RGB"
    )
    while side >= 100:
        small.thumbnail((side, side))
        if small.size != size:
            scaled = [f"{size[0]}×{size[1]} shown as {small.width}×{small.height}"]
        else:
            scaled = []
        for kind in ("JPEG",) if photo else ("PNG", "JPEG"):
            data = _base64(small, kind)
            if len(data) <= MAX_BASE64_CHARS:
                return Picture(_FORMATS[kind], data, ", ".join([*notes, *scaled]))
        side //= 2
    raise Unusable("too large")


def _base64(image, kind: str) -> str:  # type: ignore[no-untyped-def]
    from PIL import Image

    if kind == "JPEG" and image.mode == "RGBA":
        white = Image.new("RGB", image.size, "white")
        white.paste(image, mask=image.getchannel("A"))
        image = white
    written = io.BytesIO()
    image.save(written, kind, **({"quality": 85} if kind == "JPEG" else {}))
    return base64.b64encode(written.getvalue()).decode()


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
