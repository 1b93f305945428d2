"""Style sheets and pictures, served under names that carry a digest of their content."""

from __future__ import annotations

import gzip
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
    compressed: bytes | None


class Assets:
    """The files under a folder, held in memory: they are few and small, and a Range costs nothing to refuse.

    Answers carry no Accept-Ranges and every request gets the whole file, as RFC 9110 allows.
    """

    def __init__(self, folder: Path) -> None:
        assets = [_asset(folder, path) for path in sorted(folder.rglob("*")) if path.is_file()]
        self._by_name: Mapping[str, Asset] = {asset.name: asset for asset in assets}
        self._by_hashed_name: Mapping[str, Asset] = {asset.hashed_name: asset for asset in assets}

    def url(self, name: str) -> str:
        """Where a page finds the asset; raises `KeyError` for one that does not exist."""
        return PREFIX + self._by_name[name].hashed_name

    def has(self, name: str) -> bool:
        """Whether there is such an asset."""
        return name in self._by_name

    async def serve(self, request: Request) -> Response:
        """The asset of the path parameter `name`."""
        name = request.path_params["name"]
        current = self._by_hashed_name.get(name)
        asset = current or self._by_name.get(_without_digest(name))
        if asset is None:
            raise HTTPException(404)
        return _sent(request, asset, SHORT_LIVED if current is None else IMMUTABLE)

    async def icon(self, request: Request) -> Response:
        """The icon, for browsers that ask for it by its oldest name."""
        return _sent(request, self._by_name["icon.svg"], SHORT_LIVED)


def _sent(request: Request, asset: Asset, caching: str) -> Response:
    """The asset, compressed for those who take it so."""
    headers = {"cache-control": caching}
    if asset.compressed is None:
        return Response(asset.content, media_type=asset.media_type, headers=headers)
    headers["vary"] = "accept-encoding"
    if not _takes_gzip(request.headers.get("accept-encoding", "")):
        return Response(asset.content, media_type=asset.media_type, headers=headers)
    headers["content-encoding"] = "gzip"
    return Response(asset.compressed, media_type=asset.media_type, headers=headers)


def _takes_gzip(accepted: str) -> bool:
    """Whether the client listed gzip and did not weigh it with nothing."""
    for part in accepted.lower().split(","):
        coding, _, weight = part.partition(";")
        if coding.strip() == "gzip":
            return weight.replace(" ", "") not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}
    return False


def _asset(folder: Path, path: Path) -> Asset:
    content = path.read_bytes()
    name = path.relative_to(folder).as_posix()
    digest = hashlib.sha256(content).hexdigest()[:16]
    compressed = gzip.compress(content, mtime=0)
    return Asset(
        name=name,
        hashed_name=f"{name.removesuffix(path.suffix)}.{digest}{path.suffix}",
        media_type=mimetypes.types_map.get(path.suffix, "application/octet-stream"),
        content=content,
        compressed=compressed if len(compressed) < len(content) else None,
    )


def _without_digest(name: str) -> str:
    stem, _, rest = name.partition(".")
    return f"{stem}.{rest.rpartition('.')[2]}"


ASSETS: Final = Assets(_FOLDER)
