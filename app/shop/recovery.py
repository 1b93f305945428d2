"""Finishes or undoes what a crash, a lost answer or a shopper who never came back has left open."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from app.shop.errors import Unavailable
from app.shop.orders import Ledger, OpenPayment
from app.shop.payments import OutcomeUnknown
from app.shop.settlement import Settlement

_log = logging.getLogger(__name__)

_AT_ONCE: Final = 4
"""Payments looked at together: less than half the acquirer's places, which shoppers need."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """Runs in every replica; each open payment is somebody's alone while it is looked at."""

    ledger: Ledger
    settlement: Settlement
    interval: timedelta = timedelta(seconds=2)

    async def run(self) -> None:
        """Look again and again; while the database or the acquirer is away, nothing is lost."""
        while True:
            with suppress(Unavailable):
                while await self.once() == _AT_ONCE:
                    pass
            await asyncio.sleep(self.interval.total_seconds())

    async def once(self) -> int:
        """One look at what is due; how many payments that were."""
        due = await self.ledger.due(most=_AT_ONCE)
        await asyncio.gather(*(self._advance(payment) for payment in due))
        return len(due)

    async def _advance(self, payment: OpenPayment) -> None:
        try:
            await self.settlement.advance(payment)
        except (Unavailable, OutcomeUnknown) as away:
            _log.info("order %s waits: %s", payment.order_id, away)
        except Exception:  # noqa: BLE001 -- the top of a job: the other orders are tidied up all the same
            _log.exception("the payment of order %s needs a person", payment.order_id)
