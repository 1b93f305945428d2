"""PostgreSQL for the stores: short waits, no forgotten transaction, one error.

Every call takes a connection, does its work and gives the connection back; nothing else is awaited
meanwhile. Whatever keeps the database from answering in time becomes `Unavailable`.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

from sqlalchemy import Executable, Row, Select, func, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, InterfaceError, InternalError, OperationalError, TimeoutError  # noqa: A004 -- SQLAlchemy's word for a pool that stayed empty
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from app.shop.errors import Unavailable
from app.stores.poolers import driver_url, is_pooled

T = TypeVar("T")

_log = logging.getLogger(__name__)

AnyRow: TypeAlias = Row[*tuple[Any, ...]]
AnySelect: TypeAlias = Select[*tuple[Any, ...]]
"""A statement and its rows, where the columns are known by name and not by type."""

CONTENDED: Final = frozenset({"40001", "40P01"})
"""Serialisation failure and deadlock: PostgreSQL undid one of two transactions, which may just try again."""

BEHIND: Final = frozenset({"42P01", "42703"})
"""No such table, no such column: the migrations of this version have not run yet."""

READ_ONLY: Final = "25006"
"""A write to a server that has become a standby."""

TRIES: Final = 4
"""Of a contended transaction. Locks are taken in one order everywhere, so even a second try is rare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseConfig:
    """How to reach the database, and how long it may take over it.

    The parts fit into `answer_within_s`, and that into the 3 s a balancer gives a GET.
    A pooler that lends a connection for each transaction, as `url` may say (`app.stores.poolers`), gets no
    prepared statement and no setting that would outlive one.
    """

    url: str
    pool_size: int = 10
    pool_wait_s: float = 1.5
    connect_timeout_s: int = 2  # libpq takes whole seconds, and no fewer than 2
    statement_timeout_s: float = 2.0
    lock_timeout_s: float = 1.5
    idle_in_transaction_timeout_s: float = 5.0
    answer_within_s: float = 2.6
    application_name: str = "chopho"
    read_only: bool = False

    @property
    def is_pooled(self) -> bool:
        """Whether a pooler lends each transaction its connection."""
        return is_pooled(self.url)

    def settings(self) -> Mapping[str, str]:
        """What holds for every statement; times are told and kept in UTC."""
        milliseconds = {
            "statement_timeout": self.statement_timeout_s,
            "lock_timeout": self.lock_timeout_s,
            "idle_in_transaction_session_timeout": self.idle_in_transaction_timeout_s,
        }
        timeouts = {name: str(round(1000 * value)) for name, value in milliseconds.items()}
        return {**timeouts, "TimeZone": "UTC"}

    def connect_args(self) -> Mapping[str, object]:
        """What each connection starts with; settings as libpq's `options`, which a pooler refuses."""
        common: Mapping[str, object] = {
            "connect_timeout": self.connect_timeout_s,
            "application_name": self.application_name,
        }
        if self.is_pooled:
            return {**common, "prepare_threshold": None}
        read_only = {"default_transaction_read_only": "on"} if self.read_only else {}
        options = [f"-c {name}={value}" for name, value in {**self.settings(), **read_only}.items()]
        own = str(make_url(self.url).query.get("options", ""))
        return {**common, "options": " ".join([own, *options]).strip()}

    def opening(self) -> Executable | None:
        """What a pooled transaction begins with: its settings, which end with it."""
        if not self.is_pooled:
            return None
        read_only = {"transaction_read_only": "on"} if self.read_only else {}
        values = {**self.settings(), **read_only}.items()
        return select(*(func.set_config(name, value, True) for name, value in values))  # noqa: FBT003 -- SQL's is_local


class Contended(Unavailable):
    """The transaction met another one and was undone every time it was tried."""


