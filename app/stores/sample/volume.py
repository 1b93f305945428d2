"""A shop as large as one likes, for measuring: made-up goods, people and orders, the same for the same seed."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, cast
from uuid import UUID

import orjson
import psycopg
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.errors import ShopError
from app.shop.importing import ImportedProduct
from app.shop.orders import VIETNAM
from app.stores.catalog import full_name
from app.stores.database import AnyRow, Database
from app.stores.imports import SqlImports
from app.stores.sample.making import chance_of, made_up_products, person_of, shipping_of

Progress = Callable[[float], None]
Good = tuple[str, str, int]
"""The SKU of a variant, its full name and its price."""

_ACCOUNTS: Final = "accounts (id, email, email_key, name, role, password_hash, created_at)"
_ORDERS: Final = "orders (id, account_id, cart_id, status, payment, shipping, subtotal, total, placed_at)"
_LINES: Final = "order_lines (order_id, position, sku, name, quantity, unit_price)"

_CHUNK: Final = 10_000
"""Rows of one COPY: large enough to cost nothing, small enough to tell how far it is."""

_DOMAIN: Final = "mau.chopho.example"
"""Whose e-mails are made up: nobody can receive mail there."""

_NO_PASSWORD: Final = "!"  # noqa: S105 -- a hash of nothing: no password opens such an account

_YEAR: Final = timedelta(days=365)
_GOODS_MOST: Final = 200_000
"""Variants that orders choose from; so many names and prices fit into some 50 MB."""


class NotMadeUp(ShopError):
    """The shop is not one to put made-up orders into, and why; none were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """How much of everything; orders are spread over the year before `until`, a day in Vietnam."""

    products: int
    orders: int
    accounts: int
    seed: int
    until: date


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeUp:
    """What came into the shop."""

    products: int
    accounts: int
    orders: int
    order_lines: int


async def make_up(
    database: Database, volume: Volume, *, among_orders: bool = False, progress: Progress = lambda _: None
) -> MadeUp:
    """Products in one transaction, people and their orders in another; `database` is a patient one.

    Raises `NotMadeUp`: for real orders unless `among_orders`, for a seed that was used before, for no goods.
    """
    await _check(database, volume, among_orders=among_orders)
    share = _share_of_products(volume)

    def products() -> Iterator[ImportedProduct]:
        for place, product in enumerate(made_up_products(volume.products, seed=volume.seed)):
            if place % 500 == 0:
                progress(share * place / volume.products)
            yield product

    kept = await SqlImports(database=database).keep(products)

    async def work(connection: AsyncConnection) -> int:
        return await _people_and_orders(connection, volume, lambda done: progress(share + (1 - share) * done))

    lines = await database.transaction(work)
    await database.maintain(text("VACUUM (ANALYZE) accounts, orders, order_lines"))
    progress(1)
    return MadeUp(products=kept.added, accounts=volume.accounts, orders=volume.orders, order_lines=lines)


def _share_of_products(volume: Volume) -> float:
    """Of the whole time: a product costs what some three orders do."""
    return 3 * volume.products / max(1, 3 * volume.products + volume.orders)


async def _check(database: Database, volume: Volume, *, among_orders: bool) -> None:
    foreign = text(
        "SELECT 1 FROM orders LEFT JOIN accounts ON accounts.id = orders.account_id"
        " WHERE accounts.email_key NOT LIKE :ours OR accounts.id IS NULL LIMIT 1"
    )
    if not among_orders and await database.row(foreign.bindparams(ours=f"%@{_DOMAIN}")) is not None:
        raise NotMadeUp("the shop has orders of its own; made-up ones among them could never be told apart")
    made = text("SELECT 1 FROM accounts WHERE email_key = :first")
    if await database.row(made.bindparams(first=_email(volume.seed, 0))) is not None:
        raise NotMadeUp(f"people and orders of seed {volume.seed} are here already; another seed adds others")


