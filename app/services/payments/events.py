"""Events: written in the transaction of what they tell, so that neither is there without the other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.services.payments.ledger import new_id
from app.services.payments.payment import Payment
from app.services.payments.tables import deliveries, events


@dataclass(frozen=True, slots=True, kw_only=True)
class Outbox:
    """Where events wait, one queue for each consumer."""

    consumers: tuple[str, ...]

    async def put(self, connection: AsyncConnection, name: str, payment: Payment) -> None:
        """Keep one event and put it into every queue."""
        event_id = new_id("evt")
        told = {
            "id": event_id,
            "type": name,
            "created_at": datetime.now(UTC).isoformat(),
            "data": public(payment),
        }
        row = {"id": event_id, "payment_id": payment.id, "body": json.dumps(told)}
        await connection.execute(insert(events).values(row))
        if self.consumers:
            queues = [{"event_id": event_id, "consumer": consumer} for consumer in self.consumers]
            await connection.execute(insert(deliveries), queues)


def public(payment: Payment) -> Mapping[str, Any]:
    """The payment as merchants see it."""
    return {
        "id": payment.id,
        "merchant_reference": payment.reference,
        "status": str(payment.status),
        "amount": payment.amount,
        "currency": payment.currency,
        "captured": payment.captured,
        "refunded": payment.refunded,
        "decline_reason": payment.decline_reason,
        "created_at": payment.created_at.isoformat(),
    }
