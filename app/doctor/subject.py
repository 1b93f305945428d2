"""What the doctor examines: a configuration, and what runs of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from app.doctor.balancer import Balancer
from app.settings import Settings


class CannotLook(Exception):
    """There is nothing to look at; the sentence says why, and what it would need."""


class Silent(CannotLook):
    """What should answer does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One shop.

    `settings` are those of each replica by its name, or one called ``configuration`` where nothing runs;
    `replicas` is how many there are or will be; `addresses` are where running ones answer; `balancer` is the
    configuration it was given, `socket` its runtime API; `stop_timeout_s` is how long whoever stops a replica
    waits before it kills, None where that is not known; `supervised` whether somebody brings dead replicas back,
    None likewise.
    """

    settings: Mapping[str, Settings]
    replicas: int
    addresses: Mapping[str, str] = field(default_factory=dict)
    balancer: Balancer | None = None
    socket: Path | None = None
    stop_timeout_s: float | None = None
    supervised: bool | None = None

    @property
    def is_local(self) -> bool:
        """Whether shoppers can only be on this machine."""
        host = urlsplit(self.one.public_url).hostname or ""
        try:
            return ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"

    @property
    def one(self) -> Settings:
        """The settings of the first replica, for what all of them share."""
        return next(iter(self.settings.values()))
