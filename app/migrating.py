"""Bringing the database to this version; apart from serving, which need not load what only this needs."""

from __future__ import annotations

import asyncio

from app.settings import Settings, read
from app.stores.accounts import SqlAccounts
from app.stores.database import Database
from app.stores.imports import patient
from app.stores.migrations import migrate
from app.stores.passwords import ArgonPasswords, PasswordConfig
from app.stores.sample.accounts import load_demo_accounts
from app.stores.sample.catalog import load_sample


def migrate_shop(*, sample_data: bool) -> int:
    """Bring the database to this version's schema; several may try at once. The exit code.

    `sample_data` adds the sample catalogue and the demo accounts, which only a local fleet has.
    Raises `SettingsError`.
    """
    settings = read(Settings)
    migrate(settings.database_url)
    if sample_data:
        asyncio.run(_load_sample_data(Database(patient(settings.database_url))))
    return 0


async def _load_sample_data(database: Database) -> None:
    try:
        await load_sample(database)
        await load_demo_accounts(SqlAccounts(database=database), ArgonPasswords(PasswordConfig()))
    finally:
        await database.close()
