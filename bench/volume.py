"""What a checkout and a list of orders take at 1,000 orders and at 1,000,000: ``python -m bench.volume``."""

from __future__ import annotations

import argparse
import asyncio
import secrets
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import date

import psycopg
from sqlalchemy import text

from app.shop.orders import OrderQuery, OrderRequest, Shipping
from app.stores.catalog import SqlCatalog
from app.stores.database import Database, DatabaseConfig
from app.stores.imports import patient
from app.stores.migrations import migrate
from app.stores.orders import SqlOrders
from app.stores.sample.volume import Volume, make_up
from bench.database import own_database

Work = Callable[[], Awaitable[object]]

_LINES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Shop:
    """A filled shop, somebody who ordered often, and goods to order."""

    orders: SqlOrders
    account_id: str
    prices: Mapping[str, int]

    async def list(self) -> None:
        """The first page of somebody's orders."""
        await self.orders.page(self.account_id, OrderQuery(page=1, page_size=20))

    async def checkout(self) -> None:
        """An order of three things."""
        key = secrets.token_hex(8)
        await self.orders.place(
            OrderRequest(
                account_id=self.account_id,
                cart_id=key,
                quantities=dict.fromkeys(self.prices, 1),
                expected_total=sum(self.prices.values()),
                shipping=Shipping(name="Ánh", phone="0912345678", address="1 Hàng Bạc, Hà Nội"),
                payment="cod",
                key=key,
                fingerprint=key,
            )
        )


def main() -> None:
    """Fill two shops on one server, then ask them in turns."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--products", type=int, default=100_000)
    options.add_argument("--orders", type=int, default=1_000_000)
    options.add_argument("--rounds", type=int, default=300)
    asyncio.run(_measure(options.parse_args()))


async def _measure(asked: argparse.Namespace) -> None:
    with own_database() as url:
        sizes = {"small": (1_000, 1_000), "large": (asked.products, asked.orders)}
        shops = {name: await _filled(url, name, *size) for name, size in sizes.items()}
        print(f"{'median ms':<12}{'1,000':>10}{asked.orders:>14,}{'ratio':>8}")
        for what in ("list", "checkout"):
            small, large = await _in_turns([getattr(shop, what) for shop in shops.values()], asked.rounds)
            print(f"{what:<12}{small:>10.2f}{large:>14.2f}{large / small:>8.2f}")
        for shop in shops.values():
            await shop.orders.database.close()


async def _filled(url: str, name: str, products: int, orders: int) -> Shop:
    """A database of the server, filled; says how long that took."""
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}".encode())
    own = url.rpartition("/")[0] + f"/{name}"
    migrate(own)
    began = time.perf_counter()
    filling = Database(patient(own))
    volume = Volume(
        products=products, orders=orders, accounts=max(1, orders // 20), seed=1, until=date(2026, 1, 1)
    )
    made = await make_up(filling, volume)
    await filling.close()
    print(f"{name}: {made} in {time.perf_counter() - began:.0f} s")
    return await _shop(Database(DatabaseConfig(url=own)))


async def _shop(database: Database) -> Shop:
    who = await database.row(
        text("SELECT account_id::text AS id FROM orders GROUP BY 1 ORDER BY abs(count(*) - 60) LIMIT 1")
    )
    goods = await database.rows(text(f"SELECT sku FROM variants WHERE stock > 1500 LIMIT {_LINES}"))  # noqa: S608 -- a number of this file
    offers = await SqlCatalog(database=database).offers([row.sku for row in goods])
    return Shop(
        orders=SqlOrders(database=database),
        account_id=who.id if who else "",
        prices={sku: offer.price for sku, offer in offers.items()},
    )


async def _in_turns(works: list[Work], rounds: int) -> list[float]:
    """The median of each, in ms; asked in turns, so that a busy machine is unkind to both alike."""
    took: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for place, work in enumerate(works):
            began = time.perf_counter()
            await work()
            took[place].append(1000 * (time.perf_counter() - began))
    return [statistics.median(times) for times in took]


if __name__ == "__main__":
    main()
