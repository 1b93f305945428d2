"""`chopho backup` and `chopho restore`, as an owner runs them: what comes back is what went in."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from app.fleet.archives import ArchivePrograms, label_path
from app.fleet.backups import Backups
from app.fleet.errors import BackupRefused, FleetError
from app.fleet.postgres import PostgresServer
from app.fleet.programs import Programs
from app.stores.migrations import current, head, migrate

NewDatabase = Callable[..., str]


def plain(url: str) -> str:
    return url.replace("postgresql+psycopg:", "postgresql:")


@pytest.fixture(scope="module")
def new_database(postgres_server: PostgresServer) -> Iterator[NewDatabase]:
    """Makes databases without tables, which go with the module."""
    names: list[str] = []
    with psycopg.connect(plain(postgres_server.url()), autocommit=True) as admin:

        def new(template: str = "template1") -> str:
            names.append(f"backup_{secrets.token_hex(6)}")
            words = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
            admin.execute(words.format(*map(sql.Identifier, (names[-1], template.rpartition("/")[2]))))
            return postgres_server.url(names[-1])

        yield new
        for name in names:
            admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def run(url: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app", *words],
        capture_output=True, text=True, check=False, timeout=150,
        env={**os.environ, "CHOPHO_DATABASE_URL": url},
    )  # fmt: skip


def backups(url: str) -> Backups:
    return Backups(programs=ArchivePrograms(folder=Programs().find_postgres_bin()), url=url)


@pytest.fixture(scope="module")
def shop(new_database: NewDatabase) -> str:
    """The URL of a shop with goods, people and orders."""
    url = new_database()
    migrate(url)
    made = run(url, "sample", "--products", "40", "--orders", "300", "--json")
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["orders"] == 300
    return url


@pytest.fixture
def other(new_database: NewDatabase, shop: str) -> str:
    """Another shop, with something in it."""
    url = new_database(template=shop)
    with psycopg.connect(plain(url)) as connection:
        connection.execute("UPDATE variants SET stock = 1")
    return url


@pytest.fixture(scope="module")
def backup(shop: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of it."""
    file = tmp_path_factory.mktemp("backups") / "shop.backup"
    taken = run(shop, "backup", str(file))
    assert taken.returncode == 0, taken.stderr
    assert "tables, taken 20" in taken.stdout
    assert file.stat().st_mode & 0o077 == 0, "addresses and hashes are for nobody else"
    return file


def content(url: str) -> dict[str, str]:
    """A digest of every table's rows, of its columns and of what its sequence says next."""
    found: dict[str, str] = {}
    with psycopg.connect(plain(url)) as connection:
        tables = connection.execute(
            "SELECT oid::regclass::text FROM pg_class WHERE relkind IN ('r', 'S') AND relnamespace ="
            " 'public'::regnamespace ORDER BY 1"
        ).fetchall()
        for (table,) in tables:
            name = sql.SQL("{} AS kept").format(sql.Identifier(table))
            shown = "last_value, is_called" if table.endswith("_seq") else "to_jsonb(kept)::text"
            rows: list[tuple[Any, ...]] = connection.execute(
                sql.SQL("SELECT {} FROM {} ORDER BY 1").format(sql.SQL(shown), name)
            ).fetchall()
            found[table] = hashlib.sha256(repr(rows).encode()).hexdigest()
        for what in (
            "indexdef FROM pg_indexes",
            "pg_get_constraintdef(oid) FROM pg_constraint",
            "tgname FROM pg_trigger WHERE NOT tgisinternal",
        ):
            found[what] = repr(connection.execute(f"SELECT {what} ORDER BY 1".encode()).fetchall())
    return found


def test_what_comes_back_is_what_went_in(shop: str, backup: Path, new_database: NewDatabase) -> None:
    fresh = new_database()
    restored = run(fresh, "restore", str(backup), "--json")
    assert (restored.returncode, restored.stderr) == (0, "")
    assert json.loads(restored.stdout)["rows"]["public.orders"] == 300
    assert content(fresh) == content(shop)
    assert current(fresh) == head()


