"""A reload of HAProxy: a new worker takes over the listeners and the slots, the old one finishes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from typing import Final

from app.fleet.errors import BalancerSilent, CannotStart, FleetError
from app.fleet.haproxy import HaproxyServer
from app.fleet.processes import find
from app.fleet.record import ProcessRecord
from app.fleet.runtime import BY_ORDER, FORCED_MAINTENANCE, RuntimeApi
from app.fleet.state import write_privately

_PATIENCE_S: Final = 30.0
_LOOK_EVERY_S: Final = 0.05
_STOPPED: Final = "0"


async def reload(haproxy: HaproxyServer, runtime: RuntimeApi, master: ProcessRecord | None) -> None:
    """Return once a new worker serves; raises `FleetError` where the old one goes on as it was."""
    process = find(master) if master is not None else None
    if process is None:
        raise CannotStart("HAProxy does not run; it is being brought back")
    await asyncio.to_thread(check, haproxy)
    before = await runtime.worker()
    # Without it every slot is in maintenance again: a total outage until the supervisor has refilled them.
    write_privately(haproxy.server_state, cautious(await runtime.servers_state()))
    try:
        process.signal(signal.SIGUSR2)
        await _another_worker(runtime, before)
    finally:
        # Of use for this reload alone: whoever starts later must not believe it.
        haproxy.forget_servers()


def cautious(state: str) -> str:
    """The slots as a new worker should take them over: whoever is down waits in maintenance to be joined again.

    A slot that haproxy.cfg calls `disabled` leaves maintenance when the state is loaded, and whatever leaves
    maintenance counts as healthy until a check says otherwise.
    """
    lines = state.splitlines()
    names = next((line[2:].split() for line in lines if line.startswith("# ")), [])
    if not {"srv_op_state", "srv_admin_state"} <= set(names):
        return state
    op, admin = names.index("srv_op_state"), names.index("srv_admin_state")
    return "\n".join(_waiting(line, op, admin) for line in lines) + "\n"


def _waiting(line: str, op: int, admin: int) -> str:
    words = line.split()
    if line.startswith("#") or len(words) <= admin or words[op] != _STOPPED or int(words[admin]) & BY_ORDER:
        return line
    words[admin] = str(int(words[admin]) | FORCED_MAINTENANCE)
    return " ".join(words)


def check(haproxy: HaproxyServer) -> None:
    """Raises `FleetError` with HAProxy's own words for a configuration that it would not take."""
    checked = subprocess.run(  # noqa: S603 -- our own words
        haproxy.argv("-c", "-q"),
        env={**os.environ, **haproxy.environment()},
        cwd=haproxy.config.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    if checked.returncode != 0:
        said = next((line for line in checked.stderr.splitlines() if "ALERT" in line), "no reason given")
        raise FleetError(f"HAProxy keeps its configuration, the new one is wrong: {said.strip()}")


async def _another_worker(runtime: RuntimeApi, before: int) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        try:
            if await runtime.worker() not in {0, before}:
                return
        except BalancerSilent:
            pass
        await asyncio.sleep(_LOOK_EVERY_S)
    raise CannotStart(
        "HAProxy's new worker did not start; the old one still serves; see `chopho logs haproxy`"
    )
