"""What people may do about their accounts, put together without I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from app.sessions import Sessions
from app.settings import Settings
from app.shop.accounts import Passwords
from app.shop.addresses import KeepAddress
from app.shop.emails import ChangeEmail, ConfirmEmail, WriteEmailChange
from app.shop.forgotten import ForgotPassword, ResetPassword, WriteReset
from app.shop.password import CheckPassword
from app.shop.people import People
from app.shop.personal import EraseData, ExportData
from app.shop.profile import ChangeProfile
from app.shop.standing import Standing
from app.stores.accounts import SqlAccounts
from app.stores.addresses import SqlAddresses
from app.stores.asks import AsksConfig, RedisAsks
from app.stores.attempts import RedisAttempts
from app.stores.database import Database
from app.stores.emails import SqlEmailChanges
from app.stores.erasure import SqlErasure
from app.stores.orders import SqlOrders
from app.stores.postman import Prepare
from app.stores.profiles import SqlProfiles
from app.stores.resets import SqlResets
from app.stores.revocations import SessionEnds, SqlRevocations
from app.stores.standing import SqlStandings


def asks_config(settings: Settings) -> AsksConfig:
    """How often mail may be asked for; addresses of clients are limited where the settings limit them."""
    config = AsksConfig(url=settings.redis_url)
    return config if settings.rate_limit else replace(config, client_most=None)


def people_of(
    *,
    database: Database,
    logins: Database,
    sessions: Sessions,
    passwords: Passwords,
    attempts: RedisAttempts,
    asks: RedisAsks,
) -> People:
    """The use cases; what has to do with coming in has connections that no slow page holds."""
    resets, revocations = SqlResets(database=logins), SqlRevocations(database=database)
    changes, addresses = SqlEmailChanges(database=database), SqlAddresses(database=database)
    ends = SessionEnds(sessions=sessions)
    return People(
        check_password=CheckPassword(
            accounts=SqlAccounts(database=logins), passwords=passwords, attempts=attempts
        ),
        change_profile=ChangeProfile(profiles=SqlProfiles(database=database)),
        addresses=addresses,
        keep_address=KeepAddress(addresses=addresses),
        change_email=ChangeEmail(changes=changes, asks=asks),
        confirm_email=ConfirmEmail(changes=changes),
        forgot_password=ForgotPassword(resets=resets, asks=asks),
        reset_password=ResetPassword(resets=resets, passwords=passwords, revocations=revocations, ends=ends),
        export_data=ExportData(
            accounts=SqlAccounts(database=database),
            addresses=addresses,
            orders=SqlOrders(database=database),
        ),
        erase_data=EraseData(erasure=SqlErasure(database=database), revocations=revocations, ends=ends),
        standing=Standing(standings=SqlStandings(database=database), revocations=revocations, ends=ends),
    )


def preparations_of(database: Database) -> Mapping[str, Prepare]:
    """What makes mails of what was asked for, by their kind."""
    return {
        "password_reset": WriteReset(resets=SqlResets(database=database)),
        "email_confirm": WriteEmailChange(changes=SqlEmailChanges(database=database)),
    }
