"""What a supervisor needs only sometimes, and does not wait for when it starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from app.fleet.events import Report
from app.fleet.state import StateDirectory


class Told(Protocol):
    """Tells a replica that an operator wants it out of rotation, or back."""

    async def drain(self, name: str, *, by: str, reason: str) -> None:
        """Want it held out, over its restarts."""

    async def undrain(self, name: str, *, by: str, reason: str) -> None:
        """Want it back."""

    def usable(self, reason: str) -> str:
        """The reason as a replica takes it; raises `FleetError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Later:
    """Each is imported by whoever made this, the first time it is asked for: the drivers they need are large.

    `wishes` takes the address of a Redis; `make_key_pair` the state directory, see `app.fleet.identity`.
    """

    wishes: Callable[[str, Report], Told]
    make_key_pair: Callable[[StateDirectory], None]
