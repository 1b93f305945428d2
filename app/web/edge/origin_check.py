"""Which site sent the request: the defence against forged ones, with or without a cookie."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from app.web.answers import refuse
from app.web.edge.requests import header_values, is_unsafe
from app.web.errors import ForeignOrigin
from app.web.origins import Origin

_OWN_SITES: Final = frozenset({b"same-origin", b"none"})
"""`none` is a person: the address bar or a bookmark."""


class OriginCheck:
    """Answers 403 to an unsafe request that a browser sent for another site.

    `exempt` are the paths that others are meant to post to, and which believe nothing they are told.
    Sec-Fetch-Site decides, else Origin; a client that sends neither is no browser and passes. Of a header
    that came twice, every value must be right.
    """

    def __init__(self, app: ASGIApp, *, origin: Origin, exempt: Collection[str] = ()) -> None:
        self.app = app
        self._exempt = frozenset(exempt)
        self._spellings = origin.spellings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass what no other site sent."""
        if scope["type"] == "http" and is_unsafe(scope) and not self._is_own(scope):
            await refuse(scope, receive, send, ForeignOrigin())
        else:
            await self.app(scope, receive, send)

    def _is_own(self, scope: Scope) -> bool:
        if scope["path"] in self._exempt:
            return True
        sites = header_values(scope, b"sec-fetch-site")
        if sites:
            return all(site in _OWN_SITES for site in sites)
        return all(origin.lower() in self._spellings for origin in header_values(scope, b"origin"))
