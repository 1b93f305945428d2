"""`chopho sessions`: where an account is logged in, ending that, and how many sessions each store still holds."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer
from rich.console import Console
from rich.table import Table

from app.cli.desk import AccountId, Desk, Email, Json, at_desk, say_json
from app.cli.exits import EPILOG
from app.cli.root import DEFAULT_STATE, State
from app.fleet.errors import FleetError

# The other commands need not wait for the whole shop to be imported.
if TYPE_CHECKING:
    from app.sessions import Device
    from app.settings import Settings

sessions = typer.Typer(
    help="Sessions of an account, and what each session store holds. Asked of the shop that CHOPHO_SESSION_URL and "
    "the other settings in the environment name; by default of the local fleet.",
    no_args_is_help=True,
    epilog=EPILOG,
)


@sessions.command("list", epilog=EPILOG)
def show(
    email: Email = None, account: AccountId = None, state: State = DEFAULT_STATE, json: Json = False
) -> None:
    """Show where an account is logged in, the latest seen first."""
    from app.shop.revocations import user_of

    async def found(desk: Desk) -> tuple[str, Sequence[Device]]:
        whose = await desk.account(email, account)
        return whose.email, await desk.sessions.devices(user_of(whose.id))

    whose, devices = at_desk(state, found)
    if json:
        items = [{name: value for name, value in asdict(one).items() if name != "current"} for one in devices]
        say_json({"email": whose, "sessions": items})
    else:
        _show(devices, Console(markup=False))


@sessions.command("revoke", epilog=EPILOG)
def revoke(
    email: Email = None,
    account: AccountId = None,
    handle: Annotated[
        str | None, typer.Option(metavar="H", help="This session only, as `sessions list` names it.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every session of the account.")] = False,
    state: State = DEFAULT_STATE,
    json: Json = False,
) -> None:
    """Log an account out, on one device or everywhere; done when the store has acknowledged it."""
    if (handle is None) != everything:
        raise typer.BadParameter("say which: --handle H for one session, or --all")

    async def ended(desk: Desk) -> tuple[str, int]:
        whose = await desk.account(email, account)
        return whose.email, await _end(desk, whose.id, handle)

    whose, number = at_desk(state, ended)
    if json:
        say_json({"email": whose, "ended": number})
    else:
        sys.stdout.write(f"{whose}: {number} session{'s' if number != 1 else ''} ended\n")


@sessions.command("count", epilog=EPILOG)
def count(state: State = DEFAULT_STATE, json: Json = False) -> None:
    """Count the live sessions of each store: the old one may go when SESSION_ALSO_ACCEPT holds none.

    Nobody can count tokens; they are over after the absolute limit at the latest.
    """

    async def counted(desk: Desk) -> tuple[Settings, Sequence[int | None]]:
        return desk.settings, await desk.sessions.counts()

    with Console(stderr=True).status("Counting …"):
        settings, counts = at_desk(state, counted)
    urls = [settings.session_url, *([settings.session_also_accept] if settings.session_also_accept else [])]
    held = list(zip(("main", "also accepted"), map(_named, urls), counts, strict=False))
    old_is_empty = counts[1] == 0 if len(counts) > 1 and counts[1] is not None else None
    if json:
        stores = [{"role": role, "store": name, "sessions": number} for role, name, number in held]
        say_json({"stores": stores, "old_is_empty": old_is_empty})
        return
    limit = f"unknown, none after {settings.session_absolute_timeout}"
    table = Table("store", "is", "sessions", box=None, pad_edge=False)
    for role, name, number in held:
        table.add_row(name, role, limit if number is None else str(number))
    Console(markup=False).print(table)
    if old_is_empty:
        sys.stdout.write("the old store is empty: CHOPHO_SESSION_ALSO_ACCEPT can go\n")


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.add_typer(sessions, name="sessions")


async def _end(desk: Desk, account_id: str, handle: str | None) -> int:
    from app.shop.revocations import EndSession, EndSessions, user_of
    from app.stores.revocations import SqlRevocations, unavailable

    user, revocations = user_of(account_id), SqlRevocations(database=desk.database)
    if handle is not None:

        async def end_one() -> str | None:
            return handle if await desk.sessions.end_one(user, handle) else None

        if not await EndSession(revocations=revocations)(end_one):
            raise FleetError(f"the account has no session {handle}")
        return 1
    number = len(await desk.sessions.devices(user))

    async def end() -> int:
        with unavailable():
            return await desk.sessions.end_all(user)

    await EndSessions(revocations=revocations)(account_id, end)
    return number


def _named(url: str) -> str:
    """The store without what only its clients may know."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _show(devices: Sequence[Device], console: Console) -> None:
    table = Table("handle", "device", "address", "logged in", "last seen", box=None, pad_edge=False)
    for device in devices:
        times = (_clock(device.created_at), _clock(device.last_seen_at))
        table.add_row(device.handle, device.device, device.ip, *times)
    console.print(table)


def _clock(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
