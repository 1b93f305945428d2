"""The public keys of the JWT backend, for others who verify its tokens."""

from __future__ import annotations

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from .jwt_store import JwtStore
from .sessions import Sessions


def jwks_of(sessions: Sessions) -> ASGIApp:
    """An ASGI app that answers with the key set (RFC 7517); empty where nothing is signed with public keys."""
    rings = [store.tokens.keys for store in sessions.stores if isinstance(store, JwtStore)]
    return _Jwks(list({key["kid"]: key for ring in rings for key in ring.jwks()}.values()))


class _Jwks:
    """An object, so that a route takes it for an app and not for a view."""

    def __init__(self, keys: list[dict[str, object]]) -> None:
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {"Cache-Control": "public, max-age=300"}
        answer = JSONResponse({"keys": self._keys}, headers=headers, media_type="application/jwk-set+json")
        await answer(scope, receive, send)
