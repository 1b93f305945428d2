"""One guarded call of a service: slot, breaker, deadline, connection, in that order."""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from app.clients.wire import Exchange
from app.resilience import deadline
from app.web.errors import BodyTooSlow
from app.web.gateway.relay import Relay
from app.web.gateway.request_head import RequestHeads, framing_of
from app.web.gateway.table import Endpoint
from app.web.gateway.upload import PATIENCE_S, Upload
from app.web.gateway.upstream import Upstream

_LENGTH: Final = b"content-length: %d\r\n"
_DEADLINE: Final = deadline.HEADER.lower().encode() + b": %d\r\n"


class ServiceCall:
    """Asks `endpoint` of `upstream` for what the scope of a request says."""

    __slots__ = ("_endpoint", "_heads", "_path", "_token", "upstream")

    def __init__(
        self, upstream: Upstream, endpoint: Endpoint, heads: RequestHeads, *, path: bytes, token: str | None
    ) -> None:
        self.upstream = upstream
        self._endpoint = endpoint
        self._heads = heads
        self._path = path
        self._token = token

    @property
    def name(self) -> str:
        """As its breaker is called."""
        return self.upstream.guards[self._endpoint.name].breaker.name

    async def made(self, scope: Scope, receive: Receive, relay: Relay) -> None:
        """Make the call and relay its answer; raises `Refused`, `DeadlineExceeded`, `HttpError`, `ClientDisconnect`.

        The slot is held until the last byte of the answer has left. A body that is here at once goes with the
        head, and is repeated with it where that is safe; any other is streamed.
        """
        framing = framing_of(scope)
        body, is_whole = await _first(receive) if framing else (b"", True)
        if framing and is_whole:
            framing = _LENGTH % len(body)
        guard = self.upstream.guards[self._endpoint.name]
        async with (
            guard.slots.take(),
            guard.breaker.call() as verdict,
            Exchange(self.upstream.connections) as exchange,
        ):
            upload = Upload(receive, exchange, timeout_s=guard.timeout_s)
            try:
                head = self._head(scope, framing, guard.timeout_s)
                await exchange.open(scope["method"], head, body if is_whole else None)
                if is_whole:
                    upload.watch()
                else:
                    upload.send(body, is_chunked=framing.startswith(b"transfer"))
                await exchange.head()
                await relay.answer(exchange.connection, verdict)
            finally:
                upload.stop()

    def _head(self, scope: Scope, framing: bytes, timeout_s: float) -> bytes:
        """Without a deadline where the answer may last for ever: the service would end it by that."""
        if not self._endpoint.streams:
            framing += _DEADLINE % int(timeout_s * 1000)
        return self._heads.head(scope, self._path, more=framing, token=self._token)


async def _first(receive: Receive) -> tuple[bytes, bool]:
    """What of the body comes first, and whether that is all; nobody holds a slot while a client is slow to begin."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            message = await receive()
    except TimeoutError:
        raise BodyTooSlow from None
    if message["type"] == "http.disconnect":
        raise ClientDisconnect
    return message.get("body", b""), not message.get("more_body", False)
