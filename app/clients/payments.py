"""The shop's payments over HTTP: `app.shop.payments.Payments` behind a pool, a cap, a deadline and breakers.

Success is never invented. Whatever is not an answer that can be read, and belongs to the question, leaves
the outcome unknown; only what never left this process, or what the acquirer itself says it did not do, counts
as "nothing happened".
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, TypeVar
from urllib.parse import quote

from pydantic import BaseModel

from app.clients.headers import INTERNAL_TOKEN
from app.clients.http import Connections, Lost, NotSent
from app.clients.payments_answers import NAME, ClosedTold, FoundTold, PaymentTold, read
from app.resilience import (
    Breaker,
    BreakerConfig,
    Bulkhead,
    BulkheadConfig,
    DeadlineExceeded,
    Guard,
    Listener,
    Refused,
    deadline,
)
from app.shop.errors import Unavailable
from app.shop.money import CURRENCY
from app.shop.payments import (
    Authorisation,
    Closed,
    Found,
    OutcomeUnknown,
    Payment,
)

T = TypeVar("T", bound=BaseModel)

READINESS: Final = "/health/readiness"


def _breaker() -> BreakerConfig:
    """Opens after few failures, as there are few calls; a slow bank is a failing one for who waits at the till."""
    return BreakerConfig(
        minimum_number_of_calls=10,
        sliding_window_type="time",
        sliding_window_size=30,
        slow_call_duration_threshold_s=4,
        wait_duration_in_open_state_s=2,
        longest_wait_in_open_state_s=30,
        permitted_number_of_calls_in_half_open_state=3,
        max_wait_duration_in_half_open_state_s=10,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentsConfig:
    """Where the acquirer is, how many calls may be under way at once, and how long one may take."""

    url: str
    pool_size: int = 10
    timeout: timedelta = timedelta(seconds=5)
    breaker: BreakerConfig = field(default_factory=_breaker)


class HttpPayments:
    """`Payments` over HTTP. `token` makes an internal token for each call.

    Authorising, changing and asking have a breaker each: a bank that does not authorise must not keep anybody
    from asking what happened.
    """

    def __init__(
        self, config: PaymentsConfig, *, token: Callable[[], str], listeners: Sequence[Listener] = ()
    ) -> None:
        self._token = token
        self.connections = Connections(config.url, pool_size=config.pool_size)
        self._looking = Connections(config.url, pool_size=1)
        cap = BulkheadConfig(max_concurrent_calls=config.pool_size)
        self.slots = Bulkhead(NAME, cap, listeners=listeners)
        self._authorise, self._change, self._ask = self.guards = [
            Guard(
                slots=self.slots,
                breaker=Breaker(f"{NAME}.{endpoint}", config.breaker, listeners=listeners),
                timeout_s=config.timeout.total_seconds(),
                pool_size=config.pool_size,
            )
            for endpoint in ("authorise", "change", "ask")
        ]

    async def close_connections(self) -> None:
        """Close every connection."""
        await self.connections.close()
        await self._looking.close()

    async def look(self) -> None:
        """Return if the acquirer says that it is ready, by a connection that no payment needs; raises `HttpError`."""
        answer = await self._looking.send("GET", READINESS, headers={})
        if answer.status != 200:
            raise Lost(f"answered {answer.status}")

    async def authorise(self, wanted: Authorisation, *, key: str) -> Payment:
        """See the port."""
        body = {
            "merchant_reference": wanted.reference,
            "amount": wanted.amount,
            "currency": CURRENCY,
            "token": wanted.token,
            "return_url": wanted.return_url,
        }

        def ours(told: PaymentTold) -> bool:
            return (told.merchant_reference, told.amount) == (wanted.reference, wanted.amount)

        return (await self._move(self._authorise, "/v1/payments", body, key, PaymentTold, ours)).payment()

    async def capture(self, payment_id: str, *, key: str, amount: int | None = None) -> Payment:
        """See the port."""
        return await self._step(payment_id, "capture", {"amount": amount}, key)

    async def void(self, payment_id: str, *, key: str) -> Payment:
        """See the port."""
        return await self._step(payment_id, "void", {}, key)

    async def refund(self, payment_id: str, *, key: str, amount: int | None = None) -> Payment:
        """See the port."""
        return await self._step(payment_id, "refund", {"amount": amount}, key)

    async def close(self, reference: str) -> Closed:
        """See the port."""

        def ours(told: ClosedTold) -> bool:
            return told.merchant_reference == reference

        body = {"merchant_reference": reference}
        told = await self._move(self._change, "/v1/closures", body, None, ClosedTold, ours)
        return Closed(closed=told.closed, payment=None if told.payment is None else told.payment.payment())

    async def find(self, reference: str) -> Found:
        """See the port."""

        def ours(told: FoundTold) -> bool:
            return all(item.merchant_reference == reference for item in told.items)

        path = f"/v1/payments?merchant_reference={quote(reference, safe='')}"
        try:
            told = await self._told(self._ask, "GET", path, {}, None, FoundTold, ours)
        except OutcomeUnknown as unknown:  # asking moves nothing
            raise Unavailable(NAME, retry_after_s=unknown.retry_after_s) from unknown
        return Found(payments=[item.payment() for item in told.items], in_progress=told.in_progress)

    async def _step(self, payment_id: str, what: str, body: Mapping[str, object], key: str) -> Payment:
        def ours(told: PaymentTold) -> bool:
            return told.id == payment_id

        path = f"/v1/payments/{quote(payment_id, safe='')}/{what}"
        return (await self._move(self._change, path, body, key, PaymentTold, ours)).payment()

    async def _move(
        self,
        guard: Guard,
        path: str,
        body: Mapping[str, object],
        key: str | None,
        shape: type[T],
        ours: Callable[[T], bool],
    ) -> T:
        headers = {"Content-Type": "application/json"} | ({} if key is None else {"Idempotency-Key": key})
        return await self._told(guard, "POST", path, headers, json.dumps(body).encode(), shape, ours)

    async def _told(
        self,
        guard: Guard,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes | None,
        shape: type[T],
        ours: Callable[[T], bool],
    ) -> T:
        what = f"{method} {path}"
        try:
            async with guard.call() as call:
                headers = {**headers, INTERNAL_TOKEN: self._token(), **deadline.headers()}
                answer = await self.connections.send(method, path, headers=headers, body=body)
                return read(call, answer, shape, ours)
        except Refused as refused:
            raise Unavailable(NAME, retry_after_s=math.ceil(refused.retry_after_s)) from refused
        except NotSent as refused:
            raise Unavailable(NAME) from refused
        except (DeadlineExceeded, Lost) as lost:
            if isinstance(lost, DeadlineExceeded) and not lost.allowed_s:
                raise Unavailable(NAME) from lost  # the caller's time was over before the call began
            raise OutcomeUnknown(what) from lost
