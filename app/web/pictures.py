"""Where a page finds the pictures of products: those that the shop ships, and no others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.shop.catalog import Picture
from app.web.assets import ASSETS

_FOLDER = "pictures/"


def picture_url(picture: Picture | None) -> str | None:
    """The address of a shipped picture, or None.

    A picture elsewhere is never loaded by a page: it would tell a stranger who looks at what.
    """
    if picture is None or not ASSETS.has(_FOLDER + picture.source):
        return None
    return ASSETS.url(_FOLDER + picture.source)


def elsewhere(pictures: Iterable[Picture]) -> Sequence[Picture]:
    """The pictures that lie on the web, to be followed as links by those who want to."""
    return [picture for picture in pictures if picture.source.startswith(("https://", "http://"))]
