"""Everything a replica is made of, and how it is put together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from starlette.types import ASGIApp

from app.clients.payments import HttpPayments
from app.control import ControlBoard, Obedience
from app.lifecycle import Lifecycle, LifecycleConfig, Phase
from app.observability.background import in_background
from app.observability.observability import Observability, ObservabilityConfig
from app.observability.writer import LineWriter
from app.sessions import SessionConfig, Sessions, jwks_of
from app.sessions.jwt_store import JwtStore
from app.settings import Settings
from app.shop.accounts import LogIn, Register
from app.shop.authors import ForgetAuthors
from app.shop.cancelling import CancelOrder
from app.shop.cart import AddToCart, PutInCart, ShowCart
from app.shop.checkout import PlaceOrder
from app.shop.desk.desk import Desk
from app.shop.fulfilment import MoveOrder
from app.shop.guests import FollowOrder
from app.shop.password import ChangePassword
from app.shop.quoting import QuoteCart
from app.shop.recovery import Recovery
from app.shop.revocations import EndSession, EndSessions
from app.shop.settlement import Settlement
from app.shop.shop import Shop
from app.stores.accounts import SqlAccounts
from app.stores.asks import RedisAsks
from app.stores.attempts import AttemptsConfig, RedisAttempts
from app.stores.authors import SqlErasedAuthors
from app.stores.carts import SqlCarts
from app.stores.catalog import SqlCatalog
from app.stores.database import Database, DatabaseConfig
from app.stores.desk.importer import Importer
from app.stores.desk.jobs import SqlJobs
from app.stores.guest_links import SignedGuestLinks
from app.stores.offers import OffersSnapshot
from app.stores.orders import SqlLedger, SqlOrders
from app.stores.passwords import ArgonPasswords, PasswordConfig
from app.stores.postman import Postman
from app.stores.rates import RatesConfig, RedisRates
from app.stores.revocations import Replay, SessionEpochs, SqlRevocations
from app.stores.shopper_cart import AccountCarts
from app.stores.snapshot import Snapshot
from app.stores.vouchers import SqlVouchers
from app.web.gateway import Gateway
from app.web.pages.payment import PATH as RETURN_PATH
from app.wiring import listing
from app.wiring.blocking import Blocking
from app.wiring.charges import charges_of
from app.wiring.desk import desk_of
from app.wiring.downstream import Downstream, downstream_of
from app.wiring.gateway import gateway_of
from app.wiring.helpful import list_helpful
from app.wiring.people import asks_config, people_of
from app.wiring.post import postman_of
from app.wiring.product_pages import product_pages


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Everything a replica is made of."""

    shop: Shop
    desk: Desk
    cart_of: AccountCarts
    sessions: Sessions
    jwks: ASGIApp | None
    replay: Replay
    lifecycle: Lifecycle
    database: Database
    logins: Database
    background: Database
    attempts: RedisAttempts
    board: ControlBoard
    obedience: Obedience
    blocking: Blocking
    importer: Importer
    downstream: Downstream
    recovery: Recovery | None
    forget_authors: ForgetAuthors | None
    postman: Postman | None
    gateway: Gateway
    rates: RedisRates | None
    observability: Observability

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open what needs opening; at the end close clients, then Redis, then the database."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.database.close)
            stack.push_async_callback(self.logins.close)
            stack.push_async_callback(self.background.close)
            stack.push_async_callback(self.attempts.close)
            if self.rates is not None:
                stack.push_async_callback(self.rates.close)
            stack.push_async_callback(self.board.close)
            stack.push_async_callback(self.sessions.close)
            stack.push_async_callback(self.downstream.close)
            stack.callback(self.gateway.close)
            await self.sessions.open()
            # A replica that an operator holds out never says ready, not even for a moment.
            await self.obedience.ask()
            await stack.enter_async_context(self.observability.running())
            await stack.enter_async_context(in_background(*self._jobs()))
            yield

    def _jobs(self) -> Iterator[Coroutine[Any, Any, None]]:
        yield self.obedience.run()
        yield self.replay.run()
        yield self.importer.run()
        if self.recovery is not None:
            yield self.recovery.run()
        if self.forget_authors is not None:
            yield self.forget_authors.run()
        if self.rates is not None:
            yield self.rates.run()
        if self.postman is not None:
            yield self.postman.run()


