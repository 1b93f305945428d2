"""The whole shop into a file, and back: checked on both ways, all of it or nothing."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final

import psycopg
from psycopg import sql

from app.fleet.archives import ArchivePrograms, Label, Reach, digest_of, label_of, label_path
from app.fleet.errors import BackupRefused, FleetError
from app.stores.migrations import head, knows, migrate

Progress = Callable[[float], None]

_SCHEMAS: Final = "nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'"
_NAMESPACES: Final = f"SELECT nspname FROM pg_namespace WHERE {_SCHEMAS}"  # noqa: S608 -- words of this file
_TABLES: Final = f"""
SELECT nspname, relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE relkind = 'r' AND {_SCHEMAS} ORDER BY nspname, relname
"""  # noqa: S608 -- words of this file

_REVISIONS: Final = "alembic_version"
"""The one table that an empty shop has a row in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backups:
    """Backups of the database at `url`, made by PostgreSQL's own programs."""

    programs: ArchivePrograms
    url: str
    lock_timeout_s: float = 10.0

    def take(self, file: Path) -> Label:
        """Write the shop to FILE as it is at one moment, read it back, and lay its label beside it.

        Shoppers go on meanwhile. Raises `BackupRefused`, `FleetError`; FILE is whole or absent.
        """
        if file.exists():
            raise BackupRefused(f"{file} is there already; a backup takes the place of no other one")
        partial = file.with_name(f".{file.name}.partial")
        reach = Reach.of(self.url)
        try:
            partial.touch(mode=0o600)  # it will hold addresses and password hashes
            with reach.connect() as connection:
                label = self._dump(connection, reach, partial)
            self.programs.read(partial, lambda _: None)
            _settle(partial, file, label)
        except OSError as unwritable:
            raise FleetError(f"{file} cannot be written: {unwritable.strerror}") from unwritable
        finally:
            partial.unlink(missing_ok=True)
        return label

    def restore(
        self, file: Path, *, force: bool = False, progress: Progress = lambda _: None
    ) -> Label | None:
        """Put the shop of FILE into the database, in one transaction, and bring it to this release.

        Raises `BackupRefused` before anything changed: for a file that is no backup, not whole, not the one
        its label tells of, or of a newer release; and for a shop that is not empty, unless `force`.
        """
        label = self._checked(file)
        reach = Reach.of(self.url)
        with reach.connect() as connection:
            self._check_target(connection, file, force=force)
            schemas = [name for (name,) in connection.execute(_NAMESPACES)]
        size = self._size(file)
        self._feed(reach, file, _Script(before=self._emptied(schemas), after=_counted(label)), size, progress)
        migrate(self.url)
        with reach.connect() as connection:
            connection.execute("ANALYZE")
        return label

    def _dump(self, connection: psycopg.Connection[Any], reach: Reach, partial: Path) -> Label:
        """What is counted and what is written belong to one snapshot."""
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        server = connection.info.server_version // 10_000
        if server > self.programs.major():
            raise BackupRefused(
                f"pg_dump {self.programs.major()} cannot read a server of version {server}; "
                "CHOPHO_POSTGRES_BIN names the programs of that version"
            )
        tables = _tables(connection)
        if ("public", _REVISIONS) not in tables:
            raise BackupRefused("there is no shop in this database; chopho migrate makes one")
        revision = _one(connection, sql.SQL("SELECT version_num FROM alembic_version"))
        snapshot = _one(connection, sql.SQL("SELECT pg_export_snapshot()"))
        rows = {".".join(table): _one(connection, _count(table)) for table in tables}
        self.programs.dump(reach, snapshot, partial)
        return Label(
            taken_at=datetime.now(UTC).isoformat(timespec="seconds"),
            revision=revision,
            server_version=server,
            sha256=digest_of(partial),
            rows=rows,
        )

    def _checked(self, file: Path) -> Label | None:
        if not file.is_file():
            raise BackupRefused(f"there is no file {file}")
        label = label_of(file)
        if label is not None and label.sha256 != digest_of(file):
            raise BackupRefused(f"{file} is not what its label tells of: it was changed or is not whole")
        self.programs.dumped_from(file)
        revision = self.programs.revision(file)
        if revision is None:
            raise BackupRefused(f"{file} holds no shop")
        if not knows(revision):
            raise BackupRefused(
                f"{file} is of a newer release (revision {revision}); this one knows up to {head()}"
            )
        return label

    def _check_target(self, connection: psycopg.Connection[Any], file: Path, *, force: bool) -> None:
        server, dumped = connection.info.server_version // 10_000, self.programs.dumped_from(file)
        if dumped > server:
            raise BackupRefused(
                f"{file} came from PostgreSQL {dumped}, and this server is of version {server}"
            )
        filled = [
            ".".join(table)
            for table in _tables(connection)
            if table[1] != _REVISIONS and _one(connection, _any_row(table))
        ]
        if filled and not force:
            raise BackupRefused(
                f"the shop there is not empty ({', '.join(filled)}); nothing changed. --force throws it away"
            )

    def _emptied(self, schemas: Sequence[str]) -> bytes:
        """Throw away what is there, waiting only so long for whoever uses it."""
        begin = sql.SQL(
            "BEGIN; SET LOCAL lock_timeout = {}; SET LOCAL client_min_messages = warning;"
        ).format(sql.Literal(f"{round(1000 * self.lock_timeout_s)}ms"))
        dropped = [sql.SQL("DROP SCHEMA {} CASCADE;").format(sql.Identifier(name)) for name in schemas]
        return sql.SQL("\n").join([begin, *dropped, sql.SQL("CREATE SCHEMA public;\n")]).as_string().encode()

    def _size(self, file: Path) -> int:
        """Bytes of its SQL; reading them all shows that the file is whole, before anything is thrown away."""
        size = 0

        def count(piece: bytes) -> None:
            nonlocal size
            size += len(piece)

        self.programs.read(file, count)
        return size

    def _feed(self, reach: Reach, file: Path, script: _Script, size: int, progress: Progress) -> None:
        """One transaction; only an archive that was read to its end is committed."""
        fed = 0

        def feed(piece: bytes) -> None:
            nonlocal fed
            into.write(piece)
            fed += len(piece)
            progress(fed / size)

        with self.programs.feeding(reach) as psql:
            assert psql.stdin is not None  # noqa: S101 -- it is a pipe
            into = psql.stdin
            try:
                into.write(script.before)
                self.programs.read(file, feed)
                into.write(script.after)
                into.close()
            except BrokenPipeError:
                _let_go(into)  # psql met an error and says which
            except BaseException:
                psql.kill()
                _let_go(into)
                raise
            _check_fed(psql)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Script:
    """What goes round an archive to make it a restore."""

    before: bytes
    after: bytes


