"""What the web needs to know, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network

from app.planning.timeouts import OVERDUE_S
from app.web.origins import Origin

Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True, kw_only=True)
class WebConfig:
    """How one replica speaks HTTP.

    `public_url` is the one origin that links, Host checks and origin checks use. `trusted_proxies` are
    the peers whose X-Forwarded-For, X-Request-Id and X-Request-Start are believed. `request_timeout` is
    the balancer's server timeout: an unsafe request older than it was already answered 504.
    `body_limit` counts the bytes of one request's whole body; no form or JSON of the shop has a tenth of
    it, and a megabyte of unknown JSON fields would cost half a second and 120 MB to refuse. At the owner's
    desk it is `desk_body_limit`: descriptions, pictures and catalogues; less than the balancer passes.
    For `proof_lasts` after the password was given, sensitive actions do not ask for it again.
    `webhook_secrets` are what the acquirer signs its calls with; without one, every call is refused.
    """

    public_url: str
    replica_name: str
    trusted_proxies: tuple[Network, ...] = ()
    request_timeout: timedelta = timedelta(seconds=OVERDUE_S)
    body_limit: int = 64 * 1024
    desk_body_limit: int = 10_000_000
    webhook_secrets: tuple[str, ...] = ()
    proof_lasts: timedelta = timedelta(minutes=15)

    @property
    def origin(self) -> Origin:
        """The public URL as browsers name it; raises `ValueError` when it is none."""
        origin = Origin.parse(self.public_url)
        if origin is None:
            raise ValueError(f"{self.public_url!r} is not an origin such as https://chopho.example")
        return origin
