"""A fleet of `tests.apps.shop_stub`, supervised as `chopho up` does: ``python -m tests.apps.stub_fleet STATE PORT``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from app.cli.up import supervise
from app.fleet.errors import FleetError
from app.fleet.housekeeping import HouseRules
from app.fleet.programs import Programs
from app.fleet.state import StateDirectory
from app.fleet.topology import FleetOptions
from app.settings import FleetSettings, read


def main() -> int:
    """Supervise until a signal says stop."""
    parser = argparse.ArgumentParser()
    parser.add_argument("state", type=Path)
    parser.add_argument("port", type=int)
    parser.add_argument("--replicas", type=int, default=2)
    parser.add_argument("--haproxy", type=Path)
    parser.add_argument("--with-postgres", action="store_true")
    parser.add_argument("--count-in", type=Path)
    parser.add_argument("--service", help="The command of a service called payments; default: none.")
    parser.add_argument("--replica", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    counting = ["--count-in", str(given.count_in)] if given.count_in else []
    told = read(FleetSettings)
    options = FleetOptions(
        state=StateDirectory(given.state),
        port=given.port,
        replicas=given.replicas,
        # The stub asks no database anything, and making one takes seconds.
        database_url=None if given.with_postgres else "postgresql+psycopg://nobody@127.0.0.1:1/none",
        liveness_limit=told.liveness_limit,
        house_rules=HouseRules(
            log_size=told.log_max_size, logs_kept=told.log_keep, disk_reserve=told.disk_reserve
        ),
        programs=Programs(haproxy=given.haproxy),
        replica=given.replica or [sys.executable, "-m", "tests.apps.shop_stub", *counting],
        services={"payments": given.service.split()} if given.service else {},
        preparation=[],
    )
    try:
        supervise(options)
    except FleetError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
