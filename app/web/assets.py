"""Style sheets and pictures, served under names that carry a digest of their content."""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

PREFIX: Final = "/static/"
_FOLDER: Final = Path(__file__).parent / "static"

IMMUTABLE: Final = "public, max-age=31536000, immutable"
"""A year: the name changes with the content."""

SHORT_LIVED: Final = "public, max-age=60"
"""For a name of another release: while replicas are rolled, a page of the one meets assets of the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """One file as it is sent."""

    name: str
    hashed_name: str
    media_type: str
    content: bytes


class Assets:
    """The files of a folder, held in memory: they are few and small, and a Range costs nothing to refuse.

    Answers carry no Accept-Ranges and every request gets the whole file, as RFC 9110 allows.
    """

    def __init__(self, folder: Path) -> None:
        assets = [_asset(path) for path in sorted(folder.iterdir()) if path.is_file()]
        self._by_name: Mapping[str, Asset] = {asset.name: asset for asset in assets}
        self._by_hashed_name: Mapping[str, Asset] = {asset.hashed_name: asset for asset in assets}

    def url(self, name: str) -> str:
        """Where a page finds the asset; raises `KeyError` for one that does not exist."""
        return PREFIX + self._by_name[name].hashed_name

    async def serve(self, request: Request) -> Response:
        """The asset of the path parameter `name`."""
        name = request.path_params["name"]
        current = self._by_hashed_name.get(name)
        asset = current or self._by_name.get(_without_digest(name))
        if asset is None:
            raise HTTPException(404)
        caching = SHORT_LIVED if current is None else IMMUTABLE
        return Response(asset.content, media_type=asset.media_type, headers={"cache-control": caching})

    async def icon(self, _: Request) -> Response:
        """The icon, for browsers that ask for it by its oldest name."""
        icon = self._by_name["icon.svg"]
        return Response(icon.content, media_type=icon.media_type, headers={"cache-control": SHORT_LIVED})


def _asset(path: Path) -> Asset:
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()[:16]
    media_type = mimetypes.types_map.get(path.suffix, "application/octet-stream")
    return Asset(
        name=path.name,
        hashed_name=f"{path.stem}.{digest}{path.suffix}",
        media_type=media_type,
        content=content,
    )


def _without_digest(name: str) -> str:
    stem, _, rest = name.partition(".")
    return f"{stem}.{rest.rpartition('.')[2]}"


ASSETS: Final = Assets(_FOLDER)
