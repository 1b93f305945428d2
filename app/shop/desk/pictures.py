"""Pictures that an owner brings: looked at, made small and plain, and kept under the name of their content."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Protocol

from app.shop.catalog import Picture
from app.shop.desk.audit import Deed
from app.shop.errors import Invalid
from app.shop.text import clean

BYTES_MOST: Final = 8_000_000
"""Of an upload; phones make pictures of half of it."""

PIXELS_MOST: Final = 40_000_000
"""Of an upload; 160 MB of memory while it is looked at, one at a time."""

SIDE_MOST: Final = 1_600
"""Pixels of the kept picture's longer side: sharp on a wide screen, some 200 KB."""

ALT_MOST: Final = 512
PICTURES_MOST: Final = 20

_SOURCE: Final = re.compile(r"anh/([0-9a-f]{64})\.webp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Developed:
    """A picture as it is kept: WebP and nothing but pixels; `digest` is SHA-256 of the content."""

    digest: str
    content: bytes
    width: int
    height: int


class Darkroom(Protocol):
    """Makes of an upload what is kept."""

    async def develop(self, upload: bytes) -> Developed:
        """The first frame, upright, no larger than `SIDE_MOST`, without any metadata.

        Raises `Invalid` for what is no JPEG, PNG, GIF or WebP, is not whole, or has too many bytes or
        pixels; `Unavailable` while there is too much to do.
        """


class Pictures(Protocol):
    """The store of pictures, the same for all replicas. Raises `Unavailable`."""

    async def add(self, slug: str, picture: Developed, deed: Deed, *, alt: str) -> None:
        """Keep the picture and show it last with the product, once per form, with its audit entry.

        Raises `NotFound`, `AlreadyDone`, `Invalid` for too many; one that the product has already changes
        its words alone.
        """

    async def remove(self, slug: str, source: str, deed: Deed) -> None:
        """Show it no longer with the product; raises `NotFound`, `AlreadyDone`."""

    async def content(self, digest: str) -> bytes | None:
        """The picture of that digest, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddPicture:
    """Bring a picture to a product."""

    darkroom: Darkroom
    pictures: Pictures

    async def __call__(self, slug: str, upload: bytes, deed: Deed, *, alt: str) -> None:
        """Develop it outside of any transaction, then keep it."""
        words = clean("alt", alt, most=ALT_MOST, least=0)
        if not upload:
            raise Invalid("picture", "must not be empty", code="missing")
        if len(upload) > BYTES_MOST:
            raise Invalid("picture", f"must have at most {BYTES_MOST} bytes", code="picture_heavy")
        await self.pictures.add(slug, await self.darkroom.develop(upload), deed, alt=words)


def source_of(digest: str) -> str:
    """How the catalogue names a kept picture, in its files too."""
    return f"anh/{digest}.webp"


def digest_of(picture: Picture) -> str | None:
    """The digest of a picture that is kept here, or None."""
    found = _SOURCE.fullmatch(picture.source)
    return found[1] if found else None
