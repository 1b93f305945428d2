"""`chopho breakers`: hold a breaker in a state on every replica, for a time."""

from __future__ import annotations

import asyncio
import getpass
import json as jsonlib
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Final, TypeVar

import typer
from rich.console import Console
from rich.table import Table

from app.cli.exits import EPILOG
from app.cli.root import DEFAULT_STATE, State, state_directory
from app.cli.times import duration
from app.fleet.errors import FleetError
from app.fleet.status import running_record

# The other commands need not wait for the control board's client to be imported.
if TYPE_CHECKING:
    from app.control import ControlBoard, Standing, Wish
    from app.control.board import AuditEntry

T = TypeVar("T")

_PATIENCE_S: Final = 5
"""Replicas promise two seconds; a busy machine may take longer."""

breakers = typer.Typer(
    help="Breakers of the fleet: how they stand, and what an operator wants of them.",
    no_args_is_help=True,
    epilog=EPILOG,
)

RedisUrl = Annotated[
    str | None,
    typer.Option("--redis", metavar="URL", help="The fleet's CHOPHO_REDIS_URL; default: the local fleet's."),
]
Json = Annotated[bool, typer.Option("--json", help="For machines.")]


@breakers.command("list", epilog=EPILOG)
def show(state: State = DEFAULT_STATE, redis: RedisUrl = None, json: Json = False) -> None:
    """Show how each breaker stands on each replica, and what is wanted of it."""
    standing = _on_board(state, redis, lambda board: board.standing())
    if json:
        sys.stdout.write(jsonlib.dumps(asdict(standing), indent=2, ensure_ascii=False) + "\n")
    else:
        _show(standing, Console(markup=False))


@breakers.command("set", epilog=EPILOG)
def hold(
    name: Annotated[str, typer.Argument(help="The breaker, as `breakers list` names it.")],
    wanted: Annotated[
        str, typer.Argument(metavar="STATE", help="FORCED_OPEN, DISABLED, METRICS_ONLY, or AUTOMATIC.")
    ],
    lasting: Annotated[str, typer.Option("--for", metavar="TIME", help="30s, 10m, 2h; at most 24h.")],
    reason: Annotated[str, typer.Option(help="Why; kept in the history.")],
    state: State = DEFAULT_STATE,
    redis: RedisUrl = None,
) -> None:
    """Hold a breaker in a state on every replica for a time; AUTOMATIC withdraws it.

    Replicas obey within two seconds. While Redis is away the last wish stays, and ends when its time is over.
    """
    wish, obeyed, live = _on_board(
        state,
        redis,
        lambda board: _wish(board, name, wanted, lasting=duration("--for", lasting), reason=reason),
    )
    sys.stdout.write(f"{wish.breaker}: {wish.state} until {_clock(wish.until_ms)}; ")
    sys.stdout.write(f"{len(obeyed)} of {len(live)} replicas obeyed ({', '.join(live)})\n")
    if len(obeyed) < len(live):
        raise FleetError(f"not yet obeyed by {', '.join(sorted(set(live) - set(obeyed)))}")


@breakers.command("history", epilog=EPILOG)
def history(
    state: State = DEFAULT_STATE,
    redis: RedisUrl = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many.")] = 20,
    json: Json = False,
) -> None:
    """Show who wanted what, when and why, the latest first."""
    entries = _on_board(state, redis, lambda board: board.history(limit=limit))
    if json:
        found = [asdict(entry) for entry in entries]
        sys.stdout.write(jsonlib.dumps(found, indent=2, ensure_ascii=False) + "\n")
    else:
        _show_history(entries, Console(markup=False))


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.add_typer(breakers, name="breakers")


def _on_board(state: State, redis: str | None, ask: Callable[[ControlBoard], Coroutine[None, None, T]]) -> T:
    """What the board answers; its refusals are wrong options, its silence a failure."""
    from app.control import ControlError, ControlUnavailable

    url = redis or running_record(state_directory(state)).redis_url
    if url is None:
        raise FleetError("this fleet's Redis is somebody else's; name it with --redis URL")

    async def asked() -> T:
        async with _board(url) as board:
            return await ask(board)

    try:
        return asyncio.run(asked())
    except ControlUnavailable as away:
        raise FleetError(str(away)) from away
    except ControlError as refused:
        raise typer.BadParameter(str(refused)) from refused


@asynccontextmanager
async def _board(url: str) -> AsyncIterator[ControlBoard]:
    from app.control import ControlBoard

    board = ControlBoard(url, timeout_s=2.0)
    try:
        yield board
    finally:
        await board.close()


async def _wish(
    board: ControlBoard, name: str, wanted: str, *, lasting: timedelta, reason: str
) -> tuple[Wish, list[str], list[str]]:
    """The wish, who obeyed it in time, and who should."""
    wish = await board.wish(name, wanted, lasting=lasting, by=getpass.getuser(), reason=reason)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _PATIENCE_S
    while True:
        standing = await board.standing()
        live = [replica for replica, states in standing.replicas.items() if name in states]
        obeyed = [replica for replica in live if _obeys(standing.replicas[replica][name], wish)]
        if len(obeyed) == len(live) or loop.time() > deadline:
            return wish, obeyed, live
        await asyncio.sleep(0.2)


def _obeys(stands: str, wish: Wish) -> bool:
    if wish.state == "AUTOMATIC":
        return stands in ("CLOSED", "OPEN", "HALF_OPEN")
    return stands == wish.state


def _show(standing: Standing, console: Console) -> None:
    table = Table("breaker", *standing.replicas, "wanted", "left", "by", "reason", box=None, pad_edge=False)
    for name in standing.breakers():
        stands = [states.get(name, "-") for states in standing.replicas.values()]
        wish = standing.wishes.get(name)
        wanted = ["", "", "", ""]
        if wish is not None:
            wanted = [wish.state, f"{wish.left_s(standing.now_ms):.0f} s", wish.by, wish.reason]
        table.add_row(name, *stands, *wanted)
    console.print(table)


def _show_history(entries: list[AuditEntry], console: Console) -> None:
    table = Table("at", "breaker", "wanted", "until", "by", "reason", box=None, pad_edge=False)
    for entry in entries:
        times = (_clock(entry.at_ms), _clock(entry.until_ms))
        table.add_row(times[0], entry.breaker, entry.state, times[1], entry.by, entry.reason)
    console.print(table)


def _clock(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
