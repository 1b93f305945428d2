"""How much one address may ask, where `CHOPHO_RATE_LIMIT` says that it is limited."""

from __future__ import annotations

from typing import Protocol

from starlette.requests import Request
from starlette.types import Scope

from app.shop.errors import TooManyAttempts
from app.web.errors import TooManyRequests
from app.web.shopping import client_of


class Rates(Protocol):
    """Counts for all replicas together; every call is 0 if the request may pass, else the seconds until one may."""

    async def registration_wait_s(self, client: str) -> int:
        """Count one registration, whatever comes of it; raises `Unavailable`."""

    def gateway_wait_s(self, client: str) -> int:
        """Count one call through the gateway."""


def count_call(rates: Rates | None, scope: Scope) -> None:
    """Raises `TooManyRequests` past the address's share of what goes on to the services."""
    client = scope.get("client")
    wait_s = 0 if rates is None or client is None else rates.gateway_wait_s(client[0])
    if wait_s:
        raise TooManyRequests(retry_after_s=wait_s)


async def count_registration(request: Request) -> None:
    """Raises `TooManyAttempts` past the address's share, `Unavailable` where nobody can count."""
    rates: Rates | None = request.app.state.rates
    wait_s = 0 if rates is None else await rates.registration_wait_s(client_of(request))
    if wait_s:
        raise TooManyAttempts(retry_after_s=wait_s)
