"""Makes an order and its payment agree: in the request that places it, and after whatever broke it off.

Each step is safe to repeat and safe to race: the acquirer knows every request by a key made of the order's
id, and of two who move an order one is first. What shall become of the money is in the shop's book before
the acquirer is asked for it.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from app.shop.errors import (
    Invalid,
    KeyInProgress,
    PaymentDeclined,
    PaymentRefused,
    PaymentsUnavailable,
    ShopError,
    Unavailable,
    WrongStatus,
)
from app.shop.orders import THE_SHOP, Booking, Ledger, Move, OpenPayment, Order, Orders
from app.shop.payments import Authorisation, OutcomeUnknown, Payment, Payments

_log = logging.getLogger(__name__)

_POLL: Final = timedelta(seconds=15)
"""Between looks at a shopper who is at their bank: webhooks are faster, and may get lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """`return_url` is where a bank sends the shopper back to, `wait` how long the stock waits for them."""

    orders: Orders
    ledger: Ledger
    payments: Payments
    return_url: str
    wait: timedelta = timedelta(minutes=15)

    async def authorise(self, order: Order, token: str) -> Order:
        """Have the money of an order that is being placed held; the order as it is then.

        Otherwise the order has failed, and its stock and cart are free again: raises `PaymentDeclined`,
        `PaymentRefused`, and `PaymentsUnavailable`, when whatever may be held goes back. Raises
        `KeyInProgress` where somebody else took this order on meanwhile.
        """
        try:
            return await self._heed(order.id, await self._asked(order, token))
        except WrongStatus as late:
            raise KeyInProgress(order.id) from late

    async def _asked(self, order: Order, token: str) -> Payment:
        wanted = Authorisation(
            reference=order.id, amount=order.total, token=token, return_url=self.return_url
        )
        try:
            return await self.payments.authorise(wanted, key=f"authorise-{order.id}")
        except Unavailable as away:
            await self._fail(order.id, "payments away", Booking(status="released", wanted="back"))
            raise PaymentsUnavailable(retry_after_s=away.retry_after_s) from away
        except Invalid as refused:
            await self._fail(order.id, "means unknown", Booking(status="released", wanted="back"))
            raise PaymentRefused("the acquirer does not know this means of payment") from refused
        except ShopError as unknown:
            await self._fail(order.id, "payment unknown")
            raise PaymentsUnavailable from unknown

    async def look(self, order_id: str) -> None:
        """Ask now what became of an order that waits for its shopper, whoever hinted at it.

        Raises `Unavailable`.
        """
        payment = await self.ledger.open_of(order_id)
        if payment is not None and payment.order_status == "awaiting_payment":
            with suppress(OutcomeUnknown):  # then it is looked at again
                await self.advance(payment)

    async def hurry(self, order_id: str) -> None:
        """Try at once to bring the money where the book wants it; if that fails, it is tried again."""
        with suppress(Unavailable, OutcomeUnknown):
            payment = await self.ledger.open_of(order_id)
            if payment is not None and payment.wanted != "held":
                await self.advance(payment)

    async def advance(self, payment: OpenPayment) -> None:
        """Bring a payment closer to where the shop wants it; raises what the acquirer and the stores raise."""
        match payment.wanted:
            case "held":
                await self._ask(payment)
            case "taken":
                await self._take(payment)
            case "back":
                await self._give_back(payment)

    async def _ask(self, open_: OpenPayment) -> None:
        """What became of it? What never got an answer is given up, and so is what came too late."""
        try:
            found = await self.payments.find(open_.reference)
        except Unavailable:
            if not open_.is_late:
                raise
            await self._give_up(open_)
            return
        newest = next(iter(found.payments), None)
        is_open = found.in_progress or (newest is not None and newest.status == "requires_action")
        waits = open_.order_status == "awaiting_payment" or found.in_progress
        if newest is not None and newest.status in {"authorised", "declined"}:
            with suppress(WrongStatus, PaymentDeclined):
                await self._heed(open_.order_id, newest)
        elif open_.is_late or not (is_open and waits):
            await self._give_up(open_)

    async def _give_up(self, open_: OpenPayment) -> None:
        with suppress(WrongStatus):  # somebody was first
            await self._fail(open_.order_id, "never paid")
        await self.hurry(open_.order_id)

    async def _give_back(self, open_: OpenPayment) -> None:
        """Nothing is held, nothing will be, and what was taken is refunded."""
        closed = await self.payments.close(open_.reference)
        if closed.closed or closed.payment is None:
            await self.ledger.book(open_, Booking(status="released"))
        else:
            await self.payments.refund(closed.payment.id, key=f"refund-{open_.order_id}")
            await self.ledger.book(open_, Booking(status="refunded"))
        _log.info("the money of order %s is back", open_.order_id)

    async def _take(self, open_: OpenPayment) -> None:
        if open_.payment_id is not None:
            await self.payments.capture(open_.payment_id, key=f"capture-{open_.order_id}")
        await self.ledger.book(open_, Booking(status="captured"))

    async def _heed(self, order_id: str, payment: Payment) -> Order:
        """The order after what the acquirer told of its payment; raises `PaymentDeclined`, `WrongStatus`."""
        match payment.status:
            case "authorised" | "captured":
                held = Booking(status="authorised", payment_id=payment.id)
                return await self.orders.move(order_id, Move(to="confirmed", actor=THE_SHOP, booking=held))
            case "requires_action":
                waiting = Booking(
                    status="requires_action",
                    payment_id=payment.id,
                    redirect_url=payment.redirect_url,
                    look_in=_POLL,
                )
                return await self.orders.move(
                    order_id,
                    Move(to="awaiting_payment", actor=THE_SHOP, booking=waiting, wait_for=self.wait),
                )
            case "declined" | "voided":
                reason = payment.decline_reason or payment.status
                no = Booking(status="declined", payment_id=payment.id, declined_as=reason)
                await self._fail(order_id, reason, no)
                raise PaymentDeclined(reason)

    async def _fail(self, order_id: str, why: str, booking: Booking | None = None) -> None:
        """Without a booking, somebody must make sure that nothing is held."""
        await self.orders.move(order_id, Move(to="failed", actor=THE_SHOP, note=why, booking=booking))
