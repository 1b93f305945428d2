"""The gateway as an ASGI application: one request in, at most one request out, one answer back."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from app.clients.http import HttpError
from app.resilience import DeadlineExceeded, Refused
from app.sessions import Session
from app.shop.errors import NotFound
from app.web.errors import (
    MethodRefused,
    ServiceBusy,
    ServiceError,
    ServiceFailed,
    ServiceSilent,
)
from app.web.gateway.call import ServiceCall
from app.web.gateway.paths import PREFIX, encoded, segments_of
from app.web.gateway.relay import Relay
from app.web.gateway.request_head import RequestHeads
from app.web.gateway.table import Endpoint
from app.web.gateway.upstream import Upstream
from app.web.origins import Origin
from app.web.rates import Rates, count_call
from app.web.visitors import account_id_of

PATH: Final = PREFIX + "{path:path}"

Destination = tuple[Upstream, Endpoint, bytes]
"""The service, its endpoint, and the path there."""

_log = logging.getLogger(__name__)


class Gateway:
    """Forwards to `upstreams` what the table lets pass; raises what the web refuses.

    Built without I/O; `draining` ends event streams.
    """

    def __init__(
        self,
        upstreams: Iterable[Upstream],
        *,
        origin: Origin,
        draining: asyncio.Event,
        rates: Rates | None = None,
    ) -> None:
        self.upstreams = {upstream.name: upstream for upstream in upstreams}
        self._draining = draining
        # Reading a path costs as much as writing the request; the same ones come again.
        self._destination = lru_cache(maxsize=1024)(self._found)
        self._rates = rates
        self._heads = {
            name: RequestHeads(authority=upstream.connections.authority, origin=origin)
            for name, upstream in self.upstreams.items()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        count_call(self._rates, scope)
        upstream, endpoint, path = self._destination(scope["raw_path"])
        if scope["method"] not in endpoint.methods:
            raise MethodRefused(endpoint.methods)
        token = await _token(upstream, endpoint, scope)
        call = ServiceCall(upstream, endpoint, self._heads[upstream.name], path=path, token=token)
        relay = Relay(
            send,
            draining=self._draining,
            idle_timeout_s=upstream.idle_timeout_s,
            is_private=endpoint.tells_caller,
        )
        await self._forward(call, relay, scope, receive)

    def close(self) -> None:
        """Close every connection."""
        for upstream in self.upstreams.values():
            upstream.connections.close()

    def _found(self, raw_path: bytes) -> Destination:
        name, *rest = segments_of(raw_path)
        upstream = self.upstreams.get(name)
        endpoint = None if upstream is None else upstream.endpoint(rest)
        if upstream is None or endpoint is None:
            raise NotFound("service")
        return upstream, endpoint, encoded(rest)

    async def _forward(self, call: ServiceCall, relay: Relay, scope: Scope, receive: Receive) -> None:
        """The answer that has begun is left unfinished where it was cut, and the server closes the connection."""
        try:
            await call.made(scope, receive, relay)
        except (Refused, DeadlineExceeded, HttpError) as failed:
            _log.warning("%s: %s", call.name, failed)
            if not relay.has_started:
                raise _as_told(call.upstream.name, failed) from failed
        except ClientDisconnect:
            if not relay.has_started:
                raise


async def _token(upstream: Upstream, endpoint: Endpoint, scope: Scope) -> str | None:
    """The token of whoever is logged in; None: the service takes the call for anonymous."""
    if not endpoint.tells_caller or upstream.token is None:
        return None
    session: Session = scope["session"]
    account_id = await account_id_of(session)
    return None if account_id is None else await upstream.token(account_id)


def _as_told(service: str, failed: Refused | DeadlineExceeded | HttpError) -> ServiceError:
    match failed:
        case Refused(retry_after_s=retry_after_s):
            return ServiceBusy(service, retry_after_s=math.ceil(retry_after_s))
        case DeadlineExceeded():
            return ServiceSilent(service)
        case _:
            return ServiceFailed(service)
