"""Constructs every part of a replica without I/O; opens them in order and closes them in reverse."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta

from sqlalchemy import text
from starlette.types import ASGIApp

from app.control import ControlBoard, Obedience
from app.lifecycle import Lifecycle, LifecycleConfig, Phase
from app.observability import (
    Check,
    LineWriter,
    Observability,
    ObservabilityConfig,
    database_pool,
    in_background,
    redis_pool,
)
from app.resilience import Limiter, LimiterConfig
from app.sessions import SessionConfig, Sessions, jwks_of
from app.sessions.jwt_store import JwtStore
from app.settings import Settings
from app.shop.accounts import LogIn, Register
from app.shop.cart import AddToCart, PutInCart, ShowCart
from app.shop.checkout import PlaceOrder
from app.shop.password import ChangePassword
from app.shop.revocations import EndSessions
from app.shop.shop import Shop
from app.stores.accounts import SqlAccounts
from app.stores.attempts import AttemptsConfig, RedisAttempts
from app.stores.catalog import SqlCatalog
from app.stores.database import Database, DatabaseConfig
from app.stores.offers import OffersSnapshot
from app.stores.orders import SqlOrders
from app.stores.passwords import ArgonPasswords, PasswordConfig
from app.stores.revocations import Replay, SessionEpochs, SqlRevocations


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocking:
    """Work that blocks a thread, each kind in its own, so that a slow report never delays a log-in."""

    reports: Limiter
    images: Limiter


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Everything a replica is made of."""

    shop: Shop
    sessions: Sessions
    jwks: ASGIApp | None
    replay: Replay
    lifecycle: Lifecycle
    database: Database
    background: Database
    attempts: RedisAttempts
    board: ControlBoard
    obedience: Obedience
    blocking: Blocking
    observability: Observability

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open what needs opening; at the end close clients, then Redis, then the database."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.database.close)
            stack.push_async_callback(self.background.close)
            stack.push_async_callback(self.attempts.close)
            stack.push_async_callback(self.board.close)
            stack.push_async_callback(self.sessions.close)
            await self.sessions.open()
            await stack.enter_async_context(self.observability.running())
            await stack.enter_async_context(in_background(self.obedience.run(), self.replay.run()))
            yield


def build(settings: Settings, *, writer: LineWriter | None = None) -> Parts:
    """The parts, without I/O; raises `ValueError` where a setting cannot work. `writer` takes the log."""
    lifecycle = Lifecycle(
        LifecycleConfig(drain_delay=settings.drain_delay, shutdown_grace=settings.shutdown_grace)
    )
    replica = settings.replica_name or "unnamed"
    observability = Observability(
        ObservabilityConfig(
            replica=replica, phase=lambda: lifecycle.phase.value, phases=[phase.value for phase in Phase]
        ),
        writer=writer,
    )
    database = Database(DatabaseConfig(url=settings.database_url, pool_size=settings.database_pool_size))
    background = Database(_background_config(settings))
    attempts = RedisAttempts(AttemptsConfig(url=settings.redis_url))
    passwords = ArgonPasswords(PasswordConfig(), listeners=[observability.resilience])
    blocking = _blocking(observability)
    board = ControlBoard(settings.redis_url)
    _list_pools(observability, database=database, background=background, attempts=attempts, board=board)
    _list_threads(observability, hashing=passwords.limiter, blocking=blocking)
    unmeasured = sessions_of(settings)
    sessions = observability.measured(unmeasured)
    _list_components(observability, database=database, sessions=sessions, board=board)
    return Parts(
        shop=_shop(database, attempts, passwords, sessions),
        sessions=sessions,
        jwks=jwks_of(unmeasured) if any(isinstance(store, JwtStore) for store in unmeasured.stores) else None,
        replay=Replay(sessions=sessions, revocations=SqlRevocations(database=background)),
        lifecycle=lifecycle,
        database=database,
        background=background,
        attempts=attempts,
        board=board,
        obedience=Obedience(board, observability.resilience.breakers(), replica=replica),
        blocking=blocking,
        observability=observability,
    )


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


