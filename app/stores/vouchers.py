"""Vouchers in PostgreSQL: a use is counted in the transaction of its order, under a lock on the voucher."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.pricing import KnownVoucher, Voucher
from app.shop.text import storable
from app.stores.database import AnyRow, AnySelect, Database
from app.stores.tables_vouchers import voucher_uses, vouchers

_INSTANT: Final = timedelta(seconds=1)
"""So long was a voucher good that is ended before it began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlVouchers:
    """The port of vouchers on `vouchers` and `voucher_uses`. Raises `Unavailable`."""

    database: Database

    async def find(self, code: str, *, customer: str) -> KnownVoucher | None:
        """The voucher of that code, or None; one query."""
        if not (storable(code) and storable(customer)):
            return None
        row = await self.database.row(_known(code, customer))
        return None if row is None else _as_known(row)

    async def page(self) -> Sequence[KnownVoucher]:
        """All of them, the newest first."""
        rows = await self.database.rows(select(vouchers).order_by(vouchers.c.created_at.desc()))
        return [KnownVoucher(voucher=voucher_of(row), used=row.used) for row in rows]

    async def add(self, voucher: Voucher) -> bool:
        """Keep a new one; False when its code is taken."""
        return await self.database.transaction(lambda connection: keep(connection, voucher))

    async def end(self, code: str, *, at: datetime) -> bool:
        """Let nobody use it from then on; False when there is none, or it has ended before."""
        return await self.database.transaction(lambda connection: close(connection, code, at=at))


async def keep(connection: AsyncConnection, voucher: Voucher) -> bool:
    """Keep a new one; False when its code is taken."""
    added = await connection.scalar(
        upsert(vouchers)
        .values(
            code=voucher.code,
            amount=voucher.amount,
            percent=voucher.percent,
            at_most=voucher.at_most,
            minimum=voucher.minimum,
            starts_at=voucher.starts_at,
            ends_at=voucher.ends_at,
            use_limit=voucher.limit,
            use_limit_each=voucher.limit_each,
        )
        .on_conflict_do_nothing()
        .returning(vouchers.c.code)
    )
    return added is not None


async def close(connection: AsyncConnection, code: str, *, at: datetime) -> bool:
    """Let nobody use it from then on; False when there is none, or it has ended before."""
    ended = await connection.execute(
        update(vouchers)
        .where(vouchers.c.code == code, vouchers.c.ends_at.is_(None) | (vouchers.c.ends_at > at))
        .values(ends_at=at, starts_at=func.least(vouchers.c.starts_at, at - _INSTANT))
    )
    return bool(ended.rowcount)


async def locked(connection: AsyncConnection, code: str, *, customer: str) -> KnownVoucher | None:
    """The voucher as it will be until the transaction ends: every other use of it waits."""
    await connection.execute(select(vouchers.c.code).where(vouchers.c.code == code).with_for_update())
    row = (await connection.execute(_known(code, customer))).first()
    return None if row is None else _as_known(row)


async def spend(
    connection: AsyncConnection, order_id: str, code: str, *, customer: str, discount: int, at: datetime
) -> None:
    """Count one use of a voucher that was locked."""
    await connection.execute(update(vouchers).where(vouchers.c.code == code).values(used=vouchers.c.used + 1))
    await connection.execute(
        insert(voucher_uses).values(
            order_id=order_id, code=code, customer=customer, discount=discount, used_at=at
        )
    )


async def give_back(connection: AsyncConnection, order_id: str) -> None:
    """The order came to nothing: its voucher may be used once more; nothing where it used none."""
    code = await connection.scalar(
        delete(voucher_uses).where(voucher_uses.c.order_id == order_id).returning(voucher_uses.c.code)
    )
    if code is not None:
        await connection.execute(
            update(vouchers).where(vouchers.c.code == code).values(used=vouchers.c.used - 1)
        )


def _known(code: str, customer: str) -> AnySelect:
    by_customer = (
        select(func.count())
        .select_from(voucher_uses)
        .where(voucher_uses.c.code == vouchers.c.code, voucher_uses.c.customer == customer)
        .scalar_subquery()
    )
    return select(vouchers, by_customer.label("used_by_customer")).where(vouchers.c.code == code)


def _as_known(row: AnyRow) -> KnownVoucher:
    return KnownVoucher(voucher=voucher_of(row), used=row.used, used_by_customer=row.used_by_customer)


def voucher_of(row: AnyRow) -> Voucher:
    """The voucher that a row of `vouchers` tells."""
    return Voucher(
        code=row.code,
        amount=row.amount,
        percent=row.percent,
        at_most=row.at_most,
        minimum=row.minimum,
        starts_at=row.starts_at,
        ends_at=row.ends_at,
        limit=row.use_limit,
        limit_each=row.use_limit_each,
    )
