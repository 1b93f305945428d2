"""What a session layer needs to be told; everything has a safe default."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")

LEASE_MS: Final = 2_000
"""A rotation that takes longer than this is taken for dead and its session lives on; one takes milliseconds, or three timeouts."""

_MARGIN_MS: Final = 3_600_000

FLIGHT_MS: Final = 120_000
"""How long an ended session is remembered as ended: longer than any request is in flight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionConfig:
    """Names, limits and the clock. `timeout` bounds each wait for the store, connecting included.

    A session is touched at most once in `touch_ms`, 5 % of the idle limit. `revoke_replicas` of Redis must
    have what ends sessions before that is reported done; 0: the primary alone. A login waits for none.
    """

    namespace: str = "session"
    idle_timeout: timedelta = timedelta(minutes=30)
    absolute_timeout: timedelta = timedelta(hours=12)
    cookie_name: str = "session"
    cookie_secure: bool = True
    # Rendering the 503 must fit between this and the promised 300 ms.
    timeout: timedelta = timedelta(milliseconds=250)
    # Both keep a session in Redis' compact encoding and a commit's cost small.
    max_fields: int = 200
    max_bytes: int = 16 * 1024
    revoke_replicas: int = 0
    clock: Callable[[], float] = time.time
    # Asked for on every request, so worked out once.
    idle_ms: int = field(init=False)
    absolute_ms: int = field(init=False)
    touch_ms: int = field(init=False)

    def __post_init__(self) -> None:
        """Refuse what cannot work, at construction."""
        if not _NAME.fullmatch(self.cookie_name):
            raise ValueError(f"cookie_name: {self.cookie_name!r} is not a plain cookie name")
        if not self.namespace or set(self.namespace) & set("{} \r\n"):
            raise ValueError(f"namespace: {self.namespace!r} cannot prefix a key")
        if not timedelta(0) < self.idle_timeout <= self.absolute_timeout:
            raise ValueError("idle_timeout must be positive and no longer than absolute_timeout")
        if self.timeout <= timedelta(0):
            raise ValueError("timeout must be positive")
        if self.revoke_replicas < 0:
            raise ValueError("revoke_replicas must not be negative")
        idle_ms, absolute_ms = milliseconds(self.idle_timeout), milliseconds(self.absolute_timeout)
        for name, value in (("idle_ms", idle_ms), ("absolute_ms", absolute_ms), ("touch_ms", idle_ms // 20)):
            object.__setattr__(self, name, value)

    @property
    def kept_ms(self) -> int:
        """How long what judges sessions is kept: an hour longer than any of them, whatever the clocks say."""
        return self.absolute_ms + _MARGIN_MS

    @property
    def cookie(self) -> str:
        """The cookie's whole name; the prefix makes browsers refuse one set by a sister domain."""
        return f"__Host-{self.cookie_name}" if self.cookie_secure else self.cookie_name

    def now_ms(self) -> int:
        """The injected clock in whole milliseconds."""
        return int(self.clock() * 1000)


def milliseconds(span: timedelta) -> int:
    """The whole span, days too."""
    return max(1, span // timedelta(milliseconds=1))
