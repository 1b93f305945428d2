"""What one process of the acquirer needs to know."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """Who hears of every event: where, signed with which secrets, at most `limit` calls at once."""

    name: str
    url: str
    secrets: tuple[str, ...]
    limit: int = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryConfig:
    """How events are brought to their consumers.

    A retry comes after `first_wait`, each next one after twice as long, at most `longest_wait`, spread by
    half; for ever, until the consumer acknowledges.
    """

    timeout: timedelta = timedelta(seconds=5)
    first_wait: timedelta = timedelta(seconds=1)
    longest_wait: timedelta = timedelta(minutes=10)
    look_every: timedelta = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class AcquirerConfig:
    """`public_url` is where a cardholder's browser finds this service; `slow` is what `tok_slow` takes."""

    public_url: str
    slow: timedelta = timedelta(seconds=8)
    consumers: tuple[Consumer, ...] = ()
    delivery: DeliveryConfig = DeliveryConfig()
