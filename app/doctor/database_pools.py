"""Whether there are as many connections to the database as all replicas may want."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import psycopg
from sqlalchemy.engine import make_url

from app.doctor.finding import Check, Fault, Severity
from app.doctor.subject import Silent, Subject
from app.wiring import connections_of


async def _look(subject: Subject) -> Sequence[Fault]:
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
            mend=f"lower CHOPHO_DATABASE_POOL_SIZE, raise max_connections above {wanted}, or put a pooler in between",
        )
    ]


def allowed_connections(url: str) -> int:
    """Connections that are not kept for administrators; raises `Silent`."""
    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    try:
        with psycopg.connect(plain, connect_timeout=3) as connection:
            row = connection.execute(
                "SELECT current_setting('max_connections')::int"
                " - current_setting('superuser_reserved_connections')::int"
            ).fetchone()
    except psycopg.OperationalError as away:
        raise Silent("the database does not answer") from away
    return int(row[0]) if row else 0


DATABASE_POOLS = Check(
    name="database-pools",
    why="the connection too many is refused in the busiest minute: scaling out for the sale then takes down the "
    "pages that worked before",
    look=_look,
)
