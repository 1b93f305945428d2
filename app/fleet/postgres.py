"""A PostgreSQL server of our own, also where everything runs as root."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.fleet.errors import FleetError


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresServer:
    """How to run it: loopback TCP only, one superuser `chopho` with a password, data in `data`."""

    programs: Path
    data: Path
    port: int
    password: str

    def url(self, database: str = "postgres") -> str:
        """Where SQLAlchemy finds a database of it."""
        return f"postgresql+psycopg://chopho:{self.password}@127.0.0.1:{self.port}/{database}"

    def initialise(self) -> None:
        """Make the cluster once; raises `FleetError` with the server's own words."""
        if (self.data / "PG_VERSION").exists():
            return
        self.make_data()
        with tempfile.NamedTemporaryFile("w") as password:
            password.write(self.password)
            password.flush()
            os.fchmod(password.fileno(), 0o644 if os.geteuid() == 0 else 0o600)
            self._initdb(password.name)

    def make_data(self) -> None:
        """An empty folder that the server's user may fill."""
        self.data.mkdir(parents=True, exist_ok=True, mode=0o700)
        if os.geteuid() == 0:
            nobody = _nobody()
            os.chown(self.data, nobody.pw_uid, nobody.pw_gid)

    def _initdb(self, password_file: str) -> None:
        command = [
            *("initdb", "-D", str(self.data), "-U", "chopho", "-E", "UTF8", "--locale=C.UTF-8"),
            *("-A", "scram-sha-256", f"--pwfile={password_file}"),
            # An empty cluster is quickly made again; waiting for the disk takes longer than all the rest.
            *("--no-sync", "--no-instructions"),
        ]
        made = subprocess.run(self.as_server(command), capture_output=True, text=True, check=False)  # noqa: S603 -- our own words
        if made.returncode != 0:
            raise FleetError(f"PostgreSQL could not make its cluster in {self.data}: {made.stderr.strip()}")

    def argv(self, *more: str) -> Sequence[str]:
        """The command; `more` are further ``-c``, ``name=value`` pairs."""
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": "",
            "max_connections": "300",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return self.as_server(["postgres", "-D", str(self.data), *options, *more])

    def client(self) -> Sequence[str]:
        """The command of a client that carries out what it reads, and stops at the first thing that goes wrong."""
        where = (
            "--host",
            "127.0.0.1",
            "--port",
            str(self.port),
            "--username",
            "chopho",
            "--dbname",
            "postgres",
        )
        manner = ("--no-psqlrc", "--no-password", "--quiet", "--set", "ON_ERROR_STOP=1", "--file", "-")
        return [str(self.programs / "psql"), *where, *manner]

    def client_environment(self) -> Mapping[str, str]:
        """What the client is told where `ps` does not show it."""
        return {"PGPASSWORD": self.password, "PGCONNECT_TIMEOUT": "2", "LC_ALL": "C"}

    def as_server(self, command: Sequence[str]) -> list[str]:
        """The command as a user that PostgreSQL accepts: it refuses to run as root."""
        words = [str(self.programs / command[0]), *command[1:]]
        if os.geteuid() != 0:
            return words
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            raise FleetError(
                "PostgreSQL does not run as root; install util-linux (setpriv) or use another user"
            )
        nobody = _nobody()
        return [
            *(setpriv, "--reuid", str(nobody.pw_uid), "--regid", str(nobody.pw_gid), "--clear-groups"),
            # The files may lie under a folder that only root may pass, as /root is.
            *("--inh-caps", "+dac_override", "--ambient-caps", "+dac_override"),
            *("--securebits", "+no_setuid_fixup", *words),
        ]


def _nobody() -> pwd.struct_passwd:
    return pwd.getpwnam("nobody")