def build(settings: Settings, *, writer: LineWriter | None = None) -> Parts:
    """The parts, without I/O; raises `ValueError` where a setting cannot work. `writer` takes the log."""
    lifecycle = Lifecycle(
        LifecycleConfig(drain_delay=settings.drain_delay, shutdown_grace=settings.shutdown_grace)
    )
    replica = settings.replica_name or "unnamed"
    observability = _observability(lifecycle, replica, writer)
    database = Database(_pages_config(settings))
    logins = Database(_logins_config(settings))
    background = Database(_background_config(settings))
    attempts = RedisAttempts(AttemptsConfig(url=settings.redis_url))
    passwords = ArgonPasswords(PasswordConfig(), listeners=[observability.resilience])
    blocking = Blocking.listened_to_by(observability.resilience)
    downstream = downstream_of(
        settings, listeners=[observability.resilience], notice=observability.degradations
    )
    rates = RedisRates(RatesConfig(url=settings.redis_url)) if settings.rate_limit else None
    gateway = gateway_of(
        settings,
        lifecycle,
        accounts=SqlAccounts(database=database),
        rates=rates,
        listeners=[observability.resilience],
    )
    board = ControlBoard(settings.redis_url)
    listing.databases(observability, pages=database, logins=logins, background=background)
    listing.redis(observability, attempts=attempts, board=board)
    listing.threads(observability, hashing=passwords.limiter, blocking=blocking)
    unmeasured = sessions_of(settings)
    sessions = observability.measured(unmeasured)
    listing.components(observability, database=database, sessions=sessions, board=board)
    if downstream.payments is not None:
        listing.payments(observability, downstream.payments)
    list_helpful(observability, downstream)
    offers = OffersSnapshot(SqlCatalog(database=database).offers)
    listing.gateway(observability, gateway)
    if rates is not None:
        listing.rates(observability, rates)
    shop = _shop(settings, database, logins, attempts, passwords, sessions, downstream, offers)
    return Parts(
        shop=shop,
        cart_of=_carts(database, offers, settings),
        desk=desk_of(database=database, background=background, sessions=sessions, images=blocking.images),
        sessions=sessions,
        jwks=jwks_of(unmeasured) if any(isinstance(store, JwtStore) for store in unmeasured.stores) else None,
        replay=Replay(sessions=sessions, revocations=SqlRevocations(database=background)),
        lifecycle=lifecycle,
        database=database,
        logins=logins,
        background=background,
        attempts=attempts,
        board=board,
        obedience=Obedience(board, observability.resilience.breakers(), lifecycle, replica=replica),
        blocking=blocking,
        importer=Importer(
            jobs=SqlJobs(database=background), url=settings.database_url, limiter=blocking.reports
        ),
        downstream=downstream,
        recovery=_recovery(settings, background, downstream.payments),
        forget_authors=_forget_authors(background, shop),
        postman=postman_of(settings, background, observability, writer),
        gateway=gateway,
        rates=rates,
        observability=observability,
    )


def _observability(lifecycle: Lifecycle, replica: str, writer: LineWriter | None) -> Observability:
    config = ObservabilityConfig(
        replica=replica, phase=lambda: lifecycle.phase.value, phases=[phase.value for phase in Phase]
    )
    return Observability(config, writer=writer)


def connections_of(settings: Settings) -> int:
    """How many connections to the database one replica may hold at once."""
    configs = (_pages_config(settings), _logins_config(settings), _background_config(settings))
    return sum(config.pool_size for config in configs)


def _pages_config(settings: Settings) -> DatabaseConfig:
    return DatabaseConfig(url=settings.database_url, pool_size=settings.database_pool_size)


def _logins_config(settings: Settings) -> DatabaseConfig:
    """Connections that no slow page holds. Hashing lets two log-ins through at a time, so two are enough."""
    return DatabaseConfig(url=settings.database_url, pool_size=2, application_name="chopho-log-in")


def _background_config(settings: Settings) -> DatabaseConfig:
    """Reports and jobs may take their time, on connections that no page ever waits for."""
    return DatabaseConfig(
        url=settings.database_url,
        pool_size=2,
        pool_wait_s=30,
        statement_timeout_s=60,
        answer_within_s=90,
        application_name="chopho-background",
    )


