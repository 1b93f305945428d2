"""The clients of the services around the shop, where the settings name them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from app.clients.payments import HttpPayments, PaymentsConfig
from app.identity import Caller, Issuer, SigningKey
from app.resilience import Listener
from app.settings import Settings

_SHOP: Final = Caller(subject="shop", role="service")


def payments_of(settings: Settings, *, listeners: Sequence[Listener]) -> HttpPayments | None:
    """The acquirer, or None: payment on delivery alone. Raises `ValueError` where the key cannot be used."""
    if settings.payments_url is None or settings.identity_key is None:
        return None
    config = PaymentsConfig(
        url=settings.payments_url,
        pool_size=settings.payments_pool_size,
        timeout=settings.payments_timeout,
    )
    return HttpPayments(config, token=_tokens(settings.identity_key, "payments"), listeners=listeners)


def issuer_of(key: Path) -> Issuer:
    """What signs internal tokens; raises `ValueError` where the key cannot be used."""
    try:
        return Issuer(SigningKey.read(key))
    except (OSError, ValueError) as unusable:
        raise ValueError(f"CHOPHO_IDENTITY_KEY cannot be used: {unusable}") from unusable


def _tokens(key: Path, audience: str) -> Callable[[], str]:
    issuer = issuer_of(key)
    return lambda: issuer.issue(_SHOP, audience=audience)
