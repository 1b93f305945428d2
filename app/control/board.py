"""The board in Redis where operators write their wishes and replicas read them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from app.control.drains import DRAINED, SERVING, DrainWish, read_drain
from app.control.errors import ControlUnavailable, UnknownBreaker
from app.control.scripts import EXCHANGE, SET_DRAIN, SET_WISH
from app.control.wishes import Standing, Wish, checked_time, checked_words, read_wish, wanted

AUDIT_LENGTH: Final = 1000
"""Entries, about: years of incidents, and still nothing that Redis would notice."""

_REPORT_GOOD_FOR: Final = timedelta(seconds=10)
# A replica holds what it has heard; this is for those that start later. Nobody repairs longer than a week.
_DRAIN_KEPT_FOR: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """Who wanted what, when and why."""

    at_ms: int
    breaker: str
    state: str
    until_ms: int
    by: str
    reason: str


class ControlBoard:
    """Built without I/O. Every call answers within `timeout_s` or raises `ControlUnavailable`."""

    def __init__(self, url: str, *, namespace: str = "chopho:control", timeout_s: float = 0.5) -> None:
        self.timeout_s = timeout_s
        # One slot of a cluster for all of them, since one script touches two.
        self._wishes, self._replicas, self._audit, self._drains = (
            f"{{{namespace}}}:{name}" for name in ("breakers", "replicas", "audit", "drains")
        )
        self.pool = ConnectionPool.from_url(
            url,
            decode_responses=True,
            max_connections=2,
            socket_timeout=timeout_s,
            socket_connect_timeout=timeout_s,
            retry=Retry(NoBackoff(), 0),  # whoever asks again does so anyway, a second later
        )
        self._redis = Redis(connection_pool=self.pool)

    async def close(self) -> None:
        """Hang up."""
        await self._redis.aclose()
        await self.pool.disconnect()

    async def standing(self) -> Standing:
        """Live wishes, and the breakers of every replica that reported lately."""
        now, wishes, reports, drains = await self._run(EXCHANGE, self._exchanged, [_ms(_REPORT_GOOD_FOR)])
        return Standing(
            now_ms=int(now),
            wishes=_live(wishes, int(now)),
            replicas=_reports(reports),
            drains=_drains(drains),
        )

    async def exchange(self, replica: str, states: Mapping[str, str]) -> Standing:
        """Tell how this replica's breakers stand and learn the live wishes, in one round trip."""
        report: Sequence[str | int] = [_ms(_REPORT_GOOD_FOR), replica, json.dumps(dict(states))]
        now, wishes, _, drains = await self._run(EXCHANGE, self._exchanged, report)
        return Standing(
            now_ms=int(now),
            wishes=_live(wishes, int(now)),
            replicas={replica: states},
            drains=_drains(drains),
        )

    async def wish(self, breaker: str, state: str, *, lasting: timedelta, by: str, reason: str) -> Wish:
        """Want a state of a breaker for a time; raises `UnknownBreaker` or `UnusableWish`.

        A wish for AUTOMATIC withdraws: replicas that hear it let go, and forget it when its time is over.
        """
        name, by, reason = wanted(state), checked_words("by", by), checked_words("reason", reason)
        lasting = checked_time(lasting)
        known = (await self.standing()).breakers()
        if breaker not in known:
            raise UnknownBreaker(breaker, known)
        words: Sequence[str | int] = [breaker, str(name), _ms(lasting), by, reason, AUDIT_LENGTH]
        since, until = await self._run(SET_WISH, (self._wishes, self._audit), words)
        return Wish(
            breaker=breaker, state=name, since_ms=int(since), until_ms=int(until), by=by, reason=reason
        )

    async def drain(self, replica: str, *, by: str, reason: str) -> None:
        """Want a replica held out of rotation until `undrain`, over its restarts; raises `UnusableWish`."""
        await self._set_drain(replica, DRAINED, by=by, reason=reason)

    async def undrain(self, replica: str, *, by: str, reason: str) -> None:
        """Want it back; a replica that hears it says ready again. Raises `UnusableWish`."""
        await self._set_drain(replica, SERVING, by=by, reason=reason)

    async def _set_drain(self, replica: str, state: str, *, by: str, reason: str) -> None:
        name = checked_words("the replica", replica)
        by, reason = checked_words("by", by), checked_words("reason", reason)
        words: Sequence[str | int] = [name, state, _ms(_DRAIN_KEPT_FOR), by, reason, AUDIT_LENGTH]
        await self._run(SET_DRAIN, (self._drains, self._audit), words)

    async def history(self, *, limit: int = 50) -> list[AuditEntry]:
        """The last wishes, the latest first."""
        async with self._answering():
            entries: Any = await self._redis.xrevrange(self._audit, count=limit)
        return [_entry(entry_id, fields) for entry_id, fields in entries]

    @property
    def _exchanged(self) -> Sequence[str]:
        return (self._wishes, self._replicas, self._drains)

    async def _run(self, script: str, keys: Sequence[str], words: Sequence[str | int]) -> Any:  # noqa: ANN401 -- Redis's reply
        async with self._answering():
            return await self._redis.eval(script, len(keys), *keys, *words)

    @asynccontextmanager
    async def _answering(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(2 * self.timeout_s):  # connecting and asking
                yield
        except (RedisError, OSError) as away:  # TimeoutError is an OSError
            raise ControlUnavailable(f"the control board cannot answer: {type(away).__name__}") from away


def _ms(time: timedelta) -> int:
    return time // timedelta(milliseconds=1)


def _pairs(flat: Sequence[str]) -> Mapping[str, str]:
    return dict(zip(flat[::2], flat[1::2], strict=True))


def _live(flat: Sequence[str], now_ms: int) -> dict[str, Wish]:
    found = (read_wish(breaker, stored) for breaker, stored in _pairs(flat).items())
    return {wish.breaker: wish for wish in found if wish is not None and wish.left_s(now_ms) > 0}


def _reports(flat: Sequence[str]) -> dict[str, Mapping[str, str]]:
    return {name: json.loads(report.partition(" ")[2]) for name, report in sorted(_pairs(flat).items())}


def _drains(flat: Sequence[str]) -> dict[str, DrainWish]:
    found = (read_drain(replica, stored) for replica, stored in _pairs(flat).items())
    return {wish.replica: wish for wish in found if wish is not None}


def _entry(entry_id: str, fields: Mapping[str, str]) -> AuditEntry:
    return AuditEntry(
        at_ms=int(entry_id.partition("-")[0]),
        breaker=fields["breaker"],
        state=fields["state"],
        until_ms=int(fields["until_ms"]),
        by=fields["by"],
        reason=fields["reason"],
    )
