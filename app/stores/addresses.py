"""Addresses in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.addresses import Address, Place
from app.shop.errors import LoginNeeded
from app.stores.accounts import is_uuid, not_erased
from app.stores.database import AnyRow, AnySelect, Database
from app.stores.tables import accounts
from app.stores.tables_accounts import addresses


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlAddresses:
    """The port on the table `addresses`. Whoever writes locks the account first, so that its default stays one."""

    database: Database

    async def of(self, account_id: str) -> Sequence[Address]:
        """One query."""
        if not is_uuid(account_id):
            return []
        return [_address(row) for row in await self.database.rows(_of(account_id))]

    async def add(self, account_id: str, place: Place, *, is_default: bool, most: int) -> Address | None:
        """The first one is the default, whatever was wished."""

        async def work(connection: AsyncConnection) -> AnyRow | None:
            await _lock(connection, account_id)
            number = await connection.scalar(
                select(func.count()).select_from(addresses).where(addresses.c.account_id == account_id)
            )
            if (number or 0) >= most:
                return None
            if is_default:
                await _no_default(connection, account_id)
            added = await connection.execute(
                insert(addresses)
                .values(
                    id=str(uuid4()),
                    account_id=account_id,
                    is_default=is_default or number == 0,
                    **_columns(place),
                )
                .returning(addresses)
            )
            row: AnyRow = added.one()
            return row

        row = await self.database.transaction(work)
        return None if row is None else _address(row)

    async def change(
        self, account_id: str, address_id: str, place: Place, *, is_default: bool
    ) -> Address | None:
        """The default one stays it until another one becomes it."""
        if not is_uuid(address_id):
            return None

        async def work(connection: AsyncConnection) -> AnyRow | None:
            await _lock(connection, account_id)
            if is_default and await connection.scalar(_of(account_id).where(addresses.c.id == address_id)):
                await _no_default(connection, account_id)
            default = {"is_default": True} if is_default else {}
            changed = await connection.execute(
                update(addresses)
                .where(addresses.c.id == address_id, addresses.c.account_id == account_id)
                .values(**_columns(place), **default)
                .returning(addresses)
            )
            row: AnyRow | None = changed.one_or_none()
            return row

        row = await self.database.transaction(work)
        return None if row is None else _address(row)

    async def remove(self, account_id: str, address_id: str) -> bool:
        """At most two statements."""
        if not is_uuid(address_id):
            return False

        async def work(connection: AsyncConnection) -> bool:
            await _lock(connection, account_id)
            was_default = await connection.scalar(
                delete(addresses)
                .where(addresses.c.id == address_id, addresses.c.account_id == account_id)
                .returning(addresses.c.is_default)
            )
            if was_default:
                oldest = _of(account_id).with_only_columns(addresses.c.id).limit(1).scalar_subquery()
                await connection.execute(
                    update(addresses).where(addresses.c.id == oldest).values(is_default=True)
                )
            return was_default is not None

        return await self.database.transaction(work)


def _of(account_id: str) -> AnySelect:
    return (
        select(addresses)
        .where(addresses.c.account_id == account_id)
        .order_by(addresses.c.is_default.desc(), addresses.c.created_at, addresses.c.id)
    )


async def _lock(connection: AsyncConnection, account_id: str) -> None:
    own = select(accounts.c.id).where(accounts.c.id == account_id, not_erased())
    if await connection.scalar(own.with_for_update()) is None:
        raise LoginNeeded("the account is gone")


async def _no_default(connection: AsyncConnection, account_id: str) -> None:
    await connection.execute(
        update(addresses)
        .where(addresses.c.account_id == account_id, addresses.c.is_default)
        .values(is_default=False)
    )


def _columns(place: Place) -> dict[str, str]:
    return {"name": place.name, "phone": place.phone, "address": place.address, "province": place.province}


def _address(row: AnyRow) -> Address:
    place = Place(name=row.name, phone=row.phone, address=row.address, province=row.province)
    return Address(id=row.id, place=place, is_default=row.is_default)
