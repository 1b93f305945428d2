"""The clients of the services around the shop, where the settings name them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.clients.dependency import Dependency, DependencyConfig
from app.clients.inventory import HttpInventory
from app.clients.payments import HttpPayments, PaymentsConfig
from app.clients.recommendations import HttpRecommendations
from app.clients.reviews import HttpReviews
from app.identity import Caller, Issuer, SigningKey
from app.resilience import Listener
from app.settings import Settings
from app.shop.accounts import Account
from app.shop.degradation import Shown
from app.stores.copies import Cache, CacheConfig

_SHOP: Final = Caller(subject="shop", role="service")


@dataclass(frozen=True, slots=True, kw_only=True)
class Downstream:
    """The services, each None where this shop does without, and the cache of the helpful ones' answers.

    `notice` hears of what a page lacks of them; `dependencies` are the helpful ones.
    """

    payments: HttpPayments | None
    reviews: HttpReviews | None
    recommendations: HttpRecommendations | None
    inventory: HttpInventory | None
    cache: Cache
    notice: Callable[[str, Shown], None]

    @property
    def dependencies(self) -> Sequence[Dependency]:
        """The helpful services that there are."""
        clients = (self.reviews, self.recommendations, self.inventory)
        return [client.dependency for client in clients if client is not None]

    async def close(self) -> None:
        """Close every connection."""
        if self.payments is not None:
            await self.payments.close_connections()
        for dependency in self.dependencies:
            await dependency.close()
        await self.cache.close()


def downstream_of(
    settings: Settings, *, listeners: Sequence[Listener], notice: Callable[[str, Shown], None]
) -> Downstream:
    """What the settings name. Raises `ValueError` where the key cannot be used."""
    inventory = _config(settings, "inventory")
    recommendations = _config(settings, "recommendations")
    return Downstream(
        payments=_payments(settings, listeners),
        reviews=_reviews(settings, listeners),
        recommendations=HttpRecommendations(recommendations, listeners=listeners)
        if recommendations
        else None,
        inventory=HttpInventory(inventory, listeners=listeners) if inventory else None,
        cache=Cache(
            CacheConfig(
                url=settings.cache_url or settings.redis_url,
                timeout=settings.cache_timeout,
                keep_every=settings.cache_keep_every,
            ),
            listeners=listeners,
        ),
        notice=notice,
    )


def _payments(settings: Settings, listeners: Sequence[Listener]) -> HttpPayments | None:
    """The acquirer, or None: payment on delivery alone."""
    if settings.payments_url is None or settings.identity_key is None:
        return None
    config = PaymentsConfig(
        url=settings.payments_url,
        pool_size=settings.payments_pool_size,
        timeout=settings.payments_timeout,
    )
    issuer = issuer_of(settings.identity_key)
    return HttpPayments(config, token=lambda: issuer.issue(_SHOP, audience="payments"), listeners=listeners)


def caller_of(account: Account) -> Caller:
    """How the services know a person: by the account, its role and the name it shows."""
    return Caller(subject=account.id, role=account.role, name=account.name)


def _reviews(settings: Settings, listeners: Sequence[Listener]) -> HttpReviews | None:
    config = _config(settings, "reviews")
    if config is None or settings.identity_key is None:
        return None
    issuer = issuer_of(settings.identity_key)

    def token(account: Account) -> str:
        return issuer.issue(caller_of(account), audience="reviews")

    def own() -> str:
        return issuer.issue(_SHOP, audience="reviews")

    return HttpReviews(config, token=token, own=own, listeners=listeners)


def _config(settings: Settings, name: str) -> DependencyConfig | None:
    given = settings.model_dump(include={f"{name}_url", f"{name}_pool_size", f"{name}_timeout"})
    url, pool_size, timeout = (given[f"{name}_{what}"] for what in ("url", "pool_size", "timeout"))
    return None if url is None else DependencyConfig(url=url, pool_size=pool_size, timeout=timeout)


def issuer_of(key: Path) -> Issuer:
    """What signs internal tokens; raises `ValueError` where the key cannot be used."""
    try:
        return Issuer(SigningKey.read(key))
    except (OSError, ValueError) as unusable:
        raise ValueError(f"CHOPHO_IDENTITY_KEY cannot be used: {unusable}") from unusable
