"""HAProxy's runtime API: who is in rotation, and how that is changed without a reload."""

from __future__ import annotations

import asyncio
import csv
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.fleet.errors import BalancerSilent

BACKEND: Final = "app_servers"
SLOTS: Final = 16
# Where haproxy.cfg lets an empty slot point: nobody listens on it.
_EMPTY: Final = 1
# Bits of srv_admin_state: forced maintenance, forced drain. Another one only remembers that the slot was `disabled`.
FORCED_MAINTENANCE: Final = 0x01
BY_ORDER: Final = FORCED_MAINTENANCE | 0x08
_TIMEOUT_S: Final = 3.0
_REFUSALS: Final = ("No such", "Unknown", "Permission denied", "Invalid", "Require", "must be", "not enabled")


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """One slot as HAProxy sees it. `state` is UP, DOWN, DRAIN or MAINT; an error is a 5xx or no answer."""

    name: str
    state: str
    address: str
    requests_running: int
    requests_queued: int
    requests_total: int
    errors_total: int
    check: str


@dataclass(frozen=True, slots=True)
class RuntimeApi:
    """Speaks through the socket that only the fleet's owner may open; raises `BalancerSilent`."""

    socket: Path

    async def join(self, name: str, port: int) -> None:
        """Put a replica into its slot; it gets its first request only after its first passing checks.

        Drain comes first: a slot that leaves maintenance counts as healthy until a check says otherwise.
        """
        server = f"set server {BACKEND}/{name}"
        await self._order(
            f"{server} addr 127.0.0.1 port {port}",
            f"{server} state drain",
            f"{server} health down",
            f"{server} state ready",
        )

    async def join_drained(self, name: str, port: int) -> None:
        """Put a replica into its slot, and keep it out of rotation."""
        server = f"set server {BACKEND}/{name}"
        await self._order(f"{server} addr 127.0.0.1 port {port}", f"{server} state drain")

    async def forget(self, name: str) -> None:
        """Give the slot back as empty as it was."""
        server = f"set server {BACKEND}/{name}"
        await self._order(f"{server} state maint", f"{server} addr 127.0.0.1 port {_EMPTY}")

    async def drain(self, name: str) -> None:
        """Give it nothing new; what it has may finish."""
        await self._order(f"set server {BACKEND}/{name} state drain")

    async def back(self, name: str) -> None:
        """Take it into rotation again where it is; its checks went on meanwhile."""
        await self._order(f"set server {BACKEND}/{name} state ready")

    async def leave(self, name: str) -> None:
        """Take it out at once: nothing answers there."""
        await self._order(f"set server {BACKEND}/{name} state maint")

    async def servers(self) -> Mapping[str, Server]:
        """Every slot that ever held a replica, by name."""
        lines = (await self.ask(f"show stat {BACKEND} 4 -1")).lstrip("# ").splitlines()
        found = (_server(row) for row in csv.DictReader(line for line in lines if line))
        return {server.name: server for server in found if not server.address.endswith(f":{_EMPTY}")}

    async def visitors(self) -> int:
        """Connections of clients that are open now."""
        lines = (await self.ask("show stat chopho_web 1 -1")).lstrip("# ").splitlines()
        return sum(int(row["scur"]) for row in csv.DictReader(line for line in lines if line))

    async def worker(self) -> int:
        """The process that serves now; a reload brings another."""
        facts = dict(
            line.split(": ", 1) for line in (await self.ask("show info")).splitlines() if ": " in line
        )
        return int(facts.get("Pid", 0))

    async def kept_out(self) -> AbstractSet[str]:
        """The slots that are drained or in maintenance by order, whatever their checks say."""
        state = (await self.ask(f"show servers state {BACKEND}")).splitlines()
        names = next((line[2:].split() for line in state if line.startswith("# ")), [])
        rows = [dict(zip(names, line.split(), strict=False)) for line in state if not line.startswith("# ")]
        return {row["srv_name"] for row in rows if int(row.get("srv_admin_state", 0)) & BY_ORDER}

    async def servers_state(self) -> str:
        """Every slot as a new worker can take it over."""
        return await self.ask("show servers state")

    async def _order(self, *commands: str) -> None:
        """Commands that answer nothing when they are obeyed, except for news of an address."""
        answer = await self.ask(*commands)
        if any(word in answer for word in _REFUSALS):
            raise BalancerSilent(f"HAProxy refused: {' '.join(answer.split())}")

    async def ask(self, *commands: str) -> str:
        """What HAProxy answers to the commands, one after the other on one connection."""
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                reader, writer = await asyncio.open_unix_connection(self.socket)
                writer.write(("; ".join(commands) + "\n").encode())
                answer = await reader.read()
                writer.close()
                await writer.wait_closed()
        except (OSError, TimeoutError) as error:
            raise BalancerSilent(f"HAProxy does not answer on {self.socket}") from error
        return answer.decode(errors="replace")


def _server(row: Mapping[str, str]) -> Server:
    """One line of `show stat`; the status may carry how many checks are still missing ("DOWN 1/2")."""
    return Server(
        name=row["svname"],
        state=row["status"].split()[0],
        address=row["addr"],
        requests_running=int(row["scur"]),
        requests_queued=int(row["qcur"]),
        requests_total=int(row["stot"]),
        errors_total=sum(int(row[name] or 0) for name in ("econ", "eresp", "hrsp_5xx")),
        check=row["check_status"],
    )
