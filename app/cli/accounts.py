"""`chopho accounts`: who may come in, and as what."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from app.cli.desk import AccountId, Desk, Email, Json, at_desk, say_json
from app.cli.exits import EPILOG
from app.cli.root import DEFAULT_STATE, State
from app.fleet.errors import FleetError

if TYPE_CHECKING:
    from app.shop.accounts import Account
    from app.shop.standing import Standing

accounts = typer.Typer(
    help="Accounts: who may come in, and as what. Asked of the shop that the settings in the environment name; by default of "
    "the local fleet.",
    no_args_is_help=True,
    epilog=EPILOG,
)


@accounts.command("show", epilog=EPILOG)
def show(
    email: Email = None, account: AccountId = None, state: State = DEFAULT_STATE, json: Json = False
) -> None:
    """Show an account."""

    async def found(desk: Desk) -> Account:
        return await desk.account(email, account)

    _tell(at_desk(state, found), json=json)


@accounts.command("lock", epilog=EPILOG)
def lock(
    email: Email = None, account: AccountId = None, state: State = DEFAULT_STATE, json: Json = False
) -> None:
    """Let nobody come in by the account any more, and log everybody out who did."""
    _tell(_changed(state, email, account, lambda standing, whose: standing.lock(whose, by=None)), json=json)


@accounts.command("unlock", epilog=EPILOG)
def unlock(
    email: Email = None, account: AccountId = None, state: State = DEFAULT_STATE, json: Json = False
) -> None:
    """Let them come in again, with their password."""
    _tell(_changed(state, email, account, lambda standing, whose: standing.unlock(whose, by=None)), json=json)


@accounts.command("role", epilog=EPILOG)
def role(
    role: Annotated[Literal["customer", "owner", "operator"], typer.Argument(help="What it shall be.")],
    email: Email = None,
    account: AccountId = None,
    state: State = DEFAULT_STATE,
    json: Json = False,
) -> None:
    """Make the account a customer, an owner or an operator; it is logged out everywhere, and comes in as that."""
    _tell(
        _changed(state, email, account, lambda standing, whose: standing.give(whose, role, by=None)),
        json=json,
    )


def _changed(
    state: State,
    email: str | None,
    account_id: str | None,
    change: Callable[[Standing, str], Awaitable[Account]],
) -> Account:
    from app.shop.errors import LastOwner, SessionsLinger
    from app.shop.standing import Standing
    from app.stores.revocations import SessionEnds, SqlRevocations
    from app.stores.standing import SqlStandings

    async def done(desk: Desk) -> Account:
        whose = await desk.account(email, account_id)
        standing = Standing(
            standings=SqlStandings(database=desk.database),
            revocations=SqlRevocations(database=desk.database),
            ends=SessionEnds(sessions=desk.sessions),
        )
        try:
            return await change(standing, whose.id)
        except SessionsLinger as later:
            raise FleetError("it is done; sessions end as soon as their store answers again") from later
        except LastOwner as refused:
            raise FleetError(str(refused)) from refused

    return at_desk(state, done)


def _tell(account: Account, *, json: bool) -> None:
    if json:
        say_json(
            {
                "id": account.id,
                "email": account.email,
                "name": account.name,
                "role": account.role,
                "created_at": account.created_at,
                "locked_at": account.locked_at,
            }
        )
        return
    standing = f"locked since {account.locked_at:%Y-%m-%d %H:%M:%SZ}" if account.locked_at else "open"
    sys.stdout.write(f"{account.email}: {account.name}, {account.role}, {standing}, {account.id}\n")


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.add_typer(accounts, name="accounts")
