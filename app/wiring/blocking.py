"""Work that blocks a thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from app.resilience import Limiter, LimiterConfig, Listener


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocking:
    """Work that blocks a thread, each kind in its own, so that a slow report never delays a log-in."""

    reports: Limiter
    images: Limiter

    @classmethod
    def listened_to_by(cls, listener: Listener) -> Self:
        """One thread each; what waits is bounded."""
        return cls(
            reports=Limiter("reports", LimiterConfig(max_threads=1, queue_capacity=4), listeners=[listener]),
            images=Limiter("images", LimiterConfig(max_threads=1, queue_capacity=16), listeners=[listener]),
        )
