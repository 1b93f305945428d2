"""What is made of uploads: small, upright, plain; and whatever is no picture is refused, whatever it claims."""

from __future__ import annotations

import asyncio
import hashlib
import io
import struct
import threading
import zlib
from typing import Any

import pytest
from PIL import Image

from app.resilience import Limiter, LimiterConfig
from app.shop.desk.pictures import SIDE_MOST
from app.shop.errors import Invalid, Unavailable
from app.stores.darkroom import PillowDarkroom, developed

RED, BLUE = (220, 30, 30), (30, 30, 220)


def encoded(picture: Image.Image, kind: str, **options: Any) -> bytes:
    out = io.BytesIO()
    picture.save(out, kind, **options)
    return out.getvalue()


def halves(mode: str = "RGB", size: tuple[int, int] = (80, 40)) -> Image.Image:
    """Red on the left, blue on the right."""
    picture = Image.new("RGB", size, RED)
    picture.paste(BLUE, (size[0] // 2, 0, *size))
    return picture.convert(mode)


def opened(upload: bytes) -> Image.Image:
    """What is kept of it, decoded again."""
    kept = developed(upload)
    assert kept.digest == hashlib.sha256(kept.content).hexdigest()
    picture = Image.open(io.BytesIO(kept.content), formats=["WEBP"])
    picture.load()
    assert picture.size == (kept.width, kept.height)
    return picture


def is_near(found: Any, wanted: tuple[int, ...]) -> bool:
    return all(abs(a - b) < 40 for a, b in zip(found[:3], wanted, strict=False))


@pytest.mark.parametrize(
    ("kind", "mode"),
    [
        ("JPEG", "RGB"), ("JPEG", "L"), ("JPEG", "CMYK"), ("PNG", "RGB"), ("PNG", "RGBA"), ("PNG", "P"), ("PNG", "1"),
        ("PNG", "LA"), ("GIF", "P"), ("WEBP", "RGB"), ("WEBP", "RGBA"),
    ],
)  # fmt: skip
def test_pictures_of_every_kind_are_kept_as_one_kind(kind: str, mode: str) -> None:
    kept = opened(encoded(halves(mode), kind))
    assert kept.size == (80, 40)
    if mode not in {"L", "1", "LA"}:
        assert is_near(kept.convert("RGB").getpixel((10, 20)), RED)
        assert is_near(kept.convert("RGB").getpixel((70, 20)), BLUE)


def test_sixteen_bits_of_grey_stay_grey() -> None:
    grey = Image.new("I;16", (20, 20), 32_768)
    found = opened(encoded(grey, "PNG")).convert("RGB").getpixel((5, 5))
    assert is_near(found, (128, 128, 128))


def test_what_is_clear_stays_clear() -> None:
    clear = Image.new("RGBA", (20, 20), (0, 0, 0, 0))
    assert opened(encoded(clear, "PNG")).convert("RGBA").getpixel((5, 5)) == (0, 0, 0, 0)


def test_a_large_picture_is_made_small_and_a_small_one_is_left() -> None:
    assert opened(encoded(halves(size=(4000, 1000)), "JPEG")).size == (SIDE_MOST, SIDE_MOST // 4)
    assert opened(encoded(halves(size=(3, 2)), "PNG")).size == (3, 2)


def test_a_picture_stands_as_its_camera_was_held_and_tells_nothing_else() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # held upright: to be turned to the right
    exif[0x010F] = "Máy của Ánh"
    exif.get_ifd(0x8825)[2] = (21.0, 1.0, 42.0)  # where it was taken
    upload = encoded(halves(), "JPEG", exif=exif, comment=b"secret comment", icc_profile=b"secret profile")
    kept = opened(upload)
    assert kept.size == (40, 80)
    assert is_near(kept.getpixel((20, 5)), RED)
    assert is_near(kept.getpixel((20, 75)), BLUE)
    content = developed(upload).content
    for told in (b"EXIF", b"XMP ", b"ICCP", b"secret", "Ánh".encode()):
        assert told not in content


def test_of_what_moves_the_first_frame_is_kept() -> None:
    frames = [Image.new("RGB", (30, 30), colour) for colour in (RED, BLUE, RED)]
    for kind in ("GIF", "WEBP", "PNG"):
        moving = encoded(frames[0], kind, save_all=True, append_images=frames[1:], duration=50)
        kept = opened(moving)
        assert getattr(kept, "n_frames", 1) == 1
        assert is_near(kept.convert("RGB").getpixel((5, 5)), RED)


def test_what_hangs_on_behind_a_picture_is_left_behind() -> None:
    """A file that is a picture and a page, or an archive, at once."""
    page = b"<script>alert(1)</script>"
    for tail in (page, b"PK\x03\x04" + page, b"%PDF-1.7" + page):
        for kind in ("JPEG", "PNG", "GIF"):
            assert page not in developed(encoded(halves(), kind) + tail).content


def png_claiming(width: int, height: int) -> bytes:
    """A PNG of some hundred bytes whose head claims that size."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(bytes(4096), 9)) + chunk(b"IEND", b"")


@pytest.mark.parametrize("size", [(40_001, 1_000), (10_000, 10_000), (65_535, 65_535)])
def test_a_bomb_is_refused_by_its_head(size: tuple[int, int]) -> None:
    with pytest.raises(Invalid) as refused:
        developed(png_claiming(*size))
    assert refused.value.code == "picture_large"


@pytest.mark.parametrize("kind", ["BMP", "TIFF", "ICO", "PPM", "TGA", "PCX", "EPS", "PDF"])
def test_real_pictures_of_other_kinds_are_refused(kind: str) -> None:
    """Their decoders are never asked, whatever they could do."""
    with pytest.raises(Invalid) as refused:
        developed(encoded(halves(size=(16, 16)), kind))
    assert refused.value.code == "picture_unreadable"


def test_a_hundred_million_real_pixels_are_refused_before_they_are_decoded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    huge = encoded(Image.new("1", (10_000, 10_000)), "PNG")
    assert len(huge) < 20_000
    monkeypatch.setattr(Image.Image, "convert", None)  # whoever decodes, ends here
    monkeypatch.setattr(Image.Image, "thumbnail", None)
    with pytest.raises(Invalid) as refused:
        developed(huge)
    assert refused.value.code == "picture_large"


SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>'


@pytest.mark.parametrize(
    "upload",
    [
        b"", b"\0", SVG, b'<?xml version="1.0"?>' + SVG, b"<html></html>", b"\xff\xd8\xff", b"GIF89a", b"RIFF\0\0\0\0WEBP",
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", b"BM" + bytes(60), b"II*\0" + bytes(60), b"\0\0\1\0" + bytes(60),
        b"8BPS" + bytes(60), bytes(range(256)) * 40, png_claiming(0, 5), png_claiming(100, 100)[:60],
    ],
)  # fmt: skip
def test_what_is_no_picture_is_refused(upload: bytes) -> None:
    with pytest.raises(Invalid) as refused:
        developed(upload)
    assert refused.value.code == "picture_unreadable"


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "WEBP"])
def test_a_picture_cut_short_or_damaged_anywhere_is_refused_or_kept_whole(kind: str) -> None:
    whole = encoded(halves(size=(64, 48)), kind)
    for cut in range(1, len(whole) - 20, max(1, len(whole) // 25)):
        with pytest.raises(Invalid):
            developed(whole[:cut])
    for place in range(0, len(whole), max(1, len(whole) // 60)):
        hurt = bytearray(whole)
        hurt[place] ^= 0xFF
        try:
            kept = developed(bytes(hurt))
        except Invalid:
            continue
        assert kept.width <= SIDE_MOST


async def test_pictures_wait_in_their_own_queue_and_a_full_one_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go_on = threading.Event()
    monkeypatch.setattr("app.stores.darkroom.developed", lambda _: go_on.wait(20))
    darkroom = PillowDarkroom(limiter=Limiter("images", LimiterConfig(max_threads=1, queue_capacity=1)))
    waiting = [asyncio.ensure_future(darkroom.develop(b"x")) for _ in range(2)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    with pytest.raises(Unavailable):
        await darkroom.develop(b"x")
    go_on.set()
    await asyncio.gather(*waiting)
