"""What people may do about their accounts, put together without I/O."""

from __future__ import annotations

from dataclasses import replace

from app.sessions import Sessions
from app.settings import Settings
from app.shop.accounts import Passwords
from app.shop.forgotten import ForgotPassword, ResetPassword
from app.shop.people import People
from app.shop.standing import Standing
from app.stores.asks import AsksConfig, RedisAsks
from app.stores.database import Database
from app.stores.resets import SqlResets
from app.stores.revocations import SessionEnds, SqlRevocations
from app.stores.standing import SqlStandings


def asks_config(settings: Settings) -> AsksConfig:
    """How often mail may be asked for; addresses of clients are limited where the settings limit them."""
    config = AsksConfig(url=settings.redis_url)
    return config if settings.rate_limit else replace(config, client_most=None)


def people_of(
    *, database: Database, logins: Database, sessions: Sessions, passwords: Passwords, asks: RedisAsks
) -> People:
    """The use cases; what has to do with coming in has connections that no slow page holds."""
    resets, revocations = SqlResets(database=logins), SqlRevocations(database=database)
    ends = SessionEnds(sessions=sessions)
    return People(
        forgot_password=ForgotPassword(resets=resets, asks=asks),
        reset_password=ResetPassword(resets=resets, passwords=passwords, revocations=revocations, ends=ends),
        standing=Standing(standings=SqlStandings(database=database), revocations=revocations, ends=ends),
    )