async def _people_and_orders(connection: AsyncConnection, volume: Volume, progress: Progress) -> int:
    await connection.execute(text("SET LOCAL statement_timeout = 0"))
    for chunk in _chunks(volume.accounts):
        await _copy(connection, _ACCOUNTS, _accounts(volume, chunk))
    goods = await _goods(connection) if volume.orders else []
    written = 0
    for chunk in _chunks(volume.orders):
        made = list(_orders(volume, chunk, goods))
        lines = [line for _, lines in made for line in lines]
        await _copy(connection, _ORDERS, (order for order, _ in made))
        await _copy(connection, _LINES, lines)
        written += len(lines)
        progress(chunk.stop / volume.orders)
    return written


def _chunks(number: int) -> Iterator[range]:
    return (range(begin, min(begin + _CHUNK, number)) for begin in range(0, number, _CHUNK))


async def _copy(connection: AsyncConnection, into: str, rows: Iterable[Sequence[object]]) -> None:
    raw = await connection.get_raw_connection()
    driver = cast("psycopg.AsyncConnection[Any]", raw.driver_connection)
    async with driver.cursor() as cursor, cursor.copy(f"COPY {into} FROM STDIN".encode()) as copy:
        for row in rows:
            await copy.write_row(row)


async def _goods(connection: AsyncConnection) -> Sequence[Good]:
    """What orders choose from: SKU, name and price; the first are bought most."""
    found = await connection.execute(
        text(
            "SELECT sku, products.name AS product, variants.name AS variant, price"
            " FROM variants JOIN products ON products.id = variants.product_id"
            " WHERE visible ORDER BY sku LIMIT :most"
        ).bindparams(most=_GOODS_MOST)
    )
    goods = [_good(row) for row in found]
    if not goods:
        raise NotMadeUp("the shop has nothing to order; ask for some products too")
    return goods


def _good(row: AnyRow) -> Good:
    return row.sku, full_name(row.product, row.variant), row.price


def _accounts(volume: Volume, chunk: range) -> Iterator[Sequence[object]]:
    chance = chance_of(volume.seed, "accounts", chunk.start)
    for place in chunk:
        email = _email(volume.seed, place)
        opened = _first_day(volume) - _YEAR * chance.random()
        yield _account_id(volume, place), email, email, person_of(chance), "customer", _NO_PASSWORD, opened


def _orders(
    volume: Volume, chunk: range, goods: Sequence[Good]
) -> Iterator[tuple[Sequence[object], Sequence[Sequence[object]]]]:
    """Each order and its lines; the later it is made, the later it was placed."""
    chance = chance_of(volume.seed, "orders", chunk.start)
    for place in chunk:
        order_id = str(UUID(int=chance.getrandbits(128), version=4))
        lines = list(_lines(chance, order_id, goods))
        total = sum(quantity * price for *_, quantity, price in lines)
        account = int(
            volume.accounts * chance.random() ** 2
        )  # a quarter of the people place half of all orders
        placed_at = _first_day(volume) + _YEAR * ((place + chance.random()) / volume.orders)
        shipping = orjson.dumps(asdict(shipping_of(chance))).decode()
        order = (
            *(order_id, _account_id(volume, account), f"made-up-{volume.seed}-{place}", "delivered", "cod"),
            *(shipping, total, total, placed_at),
        )
        yield order, lines


def _lines(
    chance: random.Random, order_id: str, goods: Sequence[Good]
) -> Iterator[tuple[str, int, str, str, int, int]]:
    """Half of all orders are of one thing; the first goods are bought most."""
    things = {int(len(goods) * chance.random() ** 3) for _ in range(chance.choice((1, 1, 1, 2, 2, 4)))}
    for position, thing in enumerate(sorted(things)):
        sku, name, price = goods[thing]
        yield order_id, position, sku, name, chance.choice((1, 1, 1, 2, 3)), price


def _first_day(volume: Volume) -> datetime:
    return datetime.combine(volume.until, time(), VIETNAM).astimezone(UTC) - _YEAR


def _account_id(volume: Volume, place: int) -> str:
    name = f"{volume.seed} account {place}".encode()
    return str(UUID(bytes=hashlib.blake2b(name, digest_size=16).digest(), version=4))


def _email(seed: int, place: int) -> str:
    return f"khach{place}.m{seed}@{_DOMAIN}"