def test_a_shop_that_is_not_empty_is_thrown_away_only_when_told(shop: str, backup: Path, other: str) -> None:
    before = content(other)
    refused = run(other, "restore", str(backup))
    assert (refused.returncode, refused.stderr.count("\n")) == (10, 1)
    assert "not empty" in refused.stderr
    assert "public.products" in refused.stderr
    assert content(other) == before
    told: list[float] = []
    backups(other).restore(backup, force=True, progress=told.append)
    assert content(other) == content(shop)
    assert told == sorted(told)
    assert told[-1] == 1


def test_a_migrated_shop_without_anything_in_it_is_empty(backup: Path, new_database: NewDatabase) -> None:
    empty = new_database()
    migrate(empty)
    assert backups(empty).restore(backup) is not None


@pytest.mark.parametrize("labelled", [True, False])
def test_a_file_that_is_not_whole_changes_nothing(
    backup: Path, tmp_path: Path, other: str, *, labelled: bool
) -> None:
    broken = tmp_path / "broken.backup"
    whole = backup.read_bytes()
    broken.write_bytes(whole[: len(whole) * 2 // 3])
    if labelled:
        label_path(broken).write_bytes(label_path(backup).read_bytes())
    before = content(other)
    with pytest.raises(BackupRefused, match=r"not whole|cannot be read to its end"):
        backups(other).restore(broken, force=True)
    assert content(other) == before


def test_rows_that_are_missing_afterwards_undo_everything(backup: Path, tmp_path: Path, other: str) -> None:
    label = json.loads(label_path(backup).read_bytes())
    label["rows"]["public.orders"] += 1
    copy = tmp_path / "copy.backup"
    copy.write_bytes(backup.read_bytes())
    label_path(copy).write_text(json.dumps(label))
    before = content(other)
    with pytest.raises(FleetError, match=r"public\.orders has not its 301 rows"):
        backups(other).restore(copy, force=True)
    assert content(other) == before


def test_a_file_without_a_label_is_restored_uncounted(
    shop: str, backup: Path, tmp_path: Path, other: str
) -> None:
    copy = tmp_path / "copy.backup"
    copy.write_bytes(backup.read_bytes())
    assert backups(other).restore(copy, force=True) is None
    assert content(other) == content(shop)


def test_a_backup_of_a_newer_release_is_not_restored(
    other: str, tmp_path: Path, new_database: NewDatabase
) -> None:
    with psycopg.connect(plain(other)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    file = tmp_path / "newer.backup"
    backups(other).take(file)
    with pytest.raises(BackupRefused, match="newer release"):
        backups(new_database()).restore(file)


def test_a_shop_in_use_is_backed_up_as_it_is_at_one_moment_and_not_thrown_away(
    other: str, backup: Path, tmp_path: Path
) -> None:
    """What is being written belongs to no backup; whoever holds a table is not waited for without end."""
    with psycopg.connect(plain(other)) as writing:
        writing.execute("UPDATE variants SET stock = 5")
        backups(other).take(tmp_path / "meanwhile.backup")
        with pytest.raises(FleetError, match="lock timeout"):
            replace(backups(other), lock_timeout_s=0.2).restore(backup, force=True)


def test_a_database_without_a_shop_is_not_backed_up(tmp_path: Path, new_database: NewDatabase) -> None:
    with pytest.raises(BackupRefused, match="no shop"):
        backups(new_database()).take(tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_is_told_and_writes_nothing(shop: str, tmp_path: Path) -> None:
    there, nowhere = tmp_path / "there", tmp_path / "none" / "x"
    there.write_text("something else")
    with pytest.raises(BackupRefused, match="there already"):
        backups(shop).take(there)
    with pytest.raises(FleetError, match="cannot be written"):
        backups(shop).take(nowhere)
    with pytest.raises(BackupRefused, match="no file"):
        backups(shop).restore(nowhere)
    with pytest.raises(BackupRefused, match="not a backup"):
        backups(shop).restore(there)
    label_path(there).write_text("{")
    with pytest.raises(BackupRefused, match="not the label"):
        backups(shop).restore(there)
    assert there.read_text() == "something else"


def test_a_database_that_is_away_is_one_line_without_its_password(shop: str, tmp_path: Path) -> None:
    away = "postgresql+psycopg://x:geheim@127.0.0.1:1/x"
    told = run(shop, "backup", str(tmp_path / "y"), "--database", away)
    assert (told.returncode, told.stderr.count("\n")) == (1, 1), told.stderr
    assert "cannot answer" in told.stderr
    assert "geheim" not in told.stderr
