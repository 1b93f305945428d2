"""The servers of the fleet really run here, as root or not."""

from __future__ import annotations

import redis
from sqlalchemy import create_engine, text


def test_redis_keeps_sessions_over_memory(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url, decode_responses=True) as client:
        assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
        assert client.config_get("appendonly") == {"appendonly": "yes"}


def test_postgres_is_a_real_one(empty_database_url: str) -> None:
    engine = create_engine(empty_database_url)
    with engine.connect() as connection:
        assert str(connection.scalar(text("SHOW server_version"))).startswith("18")
    engine.dispose()
