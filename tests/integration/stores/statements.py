"""What a store asks its database, overheard; and how PostgreSQL would answer each of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import create_engine, event

from app.stores.database import Database

Node = Mapping[str, Any]
Asked = tuple[str, Any]
"""A statement and its parameters."""

_SCANNED = ("SELECT", "UPDATE", "DELETE", "WITH")


@contextmanager
def overheard(database: Database) -> Iterator[list[Asked]]:
    """Every statement of the block, as the driver got it."""
    asked: list[Asked] = []

    def listen(_: object, __: object, statement: str, parameters: Any, *___: object) -> None:
        asked.append((statement, parameters))

    engine = database.engine.sync_engine
    event.listen(engine, "before_cursor_execute", listen)
    try:
        yield asked
    finally:
        event.remove(engine, "before_cursor_execute", listen)


def nodes(plan: Node) -> Iterator[Node]:
    """A plan's steps, all of them."""
    yield plan
    for part in plan.get("Plans", []):
        yield from nodes(part)


def read_whole(url: str, asked: Sequence[Asked]) -> set[str]:
    """The tables that any of the statements would read from their beginning to their end."""
    engine = create_engine(url)
    found: set[str] = set()
    with engine.connect() as connection:
        for statement, parameters in asked:
            if statement.lstrip().upper().startswith(_SCANNED):
                explained = connection.exec_driver_sql(f"EXPLAIN (FORMAT JSON) {statement}", parameters)
                plan = explained.scalar_one()[0]["Plan"]
                found |= {node["Relation Name"] for node in nodes(plan) if node["Node Type"] == "Seq Scan"}
    engine.dispose()
    return found
