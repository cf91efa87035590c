"""Small real images for outputs, in base64."""

from __future__ import annotations

import base64
import io
import struct
import zlib

from PIL import Image


def png(width: int = 2, height: int = 2) -> str:
    """A grey PNG. The pixels of a very large one are not all there."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress((b"\0" + b"\x7f" * min(width, 4_000)) * min(height, 4_000))
    raw = b"\x89PNG\r\n\x1a\n"
    for name, data in ((b"IHDR", header), (b"IDAT", pixels), (b"IEND", b"")):
        raw += struct.pack(">I", len(data)) + name + data
        raw += struct.pack(">I", zlib.crc32(name + data))
    return base64.b64encode(raw).decode()


def picture(kind: str, width: int, height: int, *, mode: str = "RGB", frames: int = 1) -> str:
    """An image of noise-free colour in any format of Pillow; `frames` > 1 is animated."""
    images = [Image.new(mode, (width, height), at * 40) for at in range(frames)]
    written = io.BytesIO()
    more = {"save_all": True, "append_images": images[1:]} if frames > 1 else {}
    images[0].save(written, kind, **more)
    return base64.b64encode(written.getvalue()).decode()