def sessions_of(settings: Settings, *, timeout: timedelta | None = None) -> Sessions:
    """The session layer of the settings, with another patience if it is not for pages."""
    config = _session_config(settings)
    return Sessions.from_url(
        settings.session_url,
        keys=settings.secret_keys,
        config=config if timeout is None else replace(config, timeout=timeout),
        also_accept=settings.session_also_accept,
    )


def _settlement(settings: Settings, database: Database, payments: HttpPayments | None) -> Settlement | None:
    if payments is None:
        return None
    return Settlement(
        orders=SqlOrders(database=database, guest_path=SignedGuestLinks(settings.secret_keys).path),
        ledger=SqlLedger(database=database),
        payments=payments,
        return_url=settings.public_url + RETURN_PATH,
        wait=settings.payment_wait,
    )


def _recovery(settings: Settings, background: Database, payments: HttpPayments | None) -> Recovery | None:
    settlement = _settlement(settings, background, payments)
    if settlement is None:
        return None
    return Recovery(ledger=settlement.ledger, settlement=settlement, interval=settings.recovery_interval)


def _forget_authors(background: Database, shop: Shop) -> ForgetAuthors | None:
    if shop.reviewing is None:
        return None
    return ForgetAuthors(authors=SqlErasedAuthors(database=background), reviewing=shop.reviewing)


def _shop(
    settings: Settings,
    database: Database,
    logins: Database,
    attempts: RedisAttempts,
    passwords: ArgonPasswords,
    sessions: Sessions,
    downstream: Downstream,
    offers: OffersSnapshot,
) -> Shop:
    catalog = SqlCatalog(database=database)
    logging_in = SqlAccounts(database=logins)
    charges = charges_of(settings)
    links = SignedGuestLinks(settings.secret_keys)
    orders = SqlOrders(database=database, charges=charges, guest_path=links.path)
    revocations = SqlRevocations(database=database)
    settlement = _settlement(settings, database, downstream.payments)
    show_product, reviewing = product_pages(catalog, downstream)
    return Shop(
        catalog=catalog,
        show_product=show_product,
        reviewing=reviewing,
        accounts=SqlAccounts(database=database),
        orders=orders,
        register=Register(accounts=logging_in, passwords=passwords),
        log_in=LogIn(
            accounts=logging_in,
            passwords=passwords,
            attempts=attempts,
            epochs=SessionEpochs(sessions=sessions),
        ),
        change_password=ChangePassword(
            accounts=logging_in, passwords=passwords, attempts=attempts, revocations=revocations
        ),
        people=people_of(
            database=database,
            logins=logins,
            sessions=sessions,
            passwords=passwords,
            attempts=attempts,
            asks=RedisAsks(asks_config(settings), attempts.pool),
        ),
        end_session=EndSession(revocations=revocations),
        end_sessions=EndSessions(revocations=revocations),
        show_cart=ShowCart(offers=offers),
        add_to_cart=AddToCart(offers=offers),
        put_in_cart=PutInCart(offers=offers),
        quote_cart=QuoteCart(
            show_cart=ShowCart(offers=offers), charges=charges, vouchers=SqlVouchers(database=database)
        ),
        guest_links=links,
        follow_order=FollowOrder(orders=orders, links=links),
        place_order=PlaceOrder(
            orders=orders, offers=offers, settlement=settlement, lease=settings.checkout_lease
        ),
        cancel_order=CancelOrder(orders=orders, settlement=settlement),
        move_order=MoveOrder(orders=orders, settlement=settlement),
        settlement=settlement,
    )


def _carts(database: Database, offers: OffersSnapshot, settings: Settings) -> AccountCarts:
    carts = SqlCarts(database=database)
    return AccountCarts(
        carts=carts, versions=Snapshot(carts.versions), offers=offers, merging=settings.cart_merging
    )


def _session_config(settings: Settings) -> SessionConfig:
    return SessionConfig(
        namespace=settings.session_namespace,
        idle_timeout=settings.session_idle_timeout,
        absolute_timeout=settings.session_absolute_timeout,
        cookie_name=settings.cookie_name,
        cookie_secure=settings.cookie_secure,
        revoke_replicas=settings.session_revoke_replicas,
    )
