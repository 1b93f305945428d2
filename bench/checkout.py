"""Checkouts that meet: the same goods in every order, and one unit for a hundred: ``python -m bench.checkout``."""

from __future__ import annotations

import argparse
import asyncio
import secrets
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import text

from app.shop.errors import ShopError
from app.shop.orders import OrderRequest, Shipping
from app.stores.database import Database, DatabaseConfig
from app.stores.orders import SqlOrders
from bench.database import own_database

_PRICE = 1000
_CARTS: tuple[Mapping[str, int], ...] = ({"A": 1, "B": 1}, {"B": 1, "A": 1}, {"A": 2, "B": 1})
"""(A, B), (B, A) and (A, B, A)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shop:
    """Two things for sale, and somebody who buys."""

    orders: SqlOrders
    account_id: str

    async def buy(self, quantities: Mapping[str, int]) -> str:
        """What became of one checkout, with payment on delivery."""
        key = secrets.token_hex(8)
        request = OrderRequest(
            account_id=self.account_id,
            cart_id=key,
            quantities=quantities,
            expected_total=_PRICE * sum(quantities.values()),
            shipping=Shipping(name="Ánh", phone="0912345678", address="1 Hàng Bạc, Hà Nội"),
            payment="cod",
            key=key,
            fingerprint=key,
        )
        try:
            return (await self.orders.place(request)).status
        except ShopError as refused:
            return type(refused).__name__

    async def number(self, query: str) -> int:
        """The one number that a query tells."""
        row = await self.orders.database.row(text(query))
        return int(row[0]) if row else 0

    async def restock(self, units: int) -> None:
        """So many of each."""
        await self.orders.database.maintain(
            text("UPDATE variants SET stock = :units").bindparams(units=units)
        )


def main() -> None:
    """Let carts meet, then buyers."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=20)
    options.add_argument("--carts", type=int, default=40)
    options.add_argument("--buyers", type=int, default=100)
    asyncio.run(_measure(options.parse_args()))


async def _measure(asked: argparse.Namespace) -> None:
    with own_database() as url:
        # Patient, so that a busy machine shows in the pace and not in refusals.
        database = Database(
            DatabaseConfig(
                url=url, pool_wait_s=60, statement_timeout_s=60, lock_timeout_s=60, answer_within_s=90
            )
        )
        shop = await _opened(database)
        await _carts(shop, asked.rounds, asked.carts)
        await _buyers(shop, asked.buyers)
        await database.close()


async def _opened(database: Database) -> Shop:
    await database.maintain(text("INSERT INTO categories (slug, name) VALUES ('ke', 'Kệ')"))
    for sku in ("A", "B"):
        await database.maintain(
            text(
                "WITH made AS (INSERT INTO products (slug, name, description, category_id, search)"
                " SELECT :sku, :sku, '', id, '' FROM categories RETURNING id)"
                " INSERT INTO variants (sku, product_id, position, name, price, stock)"
                " SELECT :sku, id, 0, '', :price, 0 FROM made"
            ).bindparams(sku=sku, price=_PRICE)
        )
    row = await database.row(
        text(
            "INSERT INTO accounts (id, email, email_key, name, role, password_hash) VALUES"
            " (gen_random_uuid(), 'a@b.example', 'a@b.example', 'Ánh', 'customer', '') RETURNING id::text"
        )
    )
    return Shop(orders=SqlOrders(database=database), account_id=row[0] if row else "")


async def _carts(shop: Shop, rounds: int, at_once: int) -> None:
    units = 3 * rounds * at_once
    await shop.restock(units)
    began, outcomes, sold = time.perf_counter(), Counter[str](), Counter[str]()
    for _ in range(rounds):
        carts = [_CARTS[number % len(_CARTS)] for number in range(at_once)]
        became = await asyncio.gather(*map(shop.buy, carts))
        outcomes.update(became)
        for cart, outcome in zip(carts, became, strict=True):
            sold.update(cart if outcome == "confirmed" else {})
    took = time.perf_counter() - began
    left = {sku: await shop.number(f"SELECT stock FROM variants WHERE sku = '{sku}'") for sku in sold}  # noqa: S608 -- SKUs of this file
    deadlocks = await shop.number("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
    print(
        f"carts: {rounds} × {at_once} at once: {dict(outcomes)}, {sum(outcomes.values()) / took:.0f} a second"
    )
    print(
        f"  deadlocks in the database {deadlocks}, stock exact {left == {s: units - n for s, n in sold.items()}}"
    )


async def _buyers(shop: Shop, buyers: int) -> None:
    await shop.restock(1)
    outcomes = Counter(await asyncio.gather(*(shop.buy({"A": 1}) for _ in range(buyers))))
    left = await shop.number("SELECT stock FROM variants WHERE sku = 'A'")
    orphans = await shop.number(
        "SELECT count(*) FROM orders WHERE NOT EXISTS (SELECT FROM order_lines WHERE order_id = orders.id)"
    )
    print(f"buyers: {buyers} of one unit: {dict(outcomes)}, stock {left}, orders without lines {orphans}")


if __name__ == "__main__":
    main()
