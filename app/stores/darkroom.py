"""Pictures made by Pillow, in threads of their own."""

from __future__ import annotations

import hashlib
import struct
import zlib
from dataclasses import dataclass
from io import BytesIO
from typing import Final

from PIL import Image, ImageOps

from app.resilience import Full, Limiter
from app.shop.desk.pictures import PIXELS_MOST, SIDE_MOST, Developed
from app.shop.errors import Invalid, Unavailable

_KINDS: Final = ("JPEG", "PNG", "GIF", "WEBP")
"""Only these decoders ever see an upload; SVG and its scripts are none of them."""

_QUALITY: Final = 82
"""Where WebP of photographs looks like its original and has a tenth of its bytes."""

_UNREADABLE: Final = (
    OSError,  # also what is of no kind, and what is truncated
    SyntaxError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    EOFError,
    OverflowError,
    RuntimeError,
    MemoryError,
    struct.error,
    zlib.error,
)
"""What decoders raise at hostile bytes."""

_LARGE: Final = (Image.DecompressionBombError, Image.DecompressionBombWarning)
"""What Pillow says by itself; a warning where warnings are errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PillowDarkroom:
    """The darkroom's port; the limiter bounds how many pictures are in memory at once."""

    limiter: Limiter

    async def develop(self, upload: bytes) -> Developed:
        """In a thread, so that no request waits for it."""
        try:
            return await self.limiter.run(developed, upload)
        except Full as full:
            raise Unavailable("the pictures' desk") from full


def developed(upload: bytes) -> Developed:
    """What is kept of an upload; raises `Invalid`."""
    try:
        small = _small(upload)
        out = BytesIO()
        small.save(out, "WEBP", quality=_QUALITY, method=4)
    except _LARGE as large:
        raise _too_large() from large
    except _UNREADABLE as unreadable:
        raise Invalid(
            "picture", "is no whole JPEG, PNG, GIF or WebP picture", code="picture_unreadable"
        ) from unreadable
    content = out.getvalue()
    return Developed(
        digest=hashlib.sha256(content).hexdigest(), content=content, width=small.width, height=small.height
    )


def _small(upload: bytes) -> Image.Image:
    """The first frame, upright and plain. Its size is read in its head, before anything is decoded."""
    with Image.open(BytesIO(upload), formats=_KINDS) as picture:
        if picture.width * picture.height > PIXELS_MOST:
            raise _too_large()
        shown = picture if picture.format == "JPEG" else _plain(picture)
        shown.thumbnail((SIDE_MOST, SIDE_MOST))  # of a JPEG, decodes no more than this needs
        upright = ImageOps.exif_transpose(shown)
        return _plain(upright)  # the encoder writes pixels alone unless it is given more


def _plain(picture: Image.Image) -> Image.Image:
    """In colours that can be scaled: no palette, ink or 16 bits."""
    if picture.mode.startswith("I"):
        picture = picture.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    return picture.convert("RGBA" if picture.has_transparency_data else "RGB")


def _too_large() -> Invalid:
    return Invalid("picture", f"must have at most {PIXELS_MOST} pixels", code="picture_large")
