"""Whether there are as many connections to the database as all replicas may want."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from app.doctor.finding import Check, Fault, Severity
from app.doctor.subject import Silent, Subject
from app.stores.poolers import driver_url, is_pooled
from app.wiring import connections_of

_ALLOWED: Final = text(
    "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int"
)


async def _look(subject: Subject) -> Sequence[Fault]:
    if is_pooled(subject.one.database_url):
        return []  # how many clients it takes, and makes wait, a pooler tells nobody but its own administrators
    allowed = await asyncio.to_thread(allowed_connections, subject.one.database_url)
    each = connections_of(subject.one)
    wanted = each * subject.replicas
    if wanted <= allowed:
        return []
    return [
        Fault(
            severity=Severity.ERROR,
            what=f"{subject.replicas} replicas may open {wanted} connections ({each} each), "
            f"and the database allows {allowed}",
            mend=f"lower CHOPHO_DATABASE_POOL_SIZE, raise max_connections above {wanted}, or put a pooler in between (docs/pooler.md)",
        )
    ]


def allowed_connections(url: str) -> int:
    """Connections that are not kept for administrators; raises `Silent`."""
    engine = create_engine(
        driver_url(url), poolclass=NullPool, connect_args={"connect_timeout": 3}, use_native_hstore=False
    )
    try:
        with engine.connect() as connection:
            return int(connection.scalar(_ALLOWED) or 0)
    except OperationalError as away:
        raise Silent("the database does not answer") from away
    finally:
        engine.dispose()


DATABASE_POOLS = Check(
    name="database-pools",
    why="the connection too many is refused in the busiest minute: scaling out for the sale then takes down the "
    "pages that worked before",
    look=_look,
)
