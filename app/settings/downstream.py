"""What a replica of the shop is told of the helpful services around it."""

from __future__ import annotations

from datetime import timedelta

from pydantic import Field

from app.settings.fields import Duration, Environment, Origin, RedisUrl


def _pool_size(service: str) -> int:
    size: int = Field(
        10, ge=1, le=500, description=f"Calls to the {service} under way at once, each on a connection."
    )
    return size


def _timeout(service: str) -> timedelta:
    timeout: timedelta = Field(
        timedelta(seconds=1), gt=timedelta(0), description=f"How long a page waits for the {service}."
    )
    return timeout


class DownstreamSettings(Environment):
    """Where they are, how many calls at once, and how long a page waits; without a URL, pages lack the part."""

    reviews_url: Origin | None = Field(
        None, description="The reviews; without it products have none. Needs CHOPHO_IDENTITY_KEY."
    )
    reviews_pool_size: int = _pool_size("reviews")
    reviews_timeout: Duration = _timeout("reviews")
    recommendations_url: Origin | None = Field(
        None, description="The recommendations; without it pages recommend nothing."
    )
    recommendations_pool_size: int = _pool_size("recommendations")
    recommendations_timeout: Duration = _timeout("recommendations")
    inventory_url: Origin | None = Field(
        None, description="The inventory; without it pages show the catalogue's own stock."
    )
    inventory_pool_size: int = _pool_size("inventory")
    inventory_timeout: Duration = _timeout("inventory")
    cache_url: RedisUrl | None = Field(None, description="Degraded copies; by default REDIS_URL.")
    cache_timeout: Duration = Field(
        timedelta(milliseconds=150),
        gt=timedelta(0),
        description="How long one question to the cache may take; what it does not answer by then is a miss.",
    )
    cache_keep_every: Duration = Field(
        timedelta(seconds=5),
        ge=timedelta(0),
        description="Each replica keeps a copy anew at most so often.",
    )
