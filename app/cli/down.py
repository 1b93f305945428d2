"""`chopho down`: drain the fleet and end it."""

from __future__ import annotations

import asyncio
import signal
import sys
from datetime import timedelta

import typer

from app.cli.exits import EPILOG
from app.cli.root import DEFAULT_STATE, State, state_directory
from app.fleet.errors import AlreadyRunning, FleetError, NotRunning
from app.fleet.events import Event
from app.fleet.haproxy import SOCKET
from app.fleet.hotline import SOCKET as HOTLINE
from app.fleet.orphans import end_orphans
from app.fleet.processes import Process, find
from app.fleet.record import FleetRecord
from app.fleet.state import StateDirectory
from app.fleet.status import running_record

# The grace of the replicas, and of the servers after them.
_PATIENCE = timedelta(seconds=90)
_A_MOMENT_S = 0.2


def down(state: State = DEFAULT_STATE) -> None:
    """Drain the replicas, then end them, HAProxy, Redis and PostgreSQL; data, logs and secrets stay.

    Also ends what a supervisor that was killed has left. Where nothing runs, nothing is to be done.
    """
    directory = state_directory(state)
    try:
        record = running_record(directory)
    except NotRunning as error:
        sys.stdout.write(f"{error}\n")
        return
    asyncio.run(_end(directory, record))
    sys.stdout.write("The fleet is down.\n")


async def _end(state: StateDirectory, record: FleetRecord) -> None:
    supervisor = find(record.supervisor) if record.supervisor is not None else None
    if supervisor is not None:
        await _ask(supervisor)
        return
    try:
        with state.held():
            await _end_what_was_left(state, record)
    except AlreadyRunning:
        # Another supervisor has just begun, and has not yet written down who it is.
        await asyncio.sleep(_A_MOMENT_S)
        await _end(state, running_record(state))


async def _end_what_was_left(state: StateDirectory, record: FleetRecord) -> None:
    await end_orphans(record, _say)
    state.remove_socket(HOTLINE)
    state.remove_socket(SOCKET)
    record.phase, record.supervisor, record.processes = "stopped", None, {}
    record.save(state.record)


async def _ask(supervisor: Process) -> None:
    """The supervisor knows best how its fleet goes down."""
    supervisor.signal(signal.SIGTERM)
    try:
        await asyncio.wait_for(supervisor.ended(), _PATIENCE.total_seconds())
    except TimeoutError as error:
        raise FleetError(
            f"the supervisor (pid {supervisor.pid}) still drains after {_PATIENCE.total_seconds():g} s; "
            "see `chopho logs supervisor`, or end it with a second `chopho down`"
        ) from error


def _say(event: Event) -> None:
    sys.stdout.write(f"{event}\n")


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command(epilog=EPILOG)(down)
