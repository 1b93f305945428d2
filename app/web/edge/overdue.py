"""The age of a request: what the balancer already answered for us must not happen any more."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from app.web.answers import refuse
from app.web.edge.proxies import is_vouched
from app.web.edge.requests import header_values, is_unsafe
from app.web.errors import Overdue

_STARTED: Final = re.compile(rb"(?:t=)?([0-9]{1,20}(?:\.[0-9]{1,9})?)")
_UNITS: Final = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""Seconds, milliseconds, microseconds or nanoseconds since 1970, told apart by their size."""


class OverdueCheck:
    """Answers 503 to an unsafe request older than `timeout`, without carrying it out.

    A replica that hung and woke up finds such requests in its sockets; their senders were told 504 long
    ago. The start is read from X-Request-Start as a trusted proxy stamped it; without it nothing is known
    and the request passes. Both clocks belong to machines of one fleet.
    """

    def __init__(self, app: ASGIApp, *, timeout: timedelta, now: Callable[[], float] = time.time) -> None:
        self.app = app
        self._timeout_s = timeout.total_seconds()
        self._now = now

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass what is still waited for."""
        if scope["type"] == "http" and is_unsafe(scope) and is_vouched(scope) and self._is_overdue(scope):
            await refuse(scope, receive, send, Overdue())
        else:
            await self.app(scope, receive, send)

    def _is_overdue(self, scope: Scope) -> bool:
        stamps = header_values(scope, b"x-request-start")
        started = _STARTED.fullmatch(stamps[-1].strip()) if stamps else None
        return started is not None and self._now() - _seconds(float(started[1])) > self._timeout_s


def _seconds(stamp: float) -> float:
    return next((stamp / unit for least, unit in _UNITS if stamp >= least), stamp)
