"""Vouchers at the desk: each change with its entry in the log."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.desk.audit import Deed
from app.shop.errors import Invalid, NotFound
from app.shop.paging import Page, offset_of
from app.shop.pricing import KnownVoucher, Voucher
from app.stores import vouchers as steps
from app.stores.database import Database
from app.stores.desk.audit import once, record
from app.stores.tables_vouchers import vouchers


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlVoucherBook:
    """The port of vouchers at the desk on the table `vouchers`."""

    database: Database

    async def page(self, *, page: int, page_size: int) -> Page[KnownVoucher]:
        """One query for the page, another for the total."""
        offset = offset_of(page, page_size)
        counted = await self.database.row(select(func.count()).select_from(vouchers))
        rows = await self.database.rows(
            select(vouchers)
            .order_by(vouchers.c.created_at.desc(), vouchers.c.code)
            .limit(page_size)
            .offset(offset)
        )
        items = [KnownVoucher(voucher=steps.voucher_of(row), used=row.used) for row in rows]
        return Page(items=items, total=counted[0] if counted else 0, page=page, page_size=page_size)

    async def add(self, voucher: Voucher, deed: Deed) -> None:
        """One transaction."""

        async def work(connection: AsyncConnection) -> None:
            await once(connection, deed)
            if not await steps.keep(connection, voucher):
                raise Invalid("code", "is another voucher's", code="voucher_taken")
            subject = f"voucher {voucher.code}"
            await record(connection, deed, action="voucher.add", subject=subject, after=_told(voucher))

        await self.database.transaction(work)

    async def end(self, code: str, deed: Deed, *, at: datetime) -> None:
        """One transaction."""

        async def work(connection: AsyncConnection) -> None:
            await once(connection, deed)
            kept = select(vouchers).where(vouchers.c.code == code).with_for_update()
            row = (await connection.execute(kept)).one_or_none()
            if row is None:
                raise NotFound("voucher")
            if await steps.close(connection, code, at=at):
                before, after = _told(steps.voucher_of(row)), {"ends_at": at.isoformat(), "used": row.used}
                subject = f"voucher {code}"
                await record(
                    connection, deed, action="voucher.end", subject=subject, before=before, after=after
                )

        await self.database.transaction(work)


def _told(voucher: Voucher) -> dict[str, object]:
    """The terms that it has, as the log keeps them."""
    return {
        name: term.isoformat() if isinstance(term, datetime) else term
        for name, term in asdict(voucher).items()
        if term is not None
    }
