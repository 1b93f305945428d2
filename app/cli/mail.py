"""`chopho mail`: what waits to be sent, and trying it again."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer
from rich.console import Console
from rich.table import Table

from app.cli.desk import Desk, Json, at_desk, say_json
from app.cli.exits import EPILOG
from app.cli.root import DEFAULT_STATE, State
from app.fleet.errors import FleetError

if TYPE_CHECKING:
    from app.stores.outbox import Standing

mail = typer.Typer(
    help="Mail of the shop that waits to be sent. Asked of the shop that the settings in the environment name; by default "
    "of the local fleet.",
    no_args_is_help=True,
    epilog=EPILOG,
)


@mail.command("pending", epilog=EPILOG)
def pending(state: State = DEFAULT_STATE, json: Json = False) -> None:
    """Show what waits or was given up, the oldest first; a thousand at most."""
    from app.stores.outbox import SqlOutbox

    async def found(desk: Desk) -> Sequence[Standing]:
        return await SqlOutbox(database=desk.database).open()

    waiting = at_desk(state, found)
    if json:
        say_json([asdict(one) for one in waiting])
    elif waiting:
        _show(waiting)
    else:
        sys.stdout.write("no mail waits\n")


@mail.command("retry", epilog=EPILOG)
def retry(
    message: Annotated[UUID | None, typer.Argument(metavar="ID", help="As `mail pending` names it.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All that wait or were given up.")] = False,
    state: State = DEFAULT_STATE,
) -> None:
    """Have mail tried again at once, also what was given up."""
    from app.stores.outbox import SqlOutbox

    if (message is None) != everything:
        raise typer.BadParameter("say which: its ID, or --all")

    async def revived(desk: Desk) -> int:
        return await SqlOutbox(database=desk.database).revive(None if message is None else str(message))

    number = at_desk(state, revived)
    if message is not None and not number:
        raise FleetError(f"no mail {message} waits or was given up")
    sys.stdout.write(f"{number} mail{'s' if number != 1 else ''} to be tried again\n")


def _show(waiting: Sequence[Standing]) -> None:
    table = Table(
        "id", "kind", "recipient", "since", "attempts", "next", "last error", box=None, pad_edge=False
    )
    for one in waiting:
        following = "given up" if one.given_up_at else f"{one.next_at:%Y-%m-%d %H:%M:%SZ}"
        since = f"{one.created_at:%Y-%m-%d %H:%M:%SZ}"
        table.add_row(
            one.id, one.kind, one.recipient, since, str(one.attempts), following, one.last_error or ""
        )
    Console(markup=False).print(table)


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.add_typer(mail, name="mail")
