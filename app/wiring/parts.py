"""Everything a replica is made of, and how it is put together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp

from app.control import ControlBoard, Obedience
from app.lifecycle import Lifecycle, LifecycleConfig, Phase
from app.observability.background import in_background
from app.observability.observability import Observability, ObservabilityConfig
from app.observability.writer import LineWriter
from app.sessions import Sessions, jwks_of
from app.sessions.jwt_store import JwtStore
from app.settings import Settings
from app.settings.database_pools import background_config, logins_config, pages_config
from app.shop.authors import ForgetAuthors
from app.shop.desk.desk import Desk
from app.shop.recovery import Recovery
from app.shop.shop import Shop
from app.stores.accounts import SqlAccounts
from app.stores.attempts import AttemptsConfig, RedisAttempts
from app.stores.catalog import SqlCatalog
from app.stores.database import Database
from app.stores.desk.importer import Importer
from app.stores.desk.jobs import SqlJobs
from app.stores.offers import OffersSnapshot
from app.stores.passwords import ArgonPasswords, PasswordConfig
from app.stores.postman import Postman
from app.stores.rates import RatesConfig, RedisRates
from app.stores.revocations import Replay, SqlRevocations
from app.stores.shopper_cart import AccountCarts
from app.web.gateway import Gateway
from app.wiring import listing
from app.wiring.blocking import Blocking
from app.wiring.business import carts_of, forget_authors_of, recovery_of, shop_of
from app.wiring.desk import desk_of
from app.wiring.downstream import Downstream, downstream_of
from app.wiring.gateway import gateway_of
from app.wiring.helpful import list_helpful
from app.wiring.post import postman_of
from app.wiring.sessions import sessions_of


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
    database = Database(pages_config(settings))
    logins = Database(logins_config(settings))
    background = Database(background_config(settings))
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
    shop = shop_of(settings, database, logins, attempts, passwords, sessions, downstream, offers)
    return Parts(
        shop=shop,
        cart_of=carts_of(database, offers, settings),
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
        recovery=recovery_of(settings, background, downstream.payments),
        forget_authors=forget_authors_of(background, shop),
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
