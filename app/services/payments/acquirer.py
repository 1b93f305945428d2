"""What the acquirer does: authorise, capture, void, refund, close a reference, and say what happened."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from sqlalchemy import Select, exists, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.resilience import deadline
from app.services.payments import ledger, payment
from app.services.payments.config import AcquirerConfig
from app.services.payments.errors import NoSuchPayment, Refused, TooLate
from app.services.payments.events import Outbox, public
from app.services.payments.payment import Move, Payment, Status
from app.services.payments.requests import WORK, Answer, Claim, Request, Requests, Work
from app.services.payments.tables import payments, requests
from app.stores.database import Database

OK: Final = "tok_ok"
DECLINED: Final = "tok_declined"
SLOW: Final = "tok_slow"
CRASH: Final = "tok_crash"
REDIRECT: Final = "tok_redirect"
TOKENS: Final = frozenset({OK, DECLINED, SLOW, CRASH, REDIRECT})

CRASHED: Final = 70
"""The exit code of a process that was told to crash: a software error, in sysexits.h."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """An authorisation as a merchant asks for it; `amount` in whole minor units."""

    reference: str
    amount: int
    currency: str
    token: str
    return_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Acquirer:
    """The bank's side of a payment. Raises `AcquirerError`, and `Unavailable` when nobody knows."""

    database: Database
    requests: Requests
    outbox: Outbox
    config: AcquirerConfig

    async def authorise(self, request: Request, ask: Ask) -> Answer:
        """A payment, whatever became of it; the same request gets the same answer."""
        think = self.config.slow if ask.token == SLOW else timedelta(0)
        claim = await self.requests.claim(request, think=think)
        if isinstance(claim, Answer):
            return claim
        await self._think(claim, think)
        answer = await self.requests.finish(claim, _told(partial(self._open, request, ask)))
        if ask.token == CRASH:
            os._exit(CRASHED)  # the charge is in the ledger; whoever asked will never hear of it from us
        return answer

    async def capture(self, request: Request, payment_id: str, amount: int | None) -> Answer:
        """Take the money, or a part of it."""
        return await self._change(request, payment_id, partial(payment.capture, amount=amount))

    async def void(self, request: Request, payment_id: str) -> Answer:
        """Let go of what is held."""
        return await self._change(request, payment_id, payment.void)

    async def refund(self, request: Request, payment_id: str, amount: int | None) -> Answer:
        """Give money back, all that is left by default."""
        return await self._change(request, payment_id, partial(payment.refund, amount=amount))

    async def close(self, merchant: str, reference: str) -> Mapping[str, Any]:
        """Give a reference up: what is held for it is let go, and nothing will be authorised any more.

        That holds for requests still under way too, wherever they are. Money already taken stays taken:
        then nothing changes, and the answer says `closed: false`.
        """

        async def work(connection: AsyncConnection) -> Mapping[str, Any]:
            await ledger.lock_reference(connection, merchant, reference)
            found = await ledger.live(connection, merchant, reference)
            closed = found is None or found.status is not Status.CAPTURED
            if closed:
                await ledger.close(connection, merchant, reference)
                found = found and await self._book(connection, payment.void(found))
            told = None if found is None else public(found)
            return {"merchant_reference": reference, "closed": closed, "payment": told}

        return await self.database.transaction(work)

    async def find(self, merchant: str, reference: str) -> Mapping[str, Any]:
        """What happened to this reference, newest first, and whether something is still happening."""
        # In this order: what was no longer under way in the first answer has its payment in the second.
        under_way = await self.database.row(select(exists(_under_way(merchant, reference))))
        rows = await self.database.rows(
            ledger.select_payments()
            .where(payments.c.merchant == merchant, payments.c.reference == reference)
            .order_by(payments.c.created_at.desc())
        )
        items = [public(ledger.payment_of(row)) for row in rows]
        return {
            "items": items,
            "total": len(items),
            "page": 1,
            "page_size": max(len(items), 1),
            "in_progress": bool(under_way and under_way[0]),
        }

    async def show(self, merchant: str, payment_id: str) -> Mapping[str, Any]:
        """One payment of the merchant's. Raises `NoSuchPayment`."""
        wanted = ledger.select_payments().filter_by(id=payment_id, merchant=merchant)
        row = await self.database.row(wanted)
        if row is None:
            raise NoSuchPayment
        return public(ledger.payment_of(row))

    async def balances(self) -> Mapping[str, object]:
        """Every account of the ledger; `total` is zero."""
        return ledger.summed(await self.database.rows(ledger.balances()))

    async def waiting(self, secret: str) -> Payment:
        """The payment of a cardholder's page. Raises `NoSuchPayment`."""
        row = await self.database.row(ledger.select_payments().where(payments.c.action_secret == secret))
        if row is None:
            raise NoSuchPayment
        return ledger.payment_of(row)

    async def confirm(self, secret: str, *, agreed: bool) -> Payment:
        """The payment after the cardholder's answer; a second answer changes nothing."""
        known = await self.waiting(secret)

        async def work(connection: AsyncConnection) -> Payment:
            held = await ledger.locked(connection, known.merchant, known.id)
            if held.status is not Status.REQUIRES_ACTION:
                return held
            return await self._book(connection, payment.confirm(held, agreed=agreed))

        return await self.database.transaction(work)

    async def _open(self, request: Request, ask: Ask, connection: AsyncConnection) -> Answer:
        await ledger.lock_reference(connection, request.merchant, ask.reference)
        if await ledger.is_closed(connection, request.merchant, ask.reference):
            raise Refused("reference_closed", "the merchant gave this reference up")
        if await ledger.live(connection, request.merchant, ask.reference) is not None:
            raise Refused("reference_taken", "this reference has a payment already")
        new = _new(request, ask)
        await ledger.opened(connection, new)
        after = await self._book(connection, _judged(new, ask.token))
        return Answer(status=201, body=self._public(after))

    def _public(self, one: Payment) -> Mapping[str, Any]:
        if one.status is not Status.REQUIRES_ACTION:
            return public(one)
        return {**public(one), "redirect_url": f"{self.config.public_url}/pay/{one.action_secret}"}

    async def _change(self, request: Request, payment_id: str, step: Callable[[Payment], Move]) -> Answer:
        claim = await self.requests.claim(request)
        if isinstance(claim, Answer):
            return claim

        async def work(connection: AsyncConnection) -> Answer:
            held = await ledger.locked(connection, request.merchant, payment_id)
            return Answer(status=200, body=public(await self._book(connection, step(held))))

        return await self.requests.finish(claim, _told(work))

    async def _book(self, connection: AsyncConnection, move: Move) -> Payment:
        await ledger.booked(connection, move)
        await self.outbox.put(connection, move.event, move.payment)
        return move.payment

    async def _think(self, claim: Claim, think: timedelta) -> None:
        """The bank takes its time; a caller who leaves meanwhile has asked for nothing."""
        try:
            await asyncio.sleep(think.total_seconds())
        except asyncio.CancelledError:
            await self.requests.release(claim)
            raise


