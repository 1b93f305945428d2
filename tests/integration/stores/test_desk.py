"""The desk on a real PostgreSQL: once per form, nothing lost between two owners, never below zero."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import count

import pytest
from sqlalchemy import text

from app.shop.accounts import Account
from app.shop.catalog import ProductQuery
from app.shop.desk.audit import AuditQuery, Deed
from app.shop.desk.errors import AlreadyDone, ChangedMeanwhile, SkuTaken
from app.shop.desk.goods import GoodsQuery, VariantDraft, checked_product
from app.shop.errors import Invalid, NotFound, OutOfStock
from app.shop.orders import Move, Order
from app.stores.catalog import SqlCatalog
from app.stores.database import Database
from app.stores.desk.audit import SqlAuditLog
from app.stores.desk.goods import SqlGoods
from app.stores.desk.stock import SqlStock
from app.stores.orders import SqlOrders
from tests.integration.stores.conftest import NewAccount, Ordering, Sell, Stock

DRAFT = checked_product(
    name="Trà sen Tây Hồ",
    body="<p>Ướp ba lần.</p>",
    category="Trà",
    vendor="Nhà Ánh",
    tags="trà, sen",
    visibility="visible",
)
PLAIN = VariantDraft(values=(), price=90_000, sells_past_zero=False)

NewDeed = Callable[[], Deed]


@pytest.fixture
def goods(database: Database) -> SqlGoods:
    return SqlGoods(database=database)


@pytest.fixture
def shelf(database: Database) -> SqlStock:
    return SqlStock(database=database)


@pytest.fixture
def log(database: Database) -> SqlAuditLog:
    return SqlAuditLog(database=database)


@pytest.fixture
async def owner(new_account: NewAccount) -> Account:
    return await new_account()


@pytest.fixture
def deed(owner: Account) -> NewDeed:
    numbers = count(1)
    return lambda: Deed(account_id=owner.id, address="192.0.2.7", nonce=f"form {next(numbers)}")


async def settled(*works: Awaitable[object]) -> list[str]:
    """What came of works that ran at once, by their kinds."""
    done = await asyncio.gather(*works, return_exceptions=True)
    return sorted(type(each).__name__ if isinstance(each, BaseException) else "done" for each in done)


async def test_what_an_owner_adds_is_sold_and_found(
    goods: SqlGoods, shelf: SqlStock, catalog: SqlCatalog, deed: NewDeed
) -> None:
    slug = await goods.create(DRAFT, deed(), options=["Cỡ"])
    assert slug == "tra-sen-tay-ho"
    assert (await catalog.page(ProductQuery())).total == 0, "nothing of it can be bought yet"
    await goods.add_variant(
        slug, "TS-100", VariantDraft(values=("100 g",), price=90_000, sells_past_zero=False), deed()
    )
    await goods.add_variant(
        slug, "TS-200", VariantDraft(values=("200 g",), price=170_000, sells_past_zero=False), deed()
    )
    await shelf.move("TS-100", 12, deed(), reason="received", note="")
    shown = await catalog.product(slug)
    assert shown is not None
    assert [(each.sku, each.price, each.stock, dict(each.options)) for each in shown.variants] == [
        ("TS-100", 90_000, 12, {"Cỡ": "100 g"}),
        ("TS-200", 170_000, 0, {"Cỡ": "200 g"}),
    ]
    for words in ("tra sen", "ts-200", "nha anh", "uop ba lan"):
        assert [each.slug for each in (await catalog.page(ProductQuery(text=words))).items] == [slug], words
    listed = await goods.page(GoodsQuery(text="tra"))
    assert [(each.slug, each.variants, each.stock, each.price_from) for each in listed.items] == [
        (slug, 2, 12, 90_000)
    ]


async def test_a_second_product_of_a_name_gets_a_slug_of_its_own(goods: SqlGoods, deed: NewDeed) -> None:
    slugs = [await goods.create(DRAFT, deed(), options=[]) for _ in range(3)]
    assert slugs == ["tra-sen-tay-ho", "tra-sen-tay-ho-2", "tra-sen-tay-ho-3"]


async def test_a_change_is_kept_with_who_and_what(
    goods: SqlGoods, log: SqlAuditLog, owner: Account, deed: NewDeed
) -> None:
    slug = await goods.create(DRAFT, deed(), options=[])
    kept = await goods.find(slug)
    assert kept is not None
    await goods.change(slug, replace(DRAFT, name="Trà sen", visibility="draft"), deed(), seen=kept.seen)
    entry, first = (await log.page(AuditQuery(subject=slug))).items
    assert (entry.action, first.action) == ("product.change", "product.create")
    assert (entry.email, entry.address, entry.account_id) == (owner.email, "192.0.2.7", owner.id)
    assert entry.before == {"name": "Trà sen Tây Hồ", "visibility": "visible"}
    assert entry.after == {"name": "Trà sen", "visibility": "draft"}
    assert (await goods.page(GoodsQuery(shelf="visible"))).total == 0
    assert (await goods.page(GoodsQuery(shelf="hidden"))).total == 1
    for query in (AuditQuery(action="product.change"), AuditQuery(email=owner.email, page_size=1)):
        assert [each.id for each in (await log.page(query)).items] == [entry.id]


async def test_the_same_form_sent_ten_times_at_once_is_carried_out_once(
    goods: SqlGoods, shelf: SqlStock, log: SqlAuditLog, sell: Sell, stock: Stock, deed: NewDeed
) -> None:
    await sell("A", stock=5)
    form, other = deed(), deed()
    moved = await settled(*(shelf.move("A", 3, form, reason="received", note="") for _ in range(10)))
    assert moved == ["AlreadyDone"] * 9 + ["done"]
    assert await stock("A") == 8
    made = await settled(*(goods.create(DRAFT, other, options=[]) for _ in range(10)))
    assert made == ["AlreadyDone"] * 9 + ["done"]
    assert (await goods.page(GoodsQuery(text="sen"))).total == 1
    assert (await log.page(AuditQuery())).total == 2
    with pytest.raises(AlreadyDone) as again:
        await goods.create(DRAFT, other, options=[])
    assert (again.value.action, again.value.subject) == ("product.create", "product tra-sen-tay-ho")


async def test_of_two_owners_who_edit_the_same_the_second_is_told_and_nothing_is_lost(
    goods: SqlGoods, deed: NewDeed
) -> None:
    slug = await goods.create(DRAFT, deed(), options=[])
    await goods.add_variant(slug, "TS", PLAIN, deed())
    kept = await goods.find(slug)
    assert kept is not None
    drafts = [replace(DRAFT, name=f"Trà {number}") for number in range(5)]
    done = await settled(*(goods.change(slug, draft, deed(), seen=kept.seen) for draft in drafts))
    assert done == ["ChangedMeanwhile"] * 4 + ["done"]
    prices = [replace(PLAIN, price=price) for price in (1000, 2000, 3000)]
    done = await settled(
        *(goods.change_variant("TS", draft, deed(), seen=kept.variants[0].seen) for draft in prices)
    )
    assert done == ["ChangedMeanwhile"] * 2 + ["done"]
    now = await goods.find(slug)
    assert now is not None
    assert now.seen != kept.seen
    with pytest.raises(ChangedMeanwhile):
        await goods.delete(slug, deed(), seen=kept.seen)
    with pytest.raises(ChangedMeanwhile):
        await goods.remove_variant("TS", deed(), seen=kept.variants[0].seen)
    await goods.change(slug, DRAFT, deed(), seen=now.seen)


async def test_sales_and_movements_of_stock_do_not_count_as_an_edit(
    goods: SqlGoods, shelf: SqlStock, deed: NewDeed, orders: SqlOrders, ordering: Ordering, owner: Account
) -> None:
    slug = await goods.create(DRAFT, deed(), options=[])
    await goods.add_variant(slug, "TS", PLAIN, deed())
    kept = await goods.find(slug)
    assert kept is not None
    await shelf.move("TS", 1, deed(), reason="received", note="")
    await orders.place(ordering(owner, {"TS": 1}, total=90_000))
    await goods.change(slug, replace(DRAFT, vendor=""), deed(), seen=kept.seen)
    await goods.change_variant("TS", replace(PLAIN, price=95_000), deed(), seen=kept.variants[0].seen)


async def test_stock_that_is_taken_while_it_is_sold_never_falls_below_zero(
    shelf: SqlStock,
    sell: Sell,
    stock: Stock,
    deed: NewDeed,
    orders: SqlOrders,
    ordering: Ordering,
    new_account: NewAccount,
) -> None:
    await sell("A", stock=20)
    buyers = [await new_account() for _ in range(15)]
    done = await settled(
        *(orders.place(ordering(buyer, {"A": 1}, total=1000)) for buyer in buyers),
        *(shelf.move("A", -2, deed(), reason="damaged", note="") for _ in range(10)),
        *(shelf.move("A", 1, deed(), reason="returned", note="") for _ in range(3)),
    )
    assert set(done) <= {"done", "OutOfStock"}
    placed = await orders.database.row(text("SELECT count(*) FROM orders"))
    moves = await shelf.history("A", page=1, page_size=100)
    assert placed is not None
    assert await stock("A") == 20 - placed[0] + sum(each.quantity for each in moves.items) >= 0
    assert done.count("done") == placed[0] + moves.total


async def test_more_than_is_there_is_not_taken(
    shelf: SqlStock, sell: Sell, stock: Stock, deed: NewDeed
) -> None:
    await sell("A", stock=2)
    form = deed()
    with pytest.raises(OutOfStock) as short:
        await shelf.move("A", -3, form, reason="lost", note="")
    assert short.value.left == 2
    await shelf.move(
        "A", -2, form, reason="lost", note="một thùng ướt"
    )  # a form that was refused may be sent again
    assert await stock("A") == 0
    history = await shelf.history("A", page=1, page_size=10)
    assert [(each.quantity, each.stock, each.reason, each.note) for each in history.items] == [
        (-2, 0, "lost", "một thùng ướt")
    ]
    assert [each.sku for each in await shelf.low(most=5)] == ["A"]
    with pytest.raises(NotFound):
        await shelf.move("B", 1, deed(), reason="received", note="")


async def test_units_that_were_counted_come_back_however_they_are_counted_since(
    goods: SqlGoods,
    shelf: SqlStock,
    deed: NewDeed,
    orders: SqlOrders,
    ordering: Ordering,
    owner: Account,
    stock: Stock,
) -> None:
    slug = await goods.create(DRAFT, deed(), options=[])
    await goods.add_variant(slug, "TS", PLAIN, deed())
    await shelf.move("TS", 5, deed(), reason="received", note="")

    async def count(*, sells_past_zero: bool) -> None:
        kept = await goods.find(slug)
        assert kept is not None
        draft = replace(PLAIN, sells_past_zero=sells_past_zero)
        await goods.change_variant("TS", draft, deed(), seen=kept.variants[0].seen)

    async def cancel(order: Order) -> None:
        await orders.move(order.id, Move(to="cancelled", actor=owner.id))

    counted = await orders.place(ordering(owner, {"TS": 2}, total=180_000))
    await count(sells_past_zero=True)
    uncounted = await orders.place(ordering(owner, {"TS": 9}, total=810_000))
    await cancel(counted)
    await count(sells_past_zero=False)
    await cancel(uncounted)
    assert await stock("TS") == 5


async def test_a_deleted_product_leaves_its_orders_and_its_history(
    goods: SqlGoods,
    shelf: SqlStock,
    catalog: SqlCatalog,
    deed: NewDeed,
    orders: SqlOrders,
    ordering: Ordering,
    owner: Account,
) -> None:
    slug = await goods.create(DRAFT, deed(), options=[])
    await goods.add_variant(slug, "TS", PLAIN, deed())
    await shelf.move("TS", 5, deed(), reason="received", note="")
    order = await orders.place(ordering(owner, {"TS": 2}, total=180_000))
    kept = await goods.find(slug)
    assert kept is not None
    await goods.delete(slug, deed(), seen=kept.seen)
    assert await goods.find(slug) is None
    assert await catalog.offers(["TS"]) == {}
    again = await orders.by_id(owner.id, order.id)
    assert again is not None
    assert again.lines[0].name == "Trà sen Tây Hồ"
    assert (await shelf.history("TS", page=1, page_size=5)).total == 1
    with pytest.raises(OutOfStock):
        await orders.place(ordering(owner, {"TS": 1}, total=90_000))


async def test_a_deletion_beside_orders_of_its_goods_ends_without_a_deadlock(
    goods: SqlGoods,
    shelf: SqlStock,
    deed: NewDeed,
    orders: SqlOrders,
    ordering: Ordering,
    new_account: NewAccount,
) -> None:
    buyers = [await new_account() for _ in range(6)]
    for round_ in range(4):
        slug = await goods.create(DRAFT, deed(), options=["Cỡ"])
        for sku, value in (("B", "1"), ("A", "2")):
            await goods.add_variant(slug, f"{sku}{round_}", replace(PLAIN, values=(value,)), deed())
            await shelf.move(f"{sku}{round_}", 3, deed(), reason="received", note="")
        kept = await goods.find(slug)
        assert kept is not None
        wanted = {f"A{round_}": 1, f"B{round_}": 1}
        done = await settled(
            *(orders.place(ordering(buyer, wanted, total=180_000)) for buyer in buyers),
            goods.delete(slug, deed(), seen=kept.seen),
        )
        assert set(done) <= {"done", "OutOfStock"}
        assert await goods.find(slug) is None


async def test_a_sku_or_a_choice_of_options_is_one_variants_own(
    goods: SqlGoods, sell: Sell, deed: NewDeed
) -> None:
    await sell("A")
    slug = await goods.create(DRAFT, deed(), options=["Cỡ"])
    small = replace(PLAIN, values=("S",))
    with pytest.raises(SkuTaken):
        await goods.add_variant(slug, "A", small, deed())
    await goods.add_variant(slug, "B", small, deed())
    with pytest.raises(Invalid, match="these options"):
        await goods.add_variant(slug, "C", small, deed())
    with pytest.raises(Invalid, match="a value for each of Cỡ"):
        await goods.add_variant(slug, "C", PLAIN, deed())


async def test_what_no_database_could_hold_is_not_found(
    goods: SqlGoods, shelf: SqlStock, log: SqlAuditLog
) -> None:
    assert await goods.find("\0") is None
    assert await shelf.find("\ud800") is None
    assert (await goods.page(GoodsQuery(text="\0"))).total == 0
    assert (await log.page(AuditQuery(subject="\0"))).total == 0
    assert (await log.page(AuditQuery(subject="%_\\"))).total == 0
