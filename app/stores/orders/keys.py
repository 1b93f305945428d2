"""Idempotency keys: whose they are, whether somebody works on one, and what it was answered."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from sqlalchemy import delete, func, insert, select, true, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.errors import KeyInProgress, KeyReused, LoginNeeded, PaymentDeclined
from app.shop.guests import is_guest
from app.shop.orders import Order, OrderRequest, OrderStatus
from app.stores.accounts import held
from app.stores.database import AnyRow, AnySelect
from app.stores.orders.owners import columns_of, owned
from app.stores.orders.rows import status_of
from app.stores.tables_orders import order_keys


async def lock(connection: AsyncConnection, request: OrderRequest) -> None:
    """Be the only one who works on this key until the transaction ends, or raise `KeyInProgress`.

    Likewise the account stays somebody's, or it is `LoginNeeded`: nobody could follow or pay its order.
    """
    name = f"order {request.account_id} {request.key}".encode()
    number = int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "big", signed=True)
    is_somebody = true() if is_guest(request.account_id) else held(request.account_id).exists()
    asked = select(func.pg_try_advisory_xact_lock(number).label("is_ours"), is_somebody.label("is_somebody"))
    found = (await connection.execute(asked)).one()
    if not found.is_ours:
        raise KeyInProgress
    if not found.is_somebody:
        raise LoginNeeded("the account is gone")


def kept(owner: str, key: str) -> AnySelect:
    """What is known of a key."""
    return select(order_keys.c.fingerprint, order_keys.c.order_id, order_keys.c.answered).where(
        owned(order_keys, owner), order_keys.c.key == key
    )


def check(kept: AnyRow, fingerprint: str) -> None:
    """Raise `KeyReused` for another request's key, `KeyInProgress` while nobody knows the answer."""
    if kept.fingerprint != fingerprint:
        raise KeyReused("this idempotency key belongs to another request")
    if kept.answered is None:
        raise KeyInProgress(kept.order_id)


def answer(kept: AnyRow, order: Order) -> Order:
    """The order as it was told then; raises what was told instead of one."""
    status = status_of(kept.answered)
    if status == "failed":
        raise PaymentDeclined(order.declined_as or "unknown")
    return replace(order, status=status)


async def claim(
    connection: AsyncConnection, request: OrderRequest, order_id: str, answered: str | None
) -> None:
    """Keep the key with the order that it made."""
    await connection.execute(
        insert(order_keys).values(
            **columns_of(request.account_id),
            key=request.key,
            fingerprint=request.fingerprint,
            order_id=order_id,
            answered=answered,
        )
    )


async def settle(connection: AsyncConnection, order_id: str, status: OrderStatus) -> None:
    """The first answer is the one that is given again."""
    await connection.execute(
        update(order_keys)
        .where(order_keys.c.order_id == order_id, order_keys.c.answered.is_(None))
        .values(answered=status)
    )


async def forget(connection: AsyncConnection, order_id: str) -> None:
    """Nothing came of it: the same key may try again."""
    await connection.execute(
        delete(order_keys).where(order_keys.c.order_id == order_id, order_keys.c.answered.is_(None))
    )
