"""`chopho up`: bring up the fleet, and stay with it or leave it running."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.exits import EPILOG
from app.cli.root import DEFAULT_STATE, State, programs, state_directory
from app.fleet.events import Event, Report
from app.fleet.haproxy import ROOT
from app.fleet.logs import news
from app.fleet.record import FleetRecord
from app.fleet.runtime import SLOTS
from app.fleet.state import StateDirectory

if TYPE_CHECKING:
    from app.fleet.topology import FleetOptions
    from app.fleet.wishes import Wishes

DEMO_PASSWORD = "chopho-demo-2026"  # noqa: S105 -- told to everybody; these accounts exist in local fleets alone
DEMO_ACCOUNTS = {
    "khach@chopho.example": "shopper",
    "chu@chopho.example": "owner",
    "vanhanh@chopho.example": "operator",
}


def up(
    replicas: Annotated[int, typer.Option(min=1, max=SLOTS, help="How many replicas of the shop.")] = 2,
    session: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Where sessions are kept, as CHOPHO_SESSION_URL; default: the fleet's own Redis.",
        ),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="A PostgreSQL to use, as CHOPHO_DATABASE_URL; default: the fleet's own."
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Where shoppers come in, on 127.0.0.1.")] = 8080,
    state: State = DEFAULT_STATE,
    detach: Annotated[
        bool, typer.Option("--detach", help="Return once every replica is in rotation, and leave it running.")
    ] = False,
) -> int:
    """Bring up HAProxy, Redis, PostgreSQL and the replicas of the shop, all on 127.0.0.1.

    Stays with the fleet and brings back what dies; Ctrl-C drains it, a second Ctrl-C does not wait.
    """
    directory = state_directory(state)
    if detach:
        given = ["--replicas", str(replicas), "--port", str(port), "--state", str(directory.path)]
        given += ["--session", session] if session else []
        given += ["--database", database] if database else []
        return _detached(directory, given)
    # Who only leaves a supervisor behind need not wait for what that imports.
    from app.fleet.housekeeping import HouseRules
    from app.fleet.topology import FleetOptions
    from app.settings import FleetSettings, read

    told = read(FleetSettings)
    options = FleetOptions(
        state=directory,
        port=port,
        replicas=replicas,
        session_url=session,
        database_url=database,
        liveness_limit=told.liveness_limit,
        house_rules=HouseRules(
            log_size=told.log_max_size, logs_kept=told.log_keep, disk_reserve=told.disk_reserve
        ),
        programs=programs(),
    )
    supervise(options)
    return 0


def supervise(options: FleetOptions) -> None:
    """Hold the state directory and the fleet until a signal says stop; raises `FleetError`."""
    options.state.make()
    with options.state.held():
        asyncio.run(_supervise(options))


async def _supervise(options: FleetOptions) -> None:
    from app.fleet.fleet import Fleet
    from app.fleet.later import Later

    fleet = Fleet(options, _say, Later(wishes=_wishes, make_key_pair=_make_key_pair))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, fleet.stop)
    # A fleet outlives the terminal it was started from; `chopho down` ends it.
    loop.add_signal_handler(signal.SIGHUP, lambda: None)
    await fleet.run(lambda: _say(welcome(options)))


def _wishes(redis_url: str, report: Report) -> Wishes:
    from app.fleet.wishes import Wishes

    return Wishes(redis_url, report)


def _make_key_pair(state: StateDirectory) -> None:
    from app.fleet.identity import make_key_pair

    make_key_pair(state)


def welcome(options: FleetOptions) -> str:
    """What the operator needs to know now."""
    accounts = ", ".join(f"{email} ({role})" for email, role in DEMO_ACCOUNTS.items())
    return (
        f"\nChợ Phố is open: http://127.0.0.1:{options.port}\n"
        f"  accounts   {accounts}\n"
        f"  password   {DEMO_PASSWORD}\n"
        f"  logs       {options.state.logs}\n"
        f"  next       chopho status --state {options.state.path}, chopho down --state {options.state.path}\n"
    )


def _say(event: Event | str) -> None:
    # Where the terminal is gone, the fleet is not.
    with contextlib.suppress(OSError):
        sys.stdout.write(f"{event}\n")
        sys.stdout.flush()


def _detached(state: StateDirectory, given: Sequence[str]) -> int:
    """Leave a supervisor of its own session behind, and pass on what it says until it is open."""
    state.make()
    log = state.log("supervisor")
    position = log.stat().st_size if log.exists() else 0
    with log.open("ab") as out:
        supervisor = subprocess.Popen(  # noqa: S603 -- ourselves
            [sys.executable, "-m", "app", "up", *given],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        while supervisor.poll() is None and not _is_open(state, supervisor.pid):
            position = _pass_on(log, position)
            time.sleep(0.05)
    except KeyboardInterrupt:
        supervisor.terminate()
        supervisor.wait()
        raise
    _pass_on(log, position)
    return supervisor.poll() or 0


def _is_open(state: StateDirectory, supervisor: int) -> bool:
    record = FleetRecord.load(state.record)
    if record is None or record.supervisor is None:
        return False
    return record.phase == "running" and record.supervisor.pid == supervisor


def _pass_on(log: Path, position: int) -> int:
    """Say what the supervisor said since; its errors stay errors."""
    lines, position = news(log, position)
    for line in lines:
        stream = sys.stderr if line.startswith("chopho: ") else sys.stdout
        stream.write(f"{line}\n")
        stream.flush()
    return position


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command(epilog=EPILOG)(up)
