"""Bringing the database to this version; apart from serving, which need not load what only this needs."""

from __future__ import annotations

import asyncio
from ipaddress import ip_address
from urllib.parse import urlsplit

from app.settings import MigrationSettings, SettingsError, read
from app.stores.accounts import SqlAccounts
from app.stores.database import Database
from app.stores.imports import patient
from app.stores.migrations import migrate
from app.stores.passwords import ArgonPasswords, PasswordConfig
from app.stores.poolers import is_pooled
from app.stores.sample.accounts import load_demo_accounts
from app.stores.sample.catalog import load_sample


def migrate_shop(*, sample_data: bool) -> int:
    """Bring the database to this version's schema; several may try at once. The exit code.

    `sample_data` adds the sample catalogue and the demo accounts, which only a local fleet has.
    Raises `SettingsError`.
    """
    settings = read(MigrationSettings)
    if sample_data and not _is_on_this_machine(settings.public_url):
        raise SettingsError(
            "--sample-data brings accounts whose password everybody knows, for a shop on this machine alone: "
            f"CHOPHO_PUBLIC_URL is {settings.public_url or 'not set'}, and wants http://127.0.0.1:PORT"
        )
    if is_pooled(settings.database_url):
        raise SettingsError(
            "CHOPHO_DATABASE_URL leads to a pooler, and migrations take locks that outlive a transaction: "
            "name the database itself, without ?pooler=transaction, for this command"
        )
    migrate(settings.database_url)
    if sample_data:
        asyncio.run(_load_sample_data(Database(patient(settings.database_url))))
    return 0


def _is_on_this_machine(origin: str | None) -> bool:
    host = urlsplit(origin or "").hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


async def _load_sample_data(database: Database) -> None:
    try:
        await load_sample(database)
        await load_demo_accounts(SqlAccounts(database=database), ArgonPasswords(PasswordConfig()))
    finally:
        await database.close()