class Database:
    """A bounded pool of connections. Built without I/O; connections are made when first needed."""

    def __init__(self, config: DatabaseConfig) -> None:
        self._config = config
        self._opening = config.opening()
        self._engine = create_async_engine(
            driver_url(config.url),
            pool_size=config.pool_size,
            max_overflow=0,
            pool_timeout=config.pool_wait_s,
            pool_pre_ping=True,  # one short round trip, so that a restart of PostgreSQL costs no request
            pool_use_lifo=True,  # idle connections stay idle
            use_native_hstore=False,  # would ask for the type on the first connection
            connect_args=dict(config.connect_args()),
        )
        self._alone = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        self._reading = self._alone if self._opening is None else self._engine
        self._running: set[asyncio.Task[Any]] = set()

    @property
    def engine(self) -> AsyncEngine:
        """For whoever watches the pool."""
        return self._engine

    @property
    def running(self) -> int:
        """Calls that hold a connection or wait for one."""
        return len(self._running)

    async def rows(self, statement: Executable) -> Sequence[AnyRow]:
        """The rows of one statement, read without a transaction where no pooler asks for one.

        Raises `Unavailable`.
        """

        async def read() -> Sequence[AnyRow]:
            with _unavailable():
                async with self._reading.connect() as connection, connection.begin():
                    await self._open(connection)
                    return (await connection.execute(statement)).all()

        return await self._answer(read)

    async def row(self, statement: Executable) -> AnyRow | None:
        """The first row of one statement, or None. Raises `Unavailable`."""
        return next(iter(await self.rows(statement)), None)

    async def maintain(self, statement: Executable) -> None:
        """Run one statement that must not stand in a transaction, such as a `VACUUM`. Raises `Unavailable`."""

        async def run() -> None:
            with _unavailable():
                async with self._alone.connect() as connection:
                    await connection.execute(statement)

        await self._answer(run)

    async def transaction(self, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        """What `work` returns, committed; or its error, and nothing happened.

        `work` awaits nothing but its connection, and may run again when it met another transaction.
        Raises `Unavailable`: nothing happened, unless the connection broke during the commit itself.
        """

        async def write() -> T:
            for tried in range(1, TRIES):
                try:
                    return await self._once(work)
                except Contended:
                    await asyncio.sleep(random.uniform(0, 0.02 * tried))  # noqa: S311 -- it parts the two
            return await self._once(work)

        return await self._answer(write)

    async def _once(self, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        with _unavailable():
            async with self._engine.connect() as connection:
                try:
                    async with connection.begin():
                        await self._open(connection)
                        return await work(connection)
                except DBAPIError as failure:
                    if getattr(failure.orig, "sqlstate", None) == READ_ONLY:
                        # The primary moved. Kept, this connection would refuse every write until a restart.
                        await connection.invalidate()
                    raise

    async def _open(self, connection: AsyncConnection) -> None:
        if self._opening is not None:
            await connection.execute(self._opening)

    async def close(self) -> None:
        """Let what runs finish, then close every connection."""
        if self._running:
            await asyncio.wait(self._running, timeout=self._config.answer_within_s)
        await self._engine.dispose()

    async def _answer(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """What `work` returns within the bound.

        It runs in a task of its own. A caller that is cancelled leaves at once and the work ends by
        itself, committed or rolled back, instead of being torn from its connection; and a database that
        hangs is waited for no longer than the bound, whatever its driver still waits for.
        """
        task = asyncio.get_running_loop().create_task(work())
        self._running.add(task)
        task.add_done_callback(self._ended)
        self._limit(task)
        await asyncio.wait({task}, timeout=self._config.answer_within_s)
        if not task.done() or task.cancelled():
            raise Unavailable("the database")
        return task.result()

    def _limit(self, task: asyncio.Task[Any]) -> None:
        """Cancel the work at the bound (psycopg asks the server to stop), and for good a second later."""
        loop = asyncio.get_running_loop()
        bound = self._config.answer_within_s
        timers = [loop.call_later(bound + more, task.cancel) for more in (0, 1)]

        def stop(_: asyncio.Task[Any]) -> None:
            for timer in timers:
                timer.cancel()

        task.add_done_callback(stop)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # seen, also when the caller has left


@contextmanager
def _unavailable() -> Iterator[None]:
    """The driver's words for "cannot answer", said as the shop's."""
    try:
        yield
    except TimeoutError as empty:
        raise Unavailable("the database") from empty
    except DBAPIError as failure:
        if getattr(failure.orig, "sqlstate", None) in CONTENDED:
            raise Contended("the database") from failure
        if _is_away(failure):
            raise Unavailable("the database") from failure
        raise


def _is_away(failure: DBAPIError) -> bool:
    """Whether the database could not answer, rather than we asked something wrong.

    PostgreSQL's internal errors are among them: a standby that refuses to write, a session it ended.
    """
    if getattr(failure.orig, "sqlstate", None) in BEHIND:
        _log.error("the database lacks what this version needs: run chopho migrate (%s)", failure.orig)
        return True
    return failure.connection_invalidated or isinstance(
        failure, OperationalError | InterfaceError | InternalError
    )
