"""Resources of other libraries as compartments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from redis.asyncio import ConnectionPool
from redis.observability.attributes import DB_CLIENT_CONNECTION_STATE
from sqlalchemy import Engine, event
from sqlalchemy.pool import QueuePool

from app.clients.pool import Places
from app.observability.compartments import Compartment, Usage
from app.observability.meter import Meter
from app.observability.writer import LineWriter
from app.stores.database import Database


def database_pool(name: str, database: Database, *, shared_by: Sequence[str], dies: str) -> Compartment:
    """The connections of one database pool."""
    engine = database.engine.sync_engine
    meter = Meter()
    event.listen(engine, "checkout", lambda *_: meter.take())
    event.listen(engine, "checkin", lambda *_: meter.give())

    def usage() -> Usage:
        held, pool = meter.holding(), _pool(engine)
        # A call whose connection is still being made has its place all the same.
        return Usage(
            in_use=max(pool.checkedout(), min(database.running, pool.size())),
            waiting=max(0, database.running - pool.size()),
            holding_s=held.mean_s,
            rate_per_s=held.rate_per_s,
        )

    return Compartment(
        name=name, kind="pool", size=_pool(engine).size(), shared_by=tuple(shared_by), dies=dies, usage=usage
    )


def _pool(engine: Engine) -> QueuePool:
    pool = engine.pool
    if not isinstance(pool, QueuePool):
        raise TypeError(f"a {type(pool).__name__} has no size to show")
    return pool


def redis_pool(name: str, pool: ConnectionPool, *, shared_by: Sequence[str], dies: str) -> Compartment:
    """The connections of one redis-py pool; it tells neither who waits nor for how long."""

    def usage() -> Usage:
        counted = pool.get_connection_count()
        return Usage(
            in_use=sum(number for number, labels in counted if labels[DB_CLIENT_CONNECTION_STATE] == "used")
        )

    return Compartment(
        name=name,
        kind="pool",
        size=pool.max_connections,
        shared_by=tuple(shared_by),
        dies=dies,
        usage=usage,
    )


class Pooled(Protocol):
    """Whatever holds connections to one downstream."""

    @property
    def places(self) -> Places:
        """Its places."""


def http_pool(name: str, connections: Pooled, *, shared_by: Sequence[str], dies: str) -> Compartment:
    """The connections to one downstream."""
    places, meter = connections.places, Meter()
    places.watch(taken=meter.take, given=meter.give)

    def usage() -> Usage:
        held = meter.holding()
        return Usage(
            in_use=places.in_use, waiting=places.waiting, holding_s=held.mean_s, rate_per_s=held.rate_per_s
        )

    return Compartment(
        name=name, kind="pool", size=places.size, shared_by=tuple(shared_by), dies=dies, usage=usage
    )


def log_queue(writer: LineWriter) -> Compartment:
    """The lines of log that are not yet written."""
    return Compartment(
        name="log lines",
        kind="queue",
        size=writer.capacity,
        shared_by=("every log line",),
        dies="nobody: lines are dropped and counted",
        usage=lambda: Usage(in_use=writer.waiting, rejected=writer.dropped),
    )