def _blocking(observability: Observability) -> Blocking:
    watch = [observability.resilience]
    return Blocking(
        reports=Limiter("reports", LimiterConfig(max_threads=1, queue_capacity=4), listeners=watch),
        images=Limiter("images", LimiterConfig(max_threads=1, queue_capacity=16), listeners=watch),
    )


def _list_pools(
    observability: Observability,
    *,
    database: Database,
    background: Database,
    attempts: RedisAttempts,
    board: ControlBoard,
) -> None:
    for pool in (
        database_pool(
            "database",
            database,
            shared_by=("every page and call that reads or writes the shop",),
            dies="catalogue, log-in and checkout; carts, probes and reports go on",
        ),
        database_pool(
            "background database",
            background,
            shared_by=("reports", "background jobs"),
            dies="the other reports and jobs; no shopper notices",
        ),
        redis_pool(
            "attempts Redis",
            attempts.pool,
            shared_by=("log-in",),
            dies="log-in alone, with a 503; who is logged in stays so",
        ),
        redis_pool(
            "control Redis",
            board.pool,
            shared_by=("the operator's wishes",),
            dies="new wishes; the last known ones stay until they expire",
        ),
    ):
        observability.compartments.add(pool)


def _list_threads(observability: Observability, *, hashing: Limiter, blocking: Blocking) -> None:
    watch = observability.resilience
    watch.add(hashing, blocking.reports, blocking.images)
    for limiter, shared_by, dies in (
        (hashing, ("log-in", "registration", "change of password"), "log-in and registration, with a 503"),
        (blocking.reports, ("reports",), "the other reports"),
        (blocking.images, ("pictures of products",), "the other pictures"),
    ):
        observability.compartments.add(watch.threads(limiter, shared_by=shared_by, dies=dies))


def _list_components(
    observability: Observability, *, database: Database, sessions: Sessions, board: ControlBoard
) -> None:
    for check in (
        Check(
            name="database",
            look=lambda: database.rows(text("SELECT 1")),
            essential=True,
            without="no catalogue, log-in or checkout: 503",
        ),
        Check(
            name="sessions",
            look=lambda: sessions.primary.devices("nobody", current=None),
            essential=True,
            without="no log-in, cart or checkout: 503 in 300 ms; nobody is made anonymous",
        ),
        Check(
            name="control",
            look=board.standing,
            essential=False,
            without="the last known wishes stay until they expire",
        ),
    ):
        observability.components.add(check)


def sessions_of(settings: Settings, *, timeout: timedelta | None = None) -> Sessions:
    """The session layer of the settings, with another patience if it is not for pages."""
    config = _session_config(settings)
    return Sessions.from_url(
        settings.session_url,
        keys=settings.secret_keys,
        config=config if timeout is None else replace(config, timeout=timeout),
        also_accept=settings.session_also_accept,
    )


def _shop(database: Database, attempts: RedisAttempts, passwords: ArgonPasswords, sessions: Sessions) -> Shop:
    catalog = SqlCatalog(database=database)
    offers = OffersSnapshot(catalog.offers)
    accounts = SqlAccounts(database=database)
    orders = SqlOrders(database=database)
    revocations = SqlRevocations(database=database)
    return Shop(
        catalog=catalog,
        accounts=accounts,
        orders=orders,
        register=Register(accounts=accounts, passwords=passwords),
        log_in=LogIn(
            accounts=accounts, passwords=passwords, attempts=attempts, epochs=SessionEpochs(sessions=sessions)
        ),
        change_password=ChangePassword(
            accounts=accounts, passwords=passwords, attempts=attempts, revocations=revocations
        ),
        end_sessions=EndSessions(revocations=revocations),
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
        revoke_replicas=settings.session_revoke_replicas,
    )
