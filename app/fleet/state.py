"""The directory a fleet keeps: logs, data, sockets, secrets, and the record of what runs."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from app.fleet.errors import AlreadyRunning, StateUnusable

# A socket's path has 108 bytes at most, and HAProxy binds under a longer name first (".<pid>.tmp").
_LONGEST_SOCKET_PATH: Final = 90


@dataclass(frozen=True, slots=True)
class StateDirectory:
    """Where everything of one fleet lies; nobody but its owner may look in."""

    path: Path

    @property
    def record(self) -> Path:
        """What runs here; see `FleetRecord`."""
        return self.path / "fleet.json"

    @property
    def plan(self) -> Path:
        """What the fleet is to do by itself; see `Plan`."""
        return self.path / "plan.json"

    @property
    def metrics(self) -> Path:
        """The fleet's own figures, as Prometheus's textfile collector reads them."""
        return self.path / "metrics.prom"

    @property
    def logs(self) -> Path:
        """One file for each process."""
        return self.path / "logs"

    def log(self, name: str) -> Path:
        """The log of one process."""
        return self.logs / f"{name}.log"

    def make(self) -> None:
        """Make the directory where it is not there yet; raises `StateUnusable`."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self.path.chmod(0o700)
            self.logs.mkdir(exist_ok=True)
        except OSError as error:
            raise StateUnusable(f"cannot use {self.path} as a state directory: {error.strerror}") from error

    @contextmanager
    def held(self) -> Iterator[None]:
        """Be the only supervisor here; raises `AlreadyRunning`.

        The kernel lets go of the lock with the process, however that ends: it can never be stale.
        """
        with (self.path / "lock").open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise AlreadyRunning(
                    f"a fleet already runs in {self.path}; "
                    f"see it with `chopho status --state {self.path}`, end it with `chopho down --state {self.path}`, "
                    "or give another --state and --port"
                ) from error
            yield

    def socket(self, name: str) -> Path:
        """Where a Unix socket goes: in here, or where paths are short when this one is too long."""
        here = self.path / name
        if len(os.fsencode(here)) <= _LONGEST_SOCKET_PATH:
            return here
        key = hashlib.sha256(os.fsencode(self.path)).hexdigest()[:16]
        short = Path(tempfile.gettempdir()) / f"chopho-{os.getuid()}-{key}"
        short.mkdir(mode=0o700, exist_ok=True)
        if short.is_symlink() or short.stat().st_uid != os.getuid():
            raise StateUnusable(f"{short} belongs to somebody else; give a --state with a shorter path")
        return short / name

    def remove_socket(self, name: str) -> None:
        """Leave nothing of it, wherever it was."""
        socket = self.socket(name)
        socket.unlink(missing_ok=True)
        if socket.parent != self.path:
            # Another socket of this fleet may still be there; whoever removes the last takes the folder along.
            with suppress(OSError):
                socket.parent.rmdir()

    @property
    def identity_key(self) -> Path:
        """The private key of the shop's internal tokens; see `app.fleet.identity`."""
        return self.path / "identity.key"

    @property
    def identity_public_key(self) -> Path:
        """What the services verify them with."""
        return self.path / "identity.pub"

    def secrets(self) -> Secrets:
        """The secrets of this fleet, each made once."""
        file = self.path / "secrets.json"
        try:
            known: dict[str, str] = json.loads(file.read_text()) if file.exists() else _new_secrets()
            # Fleets of an older version had none.
            later = {name: secrets.token_urlsafe(32) for name in ("faults_token", "webhook_secret")}
            found = Secrets(**{**later, **known})
        except (ValueError, TypeError) as error:
            raise StateUnusable(
                f"{file} cannot be read as secrets; mend it, or remove {self.path}"
            ) from error
        if not file.exists() or asdict(found) != known:
            write_privately(file, json.dumps(asdict(found)))
        return found

    def change_secrets(self, **changes: str) -> None:
        """Replace some of them, all at once."""
        changed = {**asdict(self.secrets()), **changes}
        write_privately(self.path / "secrets.json", json.dumps(changed))


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """What only this fleet knows.

    `session_key` may be several with commas between, of which the first signs; `rotation` says how far their
    change is.
    """

    session_key: str
    database_password: str
    faults_token: str
    webhook_secret: str
    rotation: str = ""


def _new_secrets() -> dict[str, str]:
    return {"session_key": secrets.token_urlsafe(48), "database_password": secrets.token_urlsafe(24)}


def write_privately(file: Path, text: str) -> None:
    """Replace the file as a whole: readers see the old text or the new, and only its owner reads it.

    Raises `StateUnusable`, with the old text where it was and nothing beside it.
    """
    try:
        with tempfile.NamedTemporaryFile("w", dir=file.parent, prefix=f".{file.name}.", delete=False) as new:
            written = Path(new.name)
            try:
                new.write(text)
                new.flush()
                written.replace(file)
            except OSError:
                written.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise StateUnusable(f"cannot write {file}: {error.strerror}") from error
