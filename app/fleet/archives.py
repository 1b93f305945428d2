"""Archives of a database: PostgreSQL's own programs that write and read them, and the label beside each."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg.conninfo import make_conninfo
from pydantic import BaseModel, ValidationError
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.engine import make_url

from app.fleet.errors import BackupRefused, FleetError
from app.stores.poolers import is_pooled

_PIECE: Final = 1 << 20
_DUMPED_FROM: Final = re.compile(r"Dumped from database version: (\d+)")
_REVISION: Final = re.compile(r"^COPY [^\n]*alembic_version[^\n]*\n([^\n]+)\n", re.MULTILINE)


class Label(BaseModel, frozen=True):
    """What a backup must say when it is read again; kept beside it as ``FILE.json``."""

    taken_at: str
    revision: str
    server_version: int
    sha256: str
    rows: Mapping[str, int]


def label_path(file: Path) -> Path:
    """Where the label of an archive lies."""
    return file.with_name(f"{file.name}.json")


def label_of(file: Path) -> Label | None:
    """The label; None where none lies there. Raises `BackupRefused` for one that cannot be read."""
    try:
        return Label.model_validate_json(label_path(file).read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as unreadable:
        raise BackupRefused(f"{label_path(file)} is not the label of a backup") from unreadable


def digest_of(file: Path) -> str:
    """SHA-256 of the file, in hex."""
    with file.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How a database is reached; the password travels in the environment, where `ps` does not show it."""

    conninfo: str
    password: str | None

    @classmethod
    def of(cls, url: str) -> Reach:
        """From the shop's own URL; raises `FleetError` for one that leads to a pooler."""
        if is_pooled(url):
            raise FleetError(
                "a backup is one long session, which no pooler lends out: "
                "name the database itself, without ?pooler=transaction"
            )
        _, words = PGDialect_psycopg().create_connect_args(make_url(url))  # type: ignore[no-untyped-call] # untyped there
        password = words.pop("password", None)
        return cls(conninfo=make_conninfo(**{**words, "connect_timeout": 5}), password=password)

    def connect(self) -> psycopg.Connection[Any]:
        """A connection; raises `FleetError`."""
        try:
            return psycopg.connect(self.conninfo, password=self.password, application_name="chopho backup")
        except psycopg.OperationalError as away:
            raise FleetError(f"the database cannot answer: {str(away).splitlines()[0]}") from away

    @property
    def environment(self) -> Mapping[str, str]:
        """For a program that connects."""
        return {**os.environ, **({} if self.password is None else {"PGPASSWORD": self.password})}


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivePrograms:
    """`pg_dump`, `pg_restore` and `psql` in one folder."""

    folder: Path

    def major(self) -> int:
        """Their version."""
        said = re.search(r"(\d+)", self._said("pg_dump", "--version"))
        return int(said[1]) if said else 0

    def dump(self, reach: Reach, snapshot: str, file: Path) -> None:
        """Write everything that the snapshot sees; raises `FleetError`."""
        words = ("--format=custom", "--no-owner", "--no-acl", f"--snapshot={snapshot}", f"--file={file}")
        self._run([*self._argv("pg_dump", *words), f"--dbname={reach.conninfo}"], env=reach.environment)

    def dumped_from(self, file: Path) -> int:
        """The version of the server that the archive came from; raises `BackupRefused`."""
        found = _DUMPED_FROM.search(self._listed(file))
        return int(found[1]) if found else 0

    def revision(self, file: Path) -> str | None:
        """The migration that the archive's tables are of; None where it holds no shop."""
        found = _REVISION.search(
            self._said("pg_restore", "--data-only", "--table=alembic_version", "--file=-", str(file))
        )
        return found[1].strip() if found else None

    def read(self, file: Path, take: Callable[[bytes], object]) -> None:
        """Give the whole archive as SQL, piece by piece; raises `FleetError` when it is not whole."""
        with subprocess.Popen(  # noqa: S603 -- PostgreSQL's own program
            self._argv("pg_restore", "--no-owner", "--no-acl", "--file=-", str(file)),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as reading:  # fmt: skip
            assert reading.stdout is not None  # noqa: S101 -- it is a pipe
            assert reading.stderr is not None  # noqa: S101 -- likewise
            while piece := reading.stdout.read(_PIECE):
                take(piece)
            words = reading.stderr.read().decode(errors="replace")
        if reading.returncode != 0:
            raise BackupRefused(f"{file} cannot be read to its end: {_last_line(words)}")

    def feeding(self, reach: Reach) -> subprocess.Popen[bytes]:
        """psql, to be fed SQL; it ends at the first error, and what was not committed is undone."""
        return subprocess.Popen(  # noqa: S603 -- PostgreSQL's own program
            self._argv("psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", f"--dbname={reach.conninfo}"),
            env=dict(reach.environment), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip

    def _listed(self, file: Path) -> str:
        try:
            return self._said("pg_restore", "--list", str(file))
        except FleetError as unreadable:
            raise BackupRefused(f"{file} is not a backup: {unreadable}") from unreadable

    def _said(self, program: str, *words: str) -> str:
        return self._run(self._argv(program, *words)).stdout.decode(errors="replace")

    def _argv(self, program: str, *words: str) -> list[str]:
        path = self.folder / program
        if not path.exists():
            raise FleetError(
                f"{path} is missing; CHOPHO_POSTGRES_BIN names a folder with pg_dump, pg_restore and psql"
            )
        return [str(path), *words]

    def _run(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        done = subprocess.run(argv, env=None if env is None else dict(env), capture_output=True, check=False)  # noqa: S603 -- PostgreSQL's own program
        if done.returncode != 0:
            raise FleetError(_last_line(done.stderr.decode(errors="replace")))
        return done


def _last_line(words: str) -> str:
    """What a program said last; psql names the line of its input, which is nobody's file."""
    return next((line for line in reversed(words.splitlines()) if line.strip()), "it said nothing")
