"""A URL that leads to a pooler: told apart, and refused where one long session is needed."""

from __future__ import annotations

import pytest

from app.fleet.archives import Reach
from app.fleet.errors import FleetError
from app.migrating import migrate_shop
from app.settings import MigrationSettings, SettingsError, read
from app.stores.database import DatabaseConfig
from app.stores.poolers import driver_url, is_pooled

URL = "postgresql+psycopg://shop:secret@pooler.example:6432/chopho"
POOLED = f"{URL}?pooler=transaction"


def test_the_driver_never_sees_the_word() -> None:
    assert (is_pooled(URL), is_pooled(POOLED)) == (False, True)
    assert (
        driver_url(f"{POOLED}&sslmode=require").render_as_string(hide_password=False)
        == f"{URL}?sslmode=require"
    )


def test_a_pooler_gets_nothing_that_it_would_refuse_or_pass_on() -> None:
    args = DatabaseConfig(url=POOLED).connect_args()
    assert (args["prepare_threshold"], "options" in args) == (None, False)
    assert "statement_timeout=2000" in str(DatabaseConfig(url=URL).connect_args()["options"])


def test_migrations_and_backups_ask_for_the_database_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHOPHO_DATABASE_URL", POOLED)
    with pytest.raises(SettingsError, match="the database itself"):
        migrate_shop(sample_data=False)
    with pytest.raises(FleetError, match="the database itself"):
        Reach.of(POOLED)


def test_another_mode_is_told_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHOPHO_DATABASE_URL", f"{URL}?pooler=session")
    with pytest.raises(SettingsError, match=r"wants \?pooler=transaction"):
        read(MigrationSettings)
