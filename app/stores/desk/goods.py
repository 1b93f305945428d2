"""Goods at the desk, in PostgreSQL."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final, TypeVar

from sqlalchemy import ColumnElement, cast, delete, func, select, update
from sqlalchemy.dialects.postgresql import TSQUERY, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.catalog import Sku
from app.shop.desk.audit import Deed
from app.shop.desk.errors import ChangedMeanwhile, SkuTaken
from app.shop.desk.goods import GoodsQuery, GoodsRow, KeptProduct, ProductDraft, VariantDraft, changed
from app.shop.errors import Invalid, NotFound
from app.shop.paging import Page, offset_of
from app.shop.text import storable
from app.shop.vietnamese import slugged
from app.stores.database import AnyRow, Database
from app.stores.desk import keeping
from app.stores.desk.audit import once, record
from app.stores.search import query_of
from app.stores.tables import product_pictures, products, variants

T = TypeVar("T")

_NAMESAKES_MOST: Final = 100
_VARIANTS_MOST: Final = 1_000
"""A file may bring as many rows to a product; nobody chooses among more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlGoods:
    """The port of goods on `products`, `variants`, `categories` and `product_pictures`."""

    database: Database

    async def page(self, query: GoodsQuery) -> Page[GoodsRow]:
        """One query for the page, another for the total."""
        offset = offset_of(query.page, query.page_size)
        asked = _asked(query) if storable(query.text) else [products.c.id.is_(None)]
        counted = await self.database.row(select(func.count()).select_from(products).where(*asked))
        rows = await self.database.rows(keeping.list_of(asked, most=query.page_size, offset=offset))
        return Page(
            items=[keeping.goods_row(row) for row in rows],
            total=counted[0] if counted else 0,
            page=query.page,
            page_size=query.page_size,
        )

    async def find(self, slug: str) -> KeptProduct | None:
        """Three queries: the product, its variants, its pictures."""
        row = await self.database.row(keeping.product(slug)) if storable(slug) else None
        if row is None:
            return None
        kept = await self.database.rows(keeping.variants_of(row.id))
        shown = await self.database.rows(keeping.pictures_of(row.id))
        return keeping.kept_product(row, kept, shown)

    async def create(self, draft: ProductDraft, deed: Deed, *, options: Sequence[str]) -> str:
        """The slug is the name's; where that is taken, a number follows."""

        async def work(connection: AsyncConnection) -> str:
            slug, product_id = await _inserted(connection, draft, options)
            await keeping.refresh_search(connection, product_id)
            after = {**_told(draft), "options": list(options)}
            await record(connection, deed, action="product.create", subject=f"product {slug}", after=after)
            return slug

        return await self._once(deed, work)

    async def change(self, slug: str, draft: ProductDraft, deed: Deed, *, seen: str) -> None:
        """The product is locked, compared with what was shown, and written."""

        async def work(connection: AsyncConnection) -> None:
            row = await _locked_product(connection, slug, seen)
            shelf = await keeping.category_id(connection, draft.category)
            written = {"category_id": shelf, **keeping.columns(draft)}
            await connection.execute(update(products).where(products.c.id == row.id).values(written))
            await keeping.refresh_search(connection, row.id)
            before, after = changed(keeping.told_product(row), _told(draft))
            await record(
                connection,
                deed,
                action="product.change",
                subject=f"product {slug}",
                before=before,
                after=after,
            )

        await self._once(deed, work)

    async def delete(self, slug: str, deed: Deed, *, seen: str) -> None:
        """Variants are locked in the order of their SKUs, as orders lock them, and before the product."""

        async def work(connection: AsyncConnection) -> None:
            own = select(variants.c.sku).join(products).where(products.c.slug == slug)
            await connection.execute(own.order_by(variants.c.sku).with_for_update(of=variants))
            row = await _locked_product(connection, slug, seen)
            gone = (await connection.execute(keeping.variants_of(row.id))).all()
            for table in (product_pictures, variants):
                await connection.execute(delete(table).where(table.c.product_id == row.id))
            await connection.execute(delete(products).where(products.c.id == row.id))
            told = [{**keeping.told_variant(each), "stock": each.stock} for each in gone]
            before = {**keeping.told_product(row), "variants": told}
            await record(connection, deed, action="product.delete", subject=f"product {slug}", before=before)

        await self._once(deed, work)

    async def add_variant(self, slug: str, sku: Sku, draft: VariantDraft, deed: Deed) -> None:
        """It stands behind the others."""

        async def work(connection: AsyncConnection) -> None:
            row = await _locked_product(connection, slug)
            position = await _check_room(connection, row.id, draft)
            added = await connection.scalar(
                insert(variants)
                .values(
                    sku=sku,
                    product_id=row.id,
                    position=position,
                    stock=0,
                    **_columns(row.option_names, draft),
                )
                .on_conflict_do_nothing()
                .returning(variants.c.sku)
            )
            if added is None:
                raise SkuTaken(f"another variant has the SKU {sku}")
            await keeping.refresh_search(connection, row.id)
            after = {"sku": sku, **asdict(draft)}
            await record(connection, deed, action="variant.add", subject=f"product {slug}", after=after)

        await self._once(deed, work)

    async def change_variant(self, sku: Sku, draft: VariantDraft, deed: Deed, *, seen: str) -> None:
        """The variant alone is locked, as orders do."""

        async def work(connection: AsyncConnection) -> None:
            row = await _locked_variant(connection, sku, seen)
            await _check_room(connection, row.product_id, draft, but=sku)
            written = _columns(row.option_names, draft)
            await connection.execute(update(variants).where(variants.c.sku == sku).values(written))
            told = {"sku": sku, **asdict(draft), "values": list(draft.values)}
            before, after = changed(keeping.told_variant(row), told)
            await record(
                connection,
                deed,
                action="variant.change",
                subject=f"product {row.slug}",
                before={"sku": sku, **before},
                after={"sku": sku, **after},
            )

        await self._once(deed, work)

    async def remove_variant(self, sku: Sku, deed: Deed, *, seen: str) -> None:
        """What was left of its stock is in the entry."""

        async def work(connection: AsyncConnection) -> None:
            row = await _locked_variant(connection, sku, seen)
            await connection.execute(delete(variants).where(variants.c.sku == sku))
            await keeping.refresh_search(connection, row.product_id)
            before = {**keeping.told_variant(row), "stock": row.stock}
            await record(
                connection, deed, action="variant.remove", subject=f"product {row.slug}", before=before
            )

        await self._once(deed, work)

    async def _once(self, deed: Deed, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        async def carried_out(connection: AsyncConnection) -> T:
            await once(connection, deed)
            return await work(connection)

        return await self.database.transaction(carried_out)


def _asked(query: GoodsQuery) -> Sequence[ColumnElement[bool]]:
    asked: list[ColumnElement[bool]] = []
    if query.text.strip():
        asked.append(products.c.words.bool_op("@@")(cast(query_of(query.text), TSQUERY)))
    match query.shelf:
        case "visible":
            asked.append(products.c.visible)
        case "hidden":
            asked.append(~products.c.visible)
        case "sold_out":
            asked += [products.c.visible, ~products.c.in_stock]
    return asked


async def _inserted(
    connection: AsyncConnection, draft: ProductDraft, options: Sequence[str]
) -> tuple[str, int]:
    """The slug under which it is kept now, and its id."""
    shelf = await keeping.category_id(connection, draft.category)
    base = slugged(draft.name)[:150].strip("-") or "san-pham"
    for number in range(1, _NAMESAKES_MOST):
        slug = base if number == 1 else f"{base}-{number}"
        written = {
            "slug": slug,
            "category_id": shelf,
            "option_names": list(options),
            **keeping.columns(draft),
        }
        product_id = await connection.scalar(
            insert(products).values(written).on_conflict_do_nothing().returning(products.c.id)
        )
        if product_id is not None:
            return slug, product_id
    raise Invalid("name", "has a hundred namesakes already", code="name_taken")


async def _locked_product(connection: AsyncConnection, slug: str, seen: str | None = None) -> AnyRow:
    """The product, to be changed by nobody else until the end; raises `NotFound`, `ChangedMeanwhile`."""
    row = (await connection.execute(keeping.product(slug).with_for_update(of=products))).one_or_none()
    if row is None:
        raise NotFound("product")
    if seen is not None and keeping.product_seen(row) != seen:
        raise ChangedMeanwhile("somebody else changed this product since it was shown")
    return row


async def _locked_variant(connection: AsyncConnection, sku: Sku, seen: str) -> AnyRow:
    """The variant with its product's option names; raises `NotFound`, `ChangedMeanwhile`."""
    row = (
        await connection.execute(
            select(variants, products.c.option_names, products.c.slug)
            .join(products)
            .where(variants.c.sku == sku)
            .with_for_update(of=variants)
        )
    ).one_or_none()
    if row is None:
        raise NotFound("variant")
    if keeping.variant_seen(row) != seen:
        raise ChangedMeanwhile("somebody else changed this variant since it was shown")
    return row


async def _check_room(
    connection: AsyncConnection, product_id: int, draft: VariantDraft, *, but: Sku | None = None
) -> int:
    """The place behind the last one; raises `Invalid` for options that another variant has."""
    others = (await connection.execute(keeping.variants_of(product_id))).all()
    if any(keeping.values_of(row) == draft.values for row in others if row.sku != but):
        raise Invalid("values", "another variant has these options", code="values_taken")
    if but is None and len(others) >= _VARIANTS_MOST:
        raise Invalid("values", f"at most {_VARIANTS_MOST} variants", code="values_taken")
    return max((row.position for row in others), default=-1) + 1


def _columns(names: Sequence[str], draft: VariantDraft) -> Mapping[str, object]:
    if len(names) != len(draft.values):
        raise Invalid(
            "values", f"a value for each of {', '.join(names) or 'no option'}", code="values_invalid"
        )
    return {
        "name": " / ".join(draft.values),
        "options": dict(zip(names, draft.values, strict=True)),
        "price": draft.price,
        "sells_past_zero": draft.sells_past_zero,
        "grams": draft.grams,
    }


def _told(draft: ProductDraft) -> dict[str, object]:
    """The draft in the words of `keeping.told_product`."""
    return {**asdict(draft), "tags": list(draft.tags)}
