"""One service as the shop calls it: a pool, as many slots, a deadline, and a breaker for each endpoint.

What comes back is an answer that can be read, the service's own refusal, or `Unavailable`; nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from app.clients.http import Answer, Connections, Lost, NotSent
from app.resilience import (
    Breaker,
    BreakerConfig,
    Bulkhead,
    BulkheadConfig,
    Call,
    DeadlineExceeded,
    Guard,
    Listener,
    Refused,
    deadline,
)
from app.shop.errors import Invalid, NotFound, Unavailable

T = TypeVar("T", bound=BaseModel)
R = TypeVar("R")

READINESS: Final = "/health/readiness"


def _breaker() -> BreakerConfig:
    """A helpful service is asked by every page, so its failures show soon, and soon a page waits no more.

    The cool-down doubles from 2 s and stops at 8 s ± 20 %: pages are whole again within 15 s of the end of
    a failure, and three probes every 8 s hurt nobody.
    """
    return BreakerConfig(
        minimum_number_of_calls=10,
        sliding_window_type="time",
        sliding_window_size=10,
        slow_call_duration_threshold_s=0.8,
        wait_duration_in_open_state_s=2,
        longest_wait_in_open_state_s=8,
        permitted_number_of_calls_in_half_open_state=3,
        max_wait_duration_in_half_open_state_s=5,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DependencyConfig:
    """Where the service is, how many calls may be under way at once, and how long one may take."""

    url: str
    pool_size: int = 10
    timeout: timedelta = timedelta(seconds=1)
    breaker: BreakerConfig = field(default_factory=_breaker)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of it."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None


class Dependency:
    """Built without I/O. Endpoints share the slots and the pool, and have a breaker each."""

    def __init__(
        self, name: str, config: DependencyConfig, *, endpoints: Sequence[str], listeners: Sequence[Listener]
    ) -> None:
        self.name = name
        self.connections = Connections(config.url, pool_size=config.pool_size)
        self._looking = Connections(config.url, pool_size=1)
        cap = BulkheadConfig(max_concurrent_calls=config.pool_size)
        self.slots = Bulkhead(name, cap, listeners=listeners)
        self.guards: Mapping[str, Guard] = {
            endpoint: Guard(
                slots=self.slots,
                breaker=Breaker(f"{name}.{endpoint}", config.breaker, listeners=listeners),
                timeout_s=config.timeout.total_seconds(),
                pool_size=config.pool_size,
            )
            for endpoint in endpoints
        }

    async def close(self) -> None:
        """Close every connection."""
        await self.connections.close()
        await self._looking.close()

    async def look(self) -> None:
        """Return if the service says that it is ready, by a connection that no page needs; raises `HttpError`."""
        answer = await self._looking.send("GET", READINESS, headers={})
        if answer.status != 200:
            raise Lost(f"answered {answer.status}")

    async def ask(self, endpoint: str, question: Question, shape: type[T]) -> T:
        """The answer in that shape; raises `Unavailable`, or what the service refuses: `NotFound`, `Invalid`."""
        return await self._ask(endpoint, question, lambda answer: _read(answer, shape))

    async def tell(self, endpoint: str, question: Question) -> None:
        """The same where the answer says nothing."""
        await self._ask(endpoint, question, lambda _: None)

    async def _ask(self, endpoint: str, question: Question, read: Callable[[Answer], R]) -> R:
        try:
            async with self.guards[endpoint].call() as call:
                answer = await self.connections.send(
                    question.method,
                    question.path,
                    headers={**question.headers, **deadline.headers()},
                    body=question.body,
                )
                _refused(self.name, call, answer)
                return read(answer)
        except Refused as refused:
            raise Unavailable(self.name, retry_after_s=math.ceil(refused.retry_after_s)) from refused
        except (NotSent, Lost, DeadlineExceeded) as lost:
            raise Unavailable(self.name) from lost


def _read(answer: Answer, shape: type[T]) -> T:
    try:
        return shape.model_validate_json(answer.body)
    except ValidationError as garbled:
        raise Lost("the answer cannot be read") from garbled


def _refused(name: str, call: Call, answer: Answer) -> None:
    """Raise what is no answer: `Lost` counts as a failure, the service's refusals do not."""
    if answer.status in {200, 201, 204}:
        return
    if not 400 <= answer.status < 500:
        raise Lost(f"answered {answer.status}")
    if answer.status == 429:
        call.ignore()
    else:
        call.succeed()
    match answer.status:
        case 404:
            raise NotFound(name)
        case 422:
            raise Invalid(name, "was refused by the service that keeps it")
        case _:  # a mistake of ours, or too many calls of ours: nobody at the page can mend it
            raise Unavailable(name)
