"""Where a page finds the pictures of products: those that the shop ships or keeps, and no others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from app.shop.catalog import Picture
from app.shop.desk.pictures import digest_of
from app.shop.errors import NotFound
from app.web.assets import ASSETS, IMMUTABLE
from app.web.shopping import desk_of

PATH: Final = "/anh/"
_FOLDER: Final = "pictures/"
_NAME: Final = re.compile(r"([0-9a-f]{64})\.webp")


async def kept_picture(request: Request) -> Response:
    """A picture that the shop keeps; its name changes with its content, so browsers need not ask again."""
    found = _NAME.fullmatch(request.path_params["name"])
    content = await desk_of(request).pictures.content(found[1]) if found else None
    if content is None:
        raise NotFound("picture")
    return Response(content, media_type="image/webp", headers={"cache-control": IMMUTABLE})


def picture_url(picture: Picture | None) -> str | None:
    """The address of a picture that the shop ships or keeps, or None.

    A picture elsewhere is never loaded by a page: it would tell a stranger who looks at what.
    """
    if picture is not None and (digest := digest_of(picture)) is not None:
        return f"{PATH}{digest}.webp"
    if picture is None or not ASSETS.has(_FOLDER + picture.source):
        return None
    return ASSETS.url(_FOLDER + picture.source)


def elsewhere(pictures: Iterable[Picture]) -> Sequence[Picture]:
    """The pictures that lie on the web, to be followed as links by those who want to."""
    return [picture for picture in pictures if picture.source.startswith(("https://", "http://"))]
