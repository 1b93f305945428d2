"""Payments and their ledger in PostgreSQL: read, locked and changed inside the caller's transaction."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, Final

from sqlalchemy import Row, Select, func, insert, literal, select, union_all, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.services.payments.errors import NoSuchPayment
from app.services.payments.payment import LIVE, Move, Payment, Status
from app.services.payments.tables import closed_references, payments, transfers

_FIELDS: Final = [payments.c[field.name] for field in fields(Payment)]


def new_id(prefix: str) -> str:
    """An id nobody can guess."""
    return f"{prefix}_{secrets.token_hex(16)}"


def payment_of(row: Row[Any]) -> Payment:
    """The payment that a row of `select_payments` stands for."""
    told = dict(row._mapping)  # noqa: SLF001 -- SQLAlchemy's public name for it begins so
    return Payment(**{**told, "status": Status(told["status"])})


def select_payments() -> Select[Any]:
    """Payments, to be narrowed down."""
    return select(*_FIELDS)


async def locked(connection: AsyncConnection, merchant: str, payment_id: str) -> Payment:
    """The merchant's payment, nobody else's until the transaction ends. Raises `NoSuchPayment`."""
    wanted = select_payments().where(payments.c.id == payment_id, payments.c.merchant == merchant)
    row = (await connection.execute(wanted.with_for_update())).one_or_none()
    if row is None:
        raise NoSuchPayment
    return payment_of(row)


async def live(connection: AsyncConnection, merchant: str, reference: str) -> Payment | None:
    """The one payment of this reference that holds or took money or may yet, locked; or None."""
    wanted = select_payments().where(
        payments.c.merchant == merchant, payments.c.reference == reference, payments.c.status.in_(LIVE)
    )
    row = (await connection.execute(wanted.with_for_update())).one_or_none()
    return None if row is None else payment_of(row)


async def lock_reference(connection: AsyncConnection, merchant: str, reference: str) -> None:
    """Whoever opens or closes this reference waits for the end of this transaction."""
    name = func.hashtextextended(f"{merchant} {reference}", 0)
    await connection.execute(select(func.pg_advisory_xact_lock(name)))


async def is_closed(connection: AsyncConnection, merchant: str, reference: str) -> bool:
    """Whether the merchant gave the reference up."""
    wanted = select(closed_references.c.reference).filter_by(merchant=merchant, reference=reference)
    return (await connection.execute(wanted)).one_or_none() is not None


async def close(connection: AsyncConnection, merchant: str, reference: str) -> None:
    """Nothing will be authorised for this reference any more."""
    row = {"merchant": merchant, "reference": reference}
    await connection.execute(upsert(closed_references).values(row).on_conflict_do_nothing())


async def opened(connection: AsyncConnection, payment: Payment) -> None:
    """Keep a new payment; the caller holds its reference."""
    await connection.execute(insert(payments).values(asdict(payment)))


async def booked(connection: AsyncConnection, move: Move) -> None:
    """Keep what happened to a payment that the caller holds."""
    payment = move.payment
    await connection.execute(
        update(payments)
        .where(payments.c.id == payment.id)
        .values(
            status=payment.status,
            captured=payment.captured,
            refunded=payment.refunded,
            decline_reason=payment.decline_reason,
        )
    )
    if move.transfers:
        rows = [{"payment_id": payment.id, **asdict(transfer)} for transfer in move.transfers]
        await connection.execute(insert(transfers), rows)


def balances() -> Select[Any]:
    """Each account and its balance; every transfer counts once on each side."""
    legs = union_all(
        select(transfers.c.target.label("account"), transfers.c.amount),
        select(transfers.c.source.label("account"), (literal(0) - transfers.c.amount).label("amount")),
    ).subquery()
    return select(legs.c.account, func.sum(legs.c.amount)).group_by(legs.c.account).order_by(legs.c.account)


def summed(rows: Sequence[Row[str, int]]) -> Mapping[str, object]:
    """The balances as people and programs read them."""
    accounts = {str(account): int(balance) for account, balance in rows}
    return {"accounts": accounts, "total": sum(accounts.values())}
