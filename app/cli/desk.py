"""What commands about a shop's data work with: its settings, its sessions and its database."""

from __future__ import annotations

import asyncio
import json as jsonlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeVar

import typer

from app.cli.running_shop import shop_settings
from app.fleet.errors import FleetError

# The other commands need not wait for the whole shop to be imported.
if TYPE_CHECKING:
    from app.sessions import Sessions
    from app.settings import Settings
    from app.shop.accounts import Account
    from app.stores.database import Database

T = TypeVar("T")

_PATIENCE: Final = timedelta(seconds=2)
"""Longer than a page may wait: an operator would rather wait than ask again."""

Json = Annotated[bool, typer.Option("--json", help="For machines.")]
Email = Annotated[str | None, typer.Argument(help="Whose; or give --account.")]
AccountId = Annotated[str | None, typer.Option("--account", metavar="ID", help="The account's id.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What the commands work with."""

    settings: Settings
    sessions: Sessions
    database: Database

    async def account(self, email: str | None, account_id: str | None) -> Account:
        """Whom the operator means."""
        from app.shop.accounts import email_key
        from app.stores.accounts import SqlAccounts

        accounts = SqlAccounts(database=self.database)
        if (email is None) == (account_id is None):
            raise typer.BadParameter("name one account: its e-mail, or --account ID")
        if account_id is not None:
            account = await accounts.by_id(account_id)
        else:
            key = email_key(email or "")
            account, _ = (key and await accounts.credentials(key)) or (None, None)
        if account is None:
            raise typer.BadParameter(f"there is no account {account_id or email}")
        return account


def at_desk(state: Path, work: Callable[[Desk], Awaitable[T]]) -> T:
    """What the work returns; a store that is away is one line."""
    from app.sessions import StoreUnavailable
    from app.shop.errors import Unavailable

    settings = shop_settings(state)

    async def done() -> T:
        async with _desk(settings) as desk:
            return await work(desk)

    try:
        return asyncio.run(done())
    except StoreUnavailable as away:
        raise FleetError(f"the session store cannot answer: {away}") from away
    except Unavailable as away:
        raise FleetError(f"{away}; ask again") from away


@asynccontextmanager
async def _desk(settings: Settings) -> AsyncIterator[Desk]:
    from app.stores.database import Database, DatabaseConfig
    from app.wiring import sessions_of

    database = Database(DatabaseConfig(url=settings.database_url, pool_size=1))
    layer = sessions_of(settings, timeout=_PATIENCE)
    try:
        yield Desk(settings=settings, sessions=layer, database=database)
    finally:
        await layer.close()
        await database.close()


def say_json(told: object) -> None:
    """For machines."""
    sys.stdout.write(jsonlib.dumps(told, indent=2, ensure_ascii=False, default=str) + "\n")
