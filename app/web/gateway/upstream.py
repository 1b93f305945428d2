"""A service behind the gateway, in a compartment of its own: slots, a breaker for each endpoint, connections."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from starlette.requests import ClientDisconnect

from app.clients.wire import WirePool
from app.resilience import Breaker, BreakerConfig, Bulkhead, BulkheadConfig, Guard, Listener
from app.web.errors import WebError
from app.web.gateway.table import Endpoint

Token = Callable[[str], Awaitable[str | None]]
"""Makes the internal token for the account of that id; None: there is no such account."""


class Drained(Exception):
    """This process is going; an event stream ends, so that its reader comes back to another one."""


def _is_ours(error: Exception) -> bool:
    """What the service has no part in."""
    return isinstance(error, ClientDisconnect | WebError | Drained)


def _breaker() -> BreakerConfig:
    """As for the shop's own calls; slow is what comes close to the deadline."""
    return BreakerConfig(
        minimum_number_of_calls=10,
        sliding_window_size=50,
        slow_call_duration_threshold_s=1.8,
        wait_duration_in_open_state_s=2,
        longest_wait_in_open_state_s=30,
        permitted_number_of_calls_in_half_open_state=3,
        max_wait_duration_in_half_open_state_s=10,
        ignore=_is_ours,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamConfig:
    """Where a service is, and what may be asked of it at once.

    `timeout` is for the head of an answer, from when the request is sent; it is less than the 3 s that the
    balancer waits for an answer to a GET. Within `idle_timeout` there must be more of a body.
    """

    url: str
    pool_size: int = 32
    timeout: timedelta = timedelta(seconds=2)
    idle_timeout: timedelta = timedelta(seconds=10)
    keep_alive: bool = True
    breaker: BreakerConfig = field(default_factory=_breaker)


class Upstream:
    """One service. `token` makes the internal token of an account; None: everybody is anonymous there."""

    def __init__(
        self,
        name: str,
        endpoints: Sequence[Endpoint],
        config: UpstreamConfig,
        *,
        token: Token | None = None,
        listeners: Sequence[Listener] = (),
    ) -> None:
        self.name = name
        self.endpoints = tuple(endpoints)
        self.token = token
        self.idle_timeout_s = config.idle_timeout.total_seconds()
        keeping = {} if config.keep_alive else {"keep_alive_s": 0.0}
        self.connections = WirePool(config.url, size=config.pool_size, **keeping)
        cap = BulkheadConfig(max_concurrent_calls=config.pool_size)
        self.slots = Bulkhead(f"gateway.{name}", cap, listeners=listeners)
        self.guards = {
            endpoint.name: Guard(
                slots=self.slots,
                breaker=Breaker(f"gateway.{name}.{endpoint.name}", config.breaker, listeners=listeners),
                timeout_s=config.timeout.total_seconds(),
                pool_size=config.pool_size,
            )
            for endpoint in self.endpoints
        }

    def endpoint(self, segments: Sequence[str]) -> Endpoint | None:
        """The endpoint of that path, or None: there is none for the public."""
        return next((one for one in self.endpoints if one.fits(segments)), None)
