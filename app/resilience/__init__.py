"""Guarding calls to what may fail: slots, breakers, deadlines, retries on a budget, thread limiters.

A library of its own: it needs Python 3.11 and anyio, and nothing of the app around it.
"""

from __future__ import annotations

from .breaker import Breaker, BreakerSnapshot, Call
from .bulkhead import Bulkhead, BulkheadConfig, BulkheadSnapshot
from .config import BreakerConfig
from .errors import (
    BudgetSpent,
    DeadlineExceeded,
    Full,
    Misconfigured,
    NotPermitted,
    Refused,
    ResilienceError,
    TimedOut,
)
from .events import Event, Listener
from .guard import Guard
from .limiter import Limiter, LimiterConfig, LimiterSnapshot
from .middleware import DeadlineMiddleware
from .retry import Retry, RetryConfig, RetrySnapshot
from .states import State

__all__ = [
    "Breaker",
    "BreakerConfig",
    "BreakerSnapshot",
    "BudgetSpent",
    "Bulkhead",
    "BulkheadConfig",
    "BulkheadSnapshot",
    "Call",
    "DeadlineExceeded",
    "DeadlineMiddleware",
    "Event",
    "Full",
    "Guard",
    "Limiter",
    "LimiterConfig",
    "LimiterSnapshot",
    "Listener",
    "Misconfigured",
    "NotPermitted",
    "Refused",
    "ResilienceError",
    "Retry",
    "RetryConfig",
    "RetrySnapshot",
    "State",
    "TimedOut",
]
