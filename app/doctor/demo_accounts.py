"""Whether strangers can log in with the passwords that are told to everybody."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from app.doctor.finding import Check, Fault, Severity
from app.doctor.subject import Silent, Subject
from app.settings import Settings
from app.shop.errors import Unavailable
from app.stores.accounts import SqlAccounts
from app.stores.database import Database, DatabaseConfig
from app.stores.passwords import ArgonPasswords, PasswordConfig
from app.stores.sample.accounts import DEMO_ACCOUNTS, DEMO_PASSWORD


async def _look(subject: Subject) -> Sequence[Fault]:
    if subject.is_local:
        return []
    settings = subject.one
    try:
        open_to_all = await _with_told_password(settings)
    except Unavailable as away:
        raise Silent("the database does not answer") from away
    if not open_to_all:
        return []
    return [
        Fault(
            severity=Severity.ERROR,
            what=f"{settings.public_url} can be entered as {', '.join(open_to_all)} with the demo password",
            mend="change these passwords at once, or lock the accounts",
        )
    ]


async def _with_told_password(settings: Settings) -> Sequence[str]:
    database = Database(
        DatabaseConfig(url=settings.database_url, pool_size=1, application_name="chopho doctor")
    )
    passwords = ArgonPasswords(PasswordConfig())
    try:
        accounts = SqlAccounts(database=database)
        found = await asyncio.gather(*(accounts.credentials(email) for email, _, _ in DEMO_ACCOUNTS))
        return [
            email
            for (email, _, _), known in zip(DEMO_ACCOUNTS, found, strict=True)
            if known is not None and await passwords.verify(DEMO_PASSWORD, known[1])
        ]
    finally:
        await database.close()


DEMO_ACCOUNTS_OPEN = Check(
    name="demo-accounts",
    why="the local fleet tells these e-mail addresses and the password to everyone who starts it; one of them is "
    "the owner's",
    look=_look,
)