def _new(request: Request, ask: Ask) -> Payment:
    redirected = ask.token == REDIRECT
    return Payment(
        id=ledger.new_id("pay"),
        merchant=request.merchant,
        reference=ask.reference,
        status=Status.REQUIRES_ACTION,
        amount=ask.amount,
        currency=ask.currency,
        return_url=ask.return_url if redirected else None,
        action_secret=secrets.token_urlsafe(32) if redirected else None,
        created_at=datetime.now(UTC),
    )


def _judged(new: Payment, token: str) -> Move:
    if token == REDIRECT:
        return Move(payment=new, transfers=[], event="payment.requires_action")
    if token == DECLINED:
        return payment.declined(new, "card_declined")
    return payment.authorised(new)


def _told(work: Work) -> Work:
    """The work; what it refuses is an answer like any other, and is kept."""

    async def telling(connection: AsyncConnection) -> Answer:
        left_s = deadline.left_s()
        if left_s is not None and left_s <= 0:
            raise TooLate
        try:
            return await work(connection)
        except NoSuchPayment as missing:
            return Answer(status=404, body={"code": missing.code, "detail": str(missing)})
        except Refused as refused:
            return Answer(status=409, body={"code": refused.code, "detail": str(refused)})

    return telling


def _under_way(merchant: str, reference: str) -> Select[Any]:
    """Requests that may still become a payment: a claim is good until it runs out, its transaction a bit longer."""
    return select(requests.c.key).where(
        requests.c.merchant == merchant,
        requests.c.reference == reference,
        requests.c.status.is_(None),
        requests.c.claimed_until + WORK > func.clock_timestamp(),
    )
