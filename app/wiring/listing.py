"""Tells observability of every finite resource and component of a replica: who shares it, and who dies with it."""

from __future__ import annotations

from sqlalchemy import text

from app.clients.payments import HttpPayments
from app.control import ControlBoard
from app.observability.health import Check
from app.observability.observability import Observability
from app.observability.sources import database_pool, http_pool, redis_pool
from app.resilience import Limiter
from app.sessions import Sessions
from app.stores.attempts import RedisAttempts
from app.stores.database import Database
from app.stores.rates import RedisRates
from app.web.gateway import Gateway
from app.wiring.blocking import Blocking


def databases(
    observability: Observability, *, pages: Database, logins: Database, background: Database
) -> None:
    """The connections to PostgreSQL, by who must not wait for whom."""
    for pool in (
        database_pool(
            "database",
            pages,
            shared_by=("every page and call that reads or writes the shop",),
            dies="catalogue and checkout; log-in, carts, probes and reports go on",
        ),
        database_pool(
            "log-in database",
            logins,
            shared_by=("log-in", "registration"),
            dies="log-in and registration; who is logged in stays so",
        ),
        database_pool(
            "background database",
            background,
            shared_by=("reports", "background jobs"),
            dies="the other reports and jobs; no shopper notices",
        ),
    ):
        observability.compartments.add(pool)


def redis(observability: Observability, *, attempts: RedisAttempts, board: ControlBoard) -> None:
    """The connections to Redis besides the sessions', which tell of themselves."""
    for pool in (
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


def threads(observability: Observability, *, hashing: Limiter, blocking: Blocking) -> None:
    """The threads for work that blocks."""
    watch = observability.resilience
    watch.add(hashing, blocking.reports, blocking.images)
    for limiter, shared_by, dies in (
        (hashing, ("log-in", "registration", "change of password"), "log-in and registration, with a 503"),
        (blocking.reports, ("reports",), "the other reports"),
        (blocking.images, ("pictures of products",), "the other pictures"),
    ):
        observability.compartments.add(watch.threads(limiter, shared_by=shared_by, dies=dies))


def components(
    observability: Observability, *, database: Database, sessions: Sessions, board: ControlBoard
) -> None:
    """What a replica leans on, and what it does without."""
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


def payments(observability: Observability, client: HttpPayments) -> None:
    """The acquirer's slots, connections and breakers, and whether it answers."""
    watch = observability.resilience
    watch.add(client.slots, *(guard.breaker for guard in client.guards))
    shared_by = ("paying by card", "asking what happened to a payment")
    observability.compartments.add(
        watch.slots(
            client.slots,
            shared_by=shared_by,
            dies="card payments alone, refused at once; payment on delivery and every page go on",
        )
    )
    observability.compartments.add(
        http_pool(
            "payments connections",
            client.connections,
            shared_by=shared_by,
            dies="nobody else: there are as many as slots, so whoever has a slot waits for none",
        )
    )
    observability.components.add(
        Check(
            name="payments",
            look=client.look,
            essential=True,
            without="no payment by card: 503, no order is placed; payment on delivery goes on",
        )
    )


def gateway(observability: Observability, gateway: Gateway) -> None:
    """What the gateway has for each service, apart from what the shop's own calls have."""
    watch = observability.resilience
    for upstream in gateway.upstreams.values():
        watch.add(upstream.slots, *(guard.breaker for guard in upstream.guards.values()))
        shared_by = (f"who asks {upstream.name} through the gateway",)
        observability.compartments.add(
            watch.slots(
                upstream.slots,
                shared_by=shared_by,
                dies=f"{upstream.name} through the gateway, refused at once; the shop's own calls go on",
            )
        )
        observability.compartments.add(
            http_pool(
                f"{upstream.slots.name} connections",
                upstream.connections,
                shared_by=shared_by,
                dies="nobody else: there are as many as slots, so whoever has a slot waits for none",
            )
        )


def rates(observability: Observability, rates: RedisRates) -> None:
    """The connections that count what one address asks."""
    observability.compartments.add(
        redis_pool(
            "rates Redis",
            rates.pool,
            shared_by=("registration", "the counts of the gateway"),
            dies="registration, with a 503; the gateway goes on, each replica counting for itself",
        )
    )
