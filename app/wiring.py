"""Constructs every part of a replica without I/O; opens them in order and closes them in reverse."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from app.lifecycle import Lifecycle, LifecycleConfig
from app.sessions import SessionConfig, Sessions
from app.settings import Settings
from app.shop.accounts import LogIn, Register
from app.shop.cart import AddToCart, PutInCart, ShowCart
from app.shop.checkout import PlaceOrder
from app.shop.shop import Shop
from app.stores.accounts import SqlAccounts
from app.stores.attempts import AttemptsConfig, RedisAttempts
from app.stores.catalog import SqlCatalog
from app.stores.database import Database, DatabaseConfig
from app.stores.offers import OffersSnapshot
from app.stores.orders import SqlOrders
from app.stores.passwords import ArgonPasswords, PasswordConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Everything a replica is made of."""

    shop: Shop
    sessions: Sessions
    lifecycle: Lifecycle
    database: Database
    attempts: RedisAttempts

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open what needs opening; at the end close clients, then Redis, then the database."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.database.close)
            stack.push_async_callback(self.attempts.close)
            stack.push_async_callback(self.sessions.close)
            await self.sessions.open()
            yield


def build(settings: Settings) -> Parts:
    """The parts, without I/O; raises `ValueError` where a setting cannot work."""
    database = Database(DatabaseConfig(url=settings.database_url, pool_size=settings.database_pool_size))
    attempts = RedisAttempts(AttemptsConfig(url=settings.redis_url))
    return Parts(
        shop=_shop(database, attempts),
        sessions=Sessions.from_url(
            settings.session_url,
            keys=settings.secret_keys,
            config=_session_config(settings),
            also_accept=settings.session_also_accept,
        ),
        lifecycle=Lifecycle(
            LifecycleConfig(drain_delay=settings.drain_delay, shutdown_grace=settings.shutdown_grace)
        ),
        database=database,
        attempts=attempts,
    )


def _shop(database: Database, attempts: RedisAttempts) -> Shop:
    catalog = SqlCatalog(database=database)
    offers = OffersSnapshot(catalog.offers)
    accounts = SqlAccounts(database=database)
    orders = SqlOrders(database=database)
    passwords = ArgonPasswords(PasswordConfig())
    return Shop(
        catalog=catalog,
        accounts=accounts,
        orders=orders,
        register=Register(accounts=accounts, passwords=passwords),
        log_in=LogIn(accounts=accounts, passwords=passwords, attempts=attempts),
        show_cart=ShowCart(offers=offers),
        add_to_cart=AddToCart(offers=offers),
        put_in_cart=PutInCart(offers=offers),
        place_order=PlaceOrder(orders=orders),
    )


def _session_config(settings: Settings) -> SessionConfig:
    return SessionConfig(
        namespace=settings.session_namespace,
        idle_timeout=settings.session_idle_timeout,
        absolute_timeout=settings.session_absolute_timeout,
        cookie_name=settings.cookie_name,
        cookie_secure=settings.cookie_secure,
    )
