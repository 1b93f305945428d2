"""The real web over the real stores, and clients that speak to it as browsers and programs do."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Any

import httpx
import psycopg
import pytest
from fastapi import FastAPI
from sqlalchemy.engine import make_url

from app.fleet.postgres import PostgresServer
from app.resilience import Limiter
from app.sessions import SessionConfig, Sessions
from app.shop.accounts import LogIn, Register
from app.shop.cancelling import CancelOrder
from app.shop.cart import AddToCart, Offers, PutInCart, ShowCart
from app.shop.checkout import PlaceOrder
from app.shop.fulfilment import MoveOrder
from app.shop.guests import FollowOrder
from app.shop.merging import Merging
from app.shop.password import ChangePassword
from app.shop.pricing import standard_charges
from app.shop.product_page import ShowProduct
from app.shop.quoting import QuoteCart
from app.shop.revocations import EndSession, EndSessions
from app.shop.shop import Shop
from app.stores.accounts import SqlAccounts
from app.stores.asks import AsksConfig, RedisAsks
from app.stores.attempts import AttemptsConfig, RedisAttempts
from app.stores.carts import SqlCarts
from app.stores.catalog import SqlCatalog
from app.stores.database import Database, DatabaseConfig
from app.stores.guest_links import SignedGuestLinks
from app.stores.migrations import migrate
from app.stores.offers import OffersSnapshot
from app.stores.orders import SqlOrders
from app.stores.passwords import ArgonPasswords, PasswordConfig
from app.stores.revocations import SessionEnds, SessionEpochs, SqlRevocations
from app.stores.sample.catalog import load_sample
from app.stores.shopper_cart import AccountCarts
from app.stores.snapshot import Snapshot
from app.stores.vouchers import SqlVouchers
from app.web import WebConfig, bare_app, install
from app.wiring.desk import desk_of
from app.wiring.people import people_of

ORIGIN = "http://chopho.example"
KEY = "a key of the tests that is long enough to sign with"
BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@dataclass(frozen=True, kw_only=True)
class World:
    """The app and what lies behind it."""

    app: FastAPI
    shop: Shop
    sessions: Sessions
    database_url: str
    database: Database

    def client(self, *, origin: str = ORIGIN, **options: Any) -> httpx.AsyncClient:
        """A client with a cookie jar of its own; a crash of the app comes as its answer."""
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        return httpx.AsyncClient(transport=transport, base_url=origin, **options)


@dataclass(frozen=True, kw_only=True)
class Person:
    """A registered shopper."""

    email: str
    password: str
    name: str

    @property
    def credentials(self) -> dict[str, str]:
        return {"email": self.email, "password": self.password}


Build = Callable[..., World]


@pytest.fixture(scope="session")
def web_database_url(postgres_server: PostgresServer) -> Iterator[str]:
    """A shop with the sample catalogue; tests that change it use products of their own choice."""
    admin_url = make_url(postgres_server.url()).set(drivername="postgresql")
    name = f"web_{secrets.token_hex(6)}"
    with psycopg.connect(admin_url.render_as_string(hide_password=False), autocommit=True) as admin:
        admin.execute(f'CREATE DATABASE "{name}"')
    url = postgres_server.url(name)
    migrate(url)
    asyncio.run(_fill(url))
    yield url
    with psycopg.connect(admin_url.render_as_string(hide_password=False), autocommit=True) as admin:
        admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


async def _fill(url: str) -> None:
    database = Database(DatabaseConfig(url=url))
    await load_sample(database)
    await database.close()


@pytest.fixture
async def build_world(web_database_url: str, redis_url: str) -> AsyncIterator[Build]:
    """Builds worlds; what they opened is closed with the test. No part is opened before it is asked."""
    async with AsyncExitStack() as stack:

        def build(
            session_url: str = "memory://",
            database_url: str = web_database_url,
            offers: Offers | None = None,
            *,
            merging: Merging = "sum",
            cookie_secure: bool = False,
            keys: Sequence[str] = (KEY,),
            **config: Any,
        ) -> World:
            database = Database(
                DatabaseConfig(url=database_url, pool_size=5, pool_wait_s=10, answer_within_s=20)
            )
            attempts = RedisAttempts(AttemptsConfig(url=redis_url))
            passwords = ArgonPasswords(PasswordConfig(memory_kib=64, passes=1))
            catalog, accounts = SqlCatalog(database=database), SqlAccounts(database=database)
            links = SignedGuestLinks(keys)
            orders = SqlOrders(database=database, guest_path=links.path)
            sessions = Sessions.from_url(
                session_url, keys=keys, config=SessionConfig(namespace="test", cookie_secure=cookie_secure)
            )
            revocations = SqlRevocations(database=database)
            shop = Shop(
                catalog=catalog,
                show_product=ShowProduct(catalog=catalog),
                reviewing=None,
                accounts=accounts,
                orders=orders,
                register=Register(accounts=accounts, passwords=passwords),
                log_in=LogIn(
                    accounts=accounts,
                    passwords=passwords,
                    attempts=attempts,
                    epochs=SessionEpochs(sessions=sessions),
                ),
                change_password=ChangePassword(
                    accounts=accounts,
                    passwords=passwords,
                    attempts=attempts,
                    revocations=revocations,
                    ends=SessionEnds(sessions=sessions),
                ),
                people=people_of(
                    database=database,
                    logins=database,
                    sessions=sessions,
                    passwords=passwords,
                    attempts=attempts,
                    asks=RedisAsks(AsksConfig(url=redis_url), attempts.pool),
                ),
                end_session=EndSession(revocations=revocations),
                end_sessions=EndSessions(revocations=revocations),
                show_cart=ShowCart(offers=offers or catalog.offers),
                add_to_cart=AddToCart(offers=offers or catalog.offers),
                put_in_cart=PutInCart(offers=offers or catalog.offers),
                quote_cart=QuoteCart(
                    show_cart=ShowCart(offers=offers or catalog.offers),
                    charges=standard_charges(),
                    vouchers=SqlVouchers(database=database),
                ),
                place_order=PlaceOrder(orders=orders, offers=OffersSnapshot(catalog.offers, max_age_s=0)),
                guest_links=links,
                follow_order=FollowOrder(orders=orders, links=links),
                cancel_order=CancelOrder(orders=orders, settlement=None),
                move_order=MoveOrder(orders=orders, settlement=None),
                settlement=None,
            )
            carts = SqlCarts(database=database)
            cart_of = AccountCarts(
                carts=carts,
                versions=Snapshot(carts.versions, max_age_s=0),
                offers=offers or catalog.offers,
                merging=merging,
            )
            for part in (database, attempts, sessions):
                stack.push_async_callback(part.close)
            options: dict[str, Any] = {
                "public_url": ORIGIN,
                "replica_name": "shop-1",
                "trusted_proxies": (ip_network("127.0.0.1/32"),),
            }
            app = bare_app()
            install(
                app,
                shop=shop,
                desk=desk_of(
                    database=database, background=database, sessions=sessions, images=Limiter("images")
                ),
                sessions=sessions,
                cart_of=cart_of,
                config=WebConfig(**{**options, **config}),
            )
            return World(app=app, shop=shop, sessions=sessions, database_url=database_url, database=database)

        yield build


@pytest.fixture
def world(build_world: Build) -> World:
    """A shop whose sessions live in this process."""
    return build_world()


@pytest.fixture
async def api(world: World) -> AsyncIterator[httpx.AsyncClient]:
    """A program."""
    async with world.client() as client:
        yield client


@pytest.fixture
async def browser(world: World) -> AsyncIterator[httpx.AsyncClient]:
    """A person's browser."""
    async with world.client(headers=BROWSER) as client:
        yield client


@pytest.fixture
async def person(world: World) -> Person:
    """Somebody with an account."""
    person = Person(
        email=f"{secrets.token_hex(6)}@khach.example", password="mat-khau-dai", name="Nguyễn Thị Ánh 🧧"
    )
    await world.shop.register(email=person.email, password=person.password, name=person.name)
    return person


@pytest.fixture
async def shopper(browser: httpx.AsyncClient, person: Person) -> httpx.AsyncClient:
    """The browser of somebody who is logged in."""
    answer = await browser.post("/dang-nhap", data=person.credentials)
    assert answer.status_code == 303
    return browser
