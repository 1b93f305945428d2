"""Where the gateway stands in the web: inside everything that guards a request, and before the routes."""

from __future__ import annotations

from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from app.shop.errors import ShopError
from app.web.answers import refuse
from app.web.errors import WebError
from app.web.gateway.gateway import Gateway
from app.web.gateway.paths import PREFIX

REFUSALS: Final = (ShopError, WebError, HTTPException, ClientDisconnect)


class GatewayDoor:
    """Takes what is meant for the gateway out of the router's way, which costs a third of a hop.

    What the gateway refuses is answered here; the session's failures are the session middleware's, as everywhere.
    """

    def __init__(self, app: ASGIApp, *, gateway: Gateway) -> None:
        self.app = app
        self._gateway = gateway

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward, or pass on to the routes."""
        if scope["type"] != "http" or not scope["path"].startswith(PREFIX):
            await self.app(scope, receive, send)
            return
        scope["endpoint"] = self._gateway  # by which the log knows the route
        try:
            await self._gateway(scope, receive, send)
        except REFUSALS as refused:
            await refuse(scope, receive, send, refused)
