"""Pictures in PostgreSQL, by the digest of their content: every replica shows them, none keeps them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.desk.audit import Deed
from app.shop.desk.pictures import PICTURES_MOST, Developed, source_of
from app.shop.errors import Invalid, NotFound
from app.shop.text import storable
from app.stores.database import Database
from app.stores.desk.audit import once, record
from app.stores.tables import product_pictures, products
from app.stores.tables_desk import pictures


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlPictures:
    """The port of pictures on `pictures` and `product_pictures`."""

    database: Database

    async def add(self, slug: str, picture: Developed, deed: Deed, *, alt: str) -> None:
        """Bytes that are there already are not written again."""

        async def work(connection: AsyncConnection) -> None:
            await once(connection, deed)
            product_id = await _locked(connection, slug)
            kept = {"digest": picture.digest, "content": picture.content}
            size = {"width": picture.width, "height": picture.height}
            await connection.execute(insert(pictures).values(**kept, **size).on_conflict_do_nothing())
            source = source_of(picture.digest)
            await _show(connection, product_id, source, alt)
            after = {"picture": source, "alt": alt}
            await record(connection, deed, action="picture.add", subject=f"product {slug}", after=after)

        await self.database.transaction(work)

    async def remove(self, slug: str, source: str, deed: Deed) -> None:
        """The bytes stay: pages of a moment ago, and the log, name them."""
        if not storable(source):
            raise NotFound("picture")

        async def work(connection: AsyncConnection) -> None:
            await once(connection, deed)
            product_id = await _locked(connection, slug)
            removed = await connection.execute(
                delete(product_pictures)
                .where(product_pictures.c.product_id == product_id, product_pictures.c.source == source)
                .returning(product_pictures.c.alt)
            )
            gone = removed.one_or_none()
            if gone is None:
                raise NotFound("picture")
            before = {"picture": source, "alt": gone.alt}
            await record(connection, deed, action="picture.remove", subject=f"product {slug}", before=before)

        await self.database.transaction(work)

    async def content(self, digest: str) -> bytes | None:
        """One query."""
        row = await self.database.row(select(pictures.c.content).where(pictures.c.digest == digest))
        return None if row is None else bytes(row.content)


async def _locked(connection: AsyncConnection, slug: str) -> int:
    """The product, whose pictures nobody else changes until the end; raises `NotFound`."""
    product_id: int | None = await connection.scalar(
        select(products.c.id).where(products.c.slug == slug).with_for_update()
    )
    if product_id is None:
        raise NotFound("product")
    return product_id


async def _show(connection: AsyncConnection, product_id: int, source: str, alt: str) -> None:
    """Last in the row; raises `Invalid` when the row is full."""
    shown = product_pictures
    own = shown.c.product_id == product_id
    known = (await connection.execute(select(shown).where(own, shown.c.source == source))).first()
    last, number = (
        await connection.execute(select(func.max(shown.c.position), func.count()).where(own))
    ).one()
    if known is None and number >= PICTURES_MOST:
        raise Invalid("picture", f"at most {PICTURES_MOST} pictures a product", code="pictures_full")
    position = known.position if known else 0 if last is None else last + 1
    await connection.execute(
        insert(shown)
        .values(product_id=product_id, position=position, source=source, alt=alt)
        .on_conflict_do_update(index_elements=[shown.c.product_id, shown.c.position], set_={"alt": alt})
    )
