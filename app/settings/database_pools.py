"""The pools of connections that one replica has to the database, each for work of its own pace."""

from __future__ import annotations

from app.settings import Settings
from app.stores.database import DatabaseConfig


def connections_of(settings: Settings) -> int:
    """How many connections to the database one replica may hold at once."""
    configs = (pages_config(settings), logins_config(settings), background_config(settings))
    return sum(config.pool_size for config in configs)


def pages_config(settings: Settings) -> DatabaseConfig:
    """Connections of everything that a shopper waits for, but for log-ins."""
    return DatabaseConfig(url=settings.database_url, pool_size=settings.database_pool_size)


def logins_config(settings: Settings) -> DatabaseConfig:
    """Connections that no slow page holds. Hashing lets two log-ins through at a time, so two are enough."""
    return DatabaseConfig(url=settings.database_url, pool_size=2, application_name="chopho-log-in")


def background_config(settings: Settings) -> DatabaseConfig:
    """Reports and jobs may take their time, on connections that no page ever waits for."""
    return DatabaseConfig(
        url=settings.database_url,
        pool_size=2,
        pool_wait_s=30,
        statement_timeout_s=60,
        answer_within_s=90,
        application_name="chopho-background",
    )
