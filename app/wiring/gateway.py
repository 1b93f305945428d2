"""The gateway to the services that the settings name."""

from __future__ import annotations

from collections.abc import Sequence

from app.lifecycle import Lifecycle
from app.resilience import Listener
from app.settings import Settings
from app.shop.accounts import Accounts
from app.web.gateway import Gateway, Upstream, UpstreamConfig, table
from app.web.gateway.tokens import Tokens
from app.web.origins import Origin
from app.web.rates import Rates
from app.wiring.downstream import issuer_of


def gateway_of(
    settings: Settings,
    lifecycle: Lifecycle,
    *,
    accounts: Accounts,
    rates: Rates | None,
    listeners: Sequence[Listener],
) -> Gateway:
    """Built without I/O; services without a URL or without anything for the public are not in it."""
    origin = Origin.parse(settings.public_url)
    if origin is None:
        raise ValueError(f"CHOPHO_PUBLIC_URL is {settings.public_url!r}, which is no origin")
    key = settings.identity_key
    issuer = None if key is None else issuer_of(key)
    endpoints = table(with_echo=settings.gateway_echo)
    urls = {
        "reviews": settings.reviews_url,
        "recommendations": settings.recommendations_url,
        "inventory": settings.inventory_url,
        "payments": settings.payments_url,
    }
    upstreams = [
        Upstream(
            name,
            endpoints[name],
            UpstreamConfig(url=url, pool_size=settings.gateway_pool_size, timeout=settings.gateway_timeout),
            token=None if issuer is None else Tokens(issuer, audience=name, find=accounts.by_id).of,
            listeners=listeners,
        )
        for name, url in urls.items()
        if url is not None and endpoints[name]
    ]
    return Gateway(upstreams, origin=origin, draining=lifecycle.draining, rates=rates)
