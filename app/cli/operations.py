"""`chopho drain`, `ready`, `restart`, `scale`, `reload`: what an operator does to a running fleet."""

from __future__ import annotations

import asyncio
import getpass
import json as jsonlib
import sys
import time
from collections.abc import Callable, Coroutine
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.exits import EPILOG, exit_code_of
from app.cli.root import DEFAULT_STATE, State, state_directory
from app.fleet.errors import FleetError
from app.fleet.runtime import SLOTS
from app.fleet.status import running_record

if TYPE_CHECKING:
    from app.fleet.foreign import ForeignFleet
    from app.fleet.orders import Order

Name = Annotated[str, typer.Argument(help="The replica: app1, app2, …")]
Socket = Annotated[
    Path | None,
    typer.Option("--socket", help="HAProxy's runtime socket, for a fleet that `chopho up` did not start."),
]
Redis = Annotated[
    str | None,
    typer.Option(
        "--redis", metavar="URL", help="With --socket: its CHOPHO_REDIS_URL, so that the replica hears too."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One object at the end, for machines.")]

secrets = typer.Typer(
    help="The keys that sign cookies and tokens of the local fleet.", no_args_is_help=True, epilog=EPILOG
)

_GRACE = timedelta(seconds=30)


def drain(
    name: Name,
    state: State = DEFAULT_STATE,
    reason: Annotated[str, typer.Option(help="Why; `chopho status` shows it.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Also the last one in rotation: an outage.")] = False,
    socket: Socket = None,
    redis: Redis = None,
    json: Json = False,
) -> int:
    """Take a replica out of rotation and wait until it is idle. It stays out, over its restarts, until `ready`."""
    from app.fleet.orders import Drain

    reason = reason or "no reason given"
    if socket is not None:
        return _foreign(
            socket, redis, lambda fleet: fleet.drain(name, by=_who(), reason=reason, force=force), json=json
        )
    return _ordered(state, Drain(name=name, reason=reason, force=force), json=json)


def ready(
    name: Name,
    state: State = DEFAULT_STATE,
    socket: Socket = None,
    redis: Redis = None,
    json: Json = False,
) -> int:
    """Take a drained replica back into rotation, and wait until its checks have passed."""
    from app.fleet.orders import Ready

    if socket is not None:
        return _foreign(socket, redis, lambda fleet: fleet.ready(name, by=_who()), json=json)
    return _ordered(state, Ready(name=name), json=json)


def restart(
    rolling: Annotated[
        bool, typer.Option("--rolling", help="One after the other; there is no other way to restart a fleet.")
    ] = False,
    max_unavailable: Annotated[
        int, typer.Option(min=1, max=SLOTS, help="So many replicas at a time are out of rotation.")
    ] = 1,
    state: State = DEFAULT_STATE,
    socket: Socket = None,
    redis: Redis = None,
    command: Annotated[
        str | None,
        typer.Option(
            "--with", metavar="COMMAND", help="With --socket: what restarts {name}, as its manager does it."
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Replace every replica by one with the code and settings of now: drained, ended, started, back in rotation.

    Stops at the first that does not come back; those that were not reached serve on. The supervisor goes on
    when this command is ended; where all would be out at once, another replica stands in meanwhile.
    """
    from app.fleet.orders import Restart

    if not rolling:
        raise typer.BadParameter("a restart of all replicas at once is an outage; say --rolling")
    if socket is None:
        return _ordered(state, Restart(max_unavailable=max_unavailable), json=json)
    if command is None:
        raise typer.BadParameter(
            "--socket wants --with COMMAND: what restarts a replica, such as --with 'systemctl restart chopho@{name}'"
        )
    return _foreign(
        socket,
        redis,
        lambda fleet: fleet.restart(command, max_unavailable=max_unavailable, by=_who()),
        json=json,
    )


def scale(
    replicas: Annotated[int, typer.Argument(min=1, max=SLOTS, help="How many replicas there should be.")],
    state: State = DEFAULT_STATE,
    json: Json = False,
) -> int:
    """Have so many replicas. New ones get requests after their first passing checks; those that go drain first."""
    from app.fleet.orders import Scale

    return _ordered(state, Scale(replicas=replicas), json=json)


def reload(state: State = DEFAULT_STATE, json: Json = False) -> int:
    """Have HAProxy read haproxy.cfg and its certificates again, without closing a connection.

    A configuration that HAProxy would refuse changes nothing.
    """
    from app.fleet.orders import Reload

    return _ordered(state, Reload(), json=json)


@secrets.command("rotate", epilog=EPILOG)
def rotate(state: State = DEFAULT_STATE, json: Json = False) -> int:
    """Give the fleet a new key for cookies and tokens: known to all replicas before any signs with it.

    Two rolling restarts; nobody is logged out. A rotation that was cut off is taken up where it was.
    """
    from app.fleet.orders import RotateKeys

    return _ordered(state, RotateKeys(), json=json)


@secrets.command("retire", epilog=EPILOG)
def retire(
    state: State = DEFAULT_STATE,
    force: Annotated[
        bool, typer.Option("--force", help="Now, although sessions that it signed are alive: they end.")
    ] = False,
    json: Json = False,
) -> int:
    """End the key before the last rotation, once nothing that it signed can be alive."""
    from app.fleet.orders import RetireKey

    return _ordered(state, RetireKey(force=force), json=json)


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    for command in (drain, ready, restart, scale, reload):
        cli.command(epilog=EPILOG)(command)
    cli.add_typer(secrets, name="secrets")


def _ordered(state: Path, order: Order, *, json: bool) -> int:
    """Have the supervisor carry it out, and pass on what it says."""
    from app.fleet.hotline import SOCKET, ask
    from app.fleet.orders import Request

    directory = state_directory(state)
    running_record(directory)
    request = Request(by=_who(), order=order)
    return _told(lambda hear: ask(directory.socket(SOCKET), request, hear), json=json)


def _foreign(
    socket: Path, redis: str | None, work: Callable[[ForeignFleet], Coroutine[Any, Any, None]], *, json: bool
) -> int:
    from app.fleet.foreign import ForeignFleet
    from app.fleet.rotation import Rotation
    from app.fleet.runtime import RuntimeApi
    from app.fleet.wishes import Wishes

    def doing(hear: Callable[[str], None]) -> Coroutine[Any, Any, None]:
        return work(
            ForeignFleet(
                rotation=Rotation(RuntimeApi(socket)),
                wishes=Wishes(redis, lambda event: hear(str(event))) if redis else None,
                report=lambda event: hear(str(event)),
                grace=_GRACE,
            )
        )

    return _told(doing, json=json)


def _told(work: Callable[[Callable[[str], None]], Coroutine[Any, Any, None]], *, json: bool) -> int:
    """Do it, line by line for people, as one object for machines."""
    began = time.monotonic()
    if not json:
        asyncio.run(work(_say))
        _say(f"done in {time.monotonic() - began:.1f} s")
        return 0
    events: list[str] = []
    error: FleetError | None = None
    try:
        asyncio.run(work(events.append))
    except FleetError as refused:
        error = refused
    ended = {"ok": error is None, "seconds": round(time.monotonic() - began, 1), "events": events}
    _say(jsonlib.dumps({**ended, "error": str(error) if error else None}, ensure_ascii=False))
    return exit_code_of(error) if error else 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _who() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"
