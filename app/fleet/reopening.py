"""What a fleet takes over from the one before it in its state directory."""

from __future__ import annotations

from app.fleet.ports import choose, claim, is_free
from app.fleet.processes import find
from app.fleet.record import FleetRecord
from app.fleet.topology import FleetOptions


def ports_of(record: FleetRecord, options: FleetOptions) -> dict[str, int]:
    """The ports of last time where our process still has them or nobody does; raises `PortInUse`."""
    alive = {name for name, process in record.processes.items() if find(process) is not None}
    ours = alive | ({"statistics"} if "haproxy" in alive else set())
    kept = {name: port for name, port in record.ports.items() if name in ours or is_free(port)}
    if not ("haproxy" in alive and record.processes["haproxy"].port == options.port):
        claim(options.port)
    return choose(options.needed_ports, kept)
