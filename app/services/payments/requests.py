"""Idempotency keys: a request is worked on once, and its answer is kept with what it did.

A key is claimed in a transaction of its own, so that nobody holds a connection while a bank thinks. The
claim runs out: a crash leaves a key that the next try takes over. What the request does and the answer it
gets are one transaction, and only for whoever still holds the claim.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.services.payments.errors import KeyInProgress, KeyReused
from app.services.payments.tables import requests
from app.stores.database import Database

WORK: Final = timedelta(seconds=5)
"""How long a claim lasts beyond the bank's time: twice what the database may take over one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a merchant asked for, under which key; `fingerprint` is a digest of all of it."""

    merchant: str
    key: str
    fingerprint: str
    reference: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the merchant was told: HTTP's status and the JSON body."""

    status: int
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The right to work on a request, until somebody else may."""

    request: Request
    id: str


Work = Callable[[AsyncConnection], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Requests:
    """The keys in the database."""

    database: Database

    async def claim(self, request: Request, *, think: timedelta = timedelta(0)) -> Claim | Answer:
        """The claim, or the answer this request got before; raises `KeyInProgress`, `KeyReused`."""
        claim = Claim(request=request, id=secrets.token_hex(8))
        until = func.clock_timestamp() + think + WORK
        taking = insert(requests).values(
            merchant=request.merchant,
            key=request.key,
            fingerprint=request.fingerprint,
            reference=request.reference,
            claim=claim.id,
            claimed_until=until,
        )
        taking = taking.on_conflict_do_update(
            index_elements=[requests.c.merchant, requests.c.key],
            set_={"claim": claim.id, "claimed_until": until},
            where=requests.c.status.is_(None)
            & (requests.c.claimed_until < func.clock_timestamp())
            & (requests.c.fingerprint == request.fingerprint),
        )

        async def work(connection: AsyncConnection) -> Claim | Answer:
            taken = (await connection.execute(taking.returning(requests.c.key))).one_or_none()
            return claim if taken is not None else await _before(connection, request)

        return await self.database.transaction(work)

    async def finish(self, claim: Claim, work: Work) -> Answer:
        """Do the work and keep its answer, in one transaction; raises `KeyInProgress` if the claim is lost."""

        async def whole(connection: AsyncConnection) -> Answer:
            valid = _ours(claim) & (requests.c.claimed_until > func.clock_timestamp())
            held = await connection.execute(select(requests.c.key).where(valid).with_for_update())
            if held.one_or_none() is None:
                raise KeyInProgress
            answer = await work(connection)
            kept = update(requests).where(_ours(claim)).values(status=answer.status, body=answer.body)
            await connection.execute(kept)
            return answer

        return await self.database.transaction(whole)

    async def release(self, claim: Claim) -> None:
        """Forget a request that did nothing."""

        async def work(connection: AsyncConnection) -> None:
            await connection.execute(delete(requests).where(_ours(claim)))

        await self.database.transaction(work)


async def _before(connection: AsyncConnection, request: Request) -> Answer:
    wanted = select(requests.c.fingerprint, requests.c.status, requests.c.body)
    row = (
        await connection.execute(wanted.filter_by(merchant=request.merchant, key=request.key))
    ).one_or_none()
    if row is None:
        raise KeyInProgress  # released in this very moment
    if row.fingerprint != request.fingerprint:
        raise KeyReused
    if row.status is None:
        raise KeyInProgress
    return Answer(status=row.status, body=row.body)


def _ours(claim: Claim) -> Any:  # noqa: ANN401 -- a condition of SQLAlchemy's, whose type is generic
    request = claim.request
    return (
        (requests.c.merchant == request.merchant)
        & (requests.c.key == request.key)
        & (requests.c.claim == claim.id)
        & requests.c.status.is_(None)
    )
