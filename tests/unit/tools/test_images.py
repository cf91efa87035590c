import base64
import io

import pytest
from pictures import picture, png
from PIL import Image

from vitto_jupyter.errors import DocumentNotFound
from vitto_jupyter.tools.images import (
    MAX_BASE64_CHARS,
    MAX_SIDE,
    Images,
    Unusable,
    fitted,
)


def _opened(found):
    return Image.open(io.BytesIO(base64.b64decode(found.data)))


def _noise(kind, width, height):
    image = Image.effect_noise((width, height), 90).convert("RGB")
    written = io.BytesIO()
    image.save(written, kind)
    return base64.b64encode(written.getvalue()).decode()


# -- what is sent --------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "media_type"), [("PNG", "image/png"), ("JPEG", "image/jpeg")])
def test_an_image_that_fits_is_sent_as_it_is(kind, media_type):
    data = picture(kind, 640, 480)
    assert fitted(media_type, f"{data[:70]}\n{data[70:]}\n") == fitted(media_type, data)
    assert fitted(media_type, data).data == data


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"])
def test_a_large_image_is_scaled_down(kind):
    found = fitted(f"image/{kind.lower()}", picture(kind, 3000, 1500))
    assert _opened(found).size == (MAX_SIDE, MAX_SIDE // 2)
    assert found.media_type == f"image/{_opened(found).format.lower()}"
    assert found.note.startswith("3000×1500 shown as 1568×784")


@pytest.mark.parametrize("kind", ["BMP", "TIFF"])
def test_a_format_that_the_api_does_not_take_becomes_png(kind):
    found = fitted(f"image/{kind.lower()}", picture(kind, 10, 10))
    assert found.media_type == "image/png" and _opened(found).size == (10, 10)


@pytest.mark.parametrize(("kind", "mode"), [("PNG", "I;16"), ("JPEG", "CMYK"), ("TIFF", "F")])
def test_odd_pixels_become_plain_ones(kind, mode):
    found = fitted(f"image/{kind.lower()}", picture(kind, 10, 10, mode=mode))
    assert _opened(found).mode in ("RGB", "RGBA")


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_of_an_animation_the_first_frame_is_sent(kind):
    found = fitted(f"image/{kind.lower()}", picture(kind, 20, 20, frames=3))
    assert found.note == "first of 3 frames" and found.media_type == "image/png"
    assert getattr(_opened(found), "n_frames", 1) == 1


def test_a_wrong_type_is_corrected():
    found = fitted("image/png", picture("JPEG", 20, 20))
    assert found.media_type == "image/jpeg" and _opened(found).format == "JPEG"


def test_what_does_not_shrink_as_png_becomes_jpeg():
    found = fitted("image/png", _noise("PNG", 1100, 1100))
    assert found.media_type == "image/jpeg" and len(found.data) <= MAX_BASE64_CHARS


def test_transparency_is_white_in_a_jpeg():
    size = (1100, 1100)
    noise = [Image.effect_noise(size, 90) for _ in range(3)]
    image = Image.merge("RGBA", (*noise, Image.new("L", size, 0)))
    written = io.BytesIO()
    image.save(written, "PNG")
    found = fitted("image/png", base64.b64encode(written.getvalue()).decode())
    shown = _opened(found).convert("RGB")
    assert found.media_type == "image/jpeg" and min(shown.getpixel((700, 700))) > 240


# -- what is not ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        "",
        "A",
        "????",
        "<script>",
        base64.b64encode(b"\x89PNG\r\n\x1a\n").decode(),
        base64.b64encode(b"GIF89a no png").decode(),
        base64.b64encode(base64.b64decode(picture("PNG", 300, 300))[:200]).decode(),
        base64.b64encode(base64.b64decode(_noise("JPEG", 300, 300))[:2_000]).decode(),
        base64.b64encode(b"<svg xmlns='http://www.w3.org/2000/svg'/>").decode(),
    ],
)
def test_what_is_broken_is_never_sent(data):
    with pytest.raises(Unusable, match="not a usable image"):
        fitted("image/png", data)


@pytest.mark.parametrize("size", [(8_000, 8_000), (30_000, 30_000)])
def test_a_decompression_bomb_is_refused_before_it_is_decoded(size):
    with pytest.raises(Unusable, match="too many"):
        fitted("image/png", png(*size))


# -- markers -------------------------------------------------------------------------------------


async def test_images_are_numbered_in_the_order_of_the_text():
    images = Images()
    tokens = [images.add("image/png", png(width)) for width in (2, 3, 4)]
    text = await images.placed(f"{tokens[0]}\n{tokens[2]}")
    assert text == "[image 1: image/png, 0 kB]\n[image 2: image/png, 0 kB]"
    assert [item["data"] for item in images.items] == [png(2), png(4)]


async def test_a_broken_image_takes_no_place():
    images = Images()
    tokens = [images.add("image/png", data, rest="R") for data in ["bad", *[png()] * 5]]
    lines = (await images.placed("\n".join(tokens))).split("\n")
    assert lines[0] == "[image left out: image/png, 0 kB, not a usable image]"
    assert lines[4].startswith("[image 4:")
    assert lines[5] == "[image left out: image/png, 0 kB, at most 4 per call; see it with R]"


async def test_an_image_whose_data_was_cut_is_fetched_when_it_is_shown():
    asked = []

    async def fetch(cell_id, index, media_type):
        asked.append((cell_id, index, media_type))
        return png()

    images = Images(fetch)
    token = images.add("image/png", "", total=200_000, cell_id="c1", index=3)
    unseen = images.add("image/png", "", total=200_000, cell_id="c2", index=0)
    assert await images.placed(token) == "[image 1: image/png, 150 kB]"
    assert asked == [("c1", 3, "image/png")] and unseen


async def test_an_image_that_cannot_be_fetched_is_named():
    async def fetch(cell_id, index, media_type):
        raise DocumentNotFound("The cell is gone.")

    images = Images(fetch)
    marker = await images.placed(images.add("image/png", "", total=200_000))
    assert marker == "[image left out: image/png, 150 kB, it could not be read: The cell is gone.]"
    assert images.items == []


async def test_a_huge_image_is_not_even_fetched():
    images = Images()
    marker = await images.placed(images.add("image/png", "", total=100_000_000))
    assert marker == "[image left out: image/png, 75,000 kB, too large]"