def _let_go(into: IO[bytes]) -> None:
    """Close a pipe that nobody reads from any more."""
    with suppress(BrokenPipeError):
        into.close()


def _check_fed(psql: subprocess.Popen[bytes]) -> None:
    assert psql.stderr is not None  # noqa: S101 -- it is a pipe
    words = psql.stderr.read().decode(errors="replace")
    if psql.wait() != 0:
        wrong = next(
            (line for line in words.splitlines() if "ERROR" in line or "FATAL" in line), words.strip()
        )
        raise FleetError(f"nothing was restored: {wrong.partition('ERROR:')[2].strip() or wrong}")


def _counted(label: Label | None) -> bytes:
    """See that every table has the rows it had, then commit."""
    rows: Mapping[str, int] = label.rows if label else {}
    checks = [
        sql.SQL(
            "DO $do$ BEGIN IF ({count}) <> {rows} THEN RAISE EXCEPTION '{name} has not its {rows} rows'; END IF; END $do$;"
        ).format(count=_count(_parts(name)), rows=sql.Literal(number), name=sql.SQL(name))
        for name, number in rows.items()
    ]
    return sql.SQL("\n").join([sql.SQL(""), *checks, sql.SQL("COMMIT;\n")]).as_string().encode()


def _settle(partial: Path, file: Path, label: Label) -> None:
    """The archive is on the disk before its name is."""
    with partial.open("rb") as written:
        os.fsync(written.fileno())
    label_path(file).write_text(label.model_dump_json(indent=2) + "\n", encoding="utf-8")
    partial.replace(file)


def _tables(connection: psycopg.Connection[Any]) -> Sequence[tuple[str, str]]:
    return [(schema, name) for schema, name in connection.execute(_TABLES)]


def _parts(name: str) -> tuple[str, str]:
    schema, _, table = name.partition(".")
    return schema, table


def _count(table: tuple[str, str]) -> sql.Composed:
    return sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(*table))


def _any_row(table: tuple[str, str]) -> sql.Composed:
    return sql.SQL("SELECT EXISTS (SELECT FROM {})").format(sql.Identifier(*table))


def _one(connection: psycopg.Connection[Any], statement: sql.SQL | sql.Composed) -> Any:  # noqa: ANN401 -- a value of any column
    row = connection.execute(statement).fetchone()
    assert row is not None  # noqa: S101 -- each of them has one
    return row[0]
