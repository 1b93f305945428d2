"""Who may come in, in PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.accounts import Account, Role, mail_to
from app.shop.desk.audit import Deed
from app.shop.desk.errors import ChangedMeanwhile
from app.shop.errors import Forbidden, LastOwner
from app.shop.mail import MailKind
from app.shop.standing import Changed
from app.stores import outbox
from app.stores.accounts import account_of_row, is_open, is_uuid, not_erased
from app.stores.database import AnyRow, Database
from app.stores.desk.audit import once, record
from app.stores.revocations import promise
from app.stores.tables import accounts


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlStandings:
    """The port on the table `accounts`."""

    database: Database

    async def lock(self, account_id: str, deed: Deed | None = None) -> Changed | None:
        """Locked once, however often it is asked."""

        async def work(connection: AsyncConnection) -> Changed | None:
            row = await _claimed(connection, account_id, deed)
            if row is None:
                return None
            if row.locked_at is not None:
                return account_of_row(row), None
            await leave_an_owner(connection, row)
            await _note(connection, deed, "account.lock", row)
            return await _change(connection, row, "account_locked", locked_at=func.now())

        return await self.database.transaction(work) if is_uuid(account_id) else None

    async def unlock(self, account_id: str, deed: Deed | None = None) -> Account | None:
        """Their sessions ended when it was locked, and stay ended."""

        async def work(connection: AsyncConnection) -> Account | None:
            row = await _claimed(connection, account_id, deed)
            if row is None:
                return None
            if row.locked_at is None:
                return account_of_row(row)
            unlocked = await connection.execute(
                update(accounts).where(accounts.c.id == account_id).values(locked_at=None).returning(accounts)
            )
            account = account_of_row(unlocked.one())
            await _note(connection, deed, "account.unlock", row)
            await outbox.add(connection, mail_to(account, "account_unlocked"))
            return account

        return await self.database.transaction(work) if is_uuid(account_id) else None

    async def give(
        self, account_id: str, role: Role, deed: Deed | None = None, *, seen: Role | None = None
    ) -> Changed | None:
        """Nothing happens to whoever has that role."""

        async def work(connection: AsyncConnection) -> Changed | None:
            row = await _claimed(connection, account_id, deed)
            if row is None:
                return None
            if row.role == role:
                return account_of_row(row), None
            if seen is not None and row.role != seen:
                raise ChangedMeanwhile("the account has another role by now")
            await leave_an_owner(connection, row)
            await _note(connection, deed, "account.role", row, role=role)
            return await _change(connection, row, "role_changed", role=role)

        return await self.database.transaction(work) if is_uuid(account_id) else None


async def locked_row(connection: AsyncConnection, account_id: str) -> AnyRow | None:
    """The account under a lock, together with every owner: two owners who lock each other come one by one."""
    return (await _locked_rows(connection, account_id)).get(account_id)


async def _locked_rows(connection: AsyncConnection, account_id: str) -> Mapping[str, AnyRow]:
    found = await connection.execute(
        select(accounts)
        .where(not_erased(), (accounts.c.id == account_id) | (accounts.c.role == "owner"))
        .order_by(accounts.c.id)
        .with_for_update()
    )
    return {row.id: row for row in found}


async def _claimed(connection: AsyncConnection, account_id: str, deed: Deed | None) -> AnyRow | None:
    """The account under that lock, for an owner who still is one, and whose form did nothing before."""
    if deed is not None:
        await once(connection, deed)
    rows = await _locked_rows(connection, account_id)
    if deed is not None:
        owner = rows.get(deed.account_id)
        if owner is None or owner.role != "owner" or owner.locked_at is not None:
            raise Forbidden("whoever did this owns the shop no more")
    return rows.get(account_id)


async def leave_an_owner(connection: AsyncConnection, row: AnyRow) -> None:
    """Raises `LastOwner` where the account is the only owner who may come in."""
    others = select(func.count()).where(accounts.c.role == "owner", accounts.c.id != row.id, is_open())
    if row.role == "owner" and not await connection.scalar(others):
        raise LastOwner("nobody would be left to run the shop")


async def _change(connection: AsyncConnection, row: AnyRow, kind: MailKind, **values: Any) -> Changed:  # noqa: ANN401 -- values of columns
    changed = await connection.execute(
        update(accounts).where(accounts.c.id == row.id).values(values).returning(accounts)
    )
    account = account_of_row(changed.one())
    await outbox.add(connection, mail_to(account, kind))
    return account, await promise(connection, account.id)


async def _note(
    connection: AsyncConnection, deed: Deed | None, action: str, row: AnyRow, *, role: Role | None = None
) -> None:
    """The entry of an owner's deed; what is done at the console has none."""
    if deed is None:
        return
    before = {} if role is None else {"role": row.role}
    after = {"email": row.email} if role is None else {"email": row.email, "role": role}
    await record(connection, deed, action=action, subject=f"account {row.id}", before=before, after=after)
