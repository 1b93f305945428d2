"""`chopho migrate` needs the database alone, and knows whose shop may have demo accounts."""

from __future__ import annotations

import pytest
from sqlalchemy import create_engine, text

from app.migrating import migrate_shop
from app.settings import SettingsError


def count(url: str, table: str) -> int:
    engine = create_engine(url)
    with engine.connect() as connection:
        found = connection.scalar(text(f"SELECT count(*) FROM {table}"))  # noqa: S608 -- our own table
    engine.dispose()
    return int(found or 0)


def test_the_database_is_all_it_needs(empty_database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHOPHO_DATABASE_URL", empty_database_url)
    assert migrate_shop(sample_data=False) == 0
    assert count(empty_database_url, "accounts") == 0


@pytest.mark.parametrize("origin", [None, "https://shop.example", "http://10.0.0.1:8080"])
def test_a_shop_for_others_never_has_the_demo_accounts(
    empty_database_url: str, monkeypatch: pytest.MonkeyPatch, origin: str | None
) -> None:
    monkeypatch.setenv("CHOPHO_DATABASE_URL", empty_database_url)
    if origin is not None:
        monkeypatch.setenv("CHOPHO_PUBLIC_URL", origin)
    with pytest.raises(SettingsError, match="on this machine alone"):
        migrate_shop(sample_data=True)


def test_a_shop_on_this_machine_may_have_them(
    empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHOPHO_DATABASE_URL", empty_database_url)
    monkeypatch.setenv("CHOPHO_PUBLIC_URL", "http://127.0.0.1:8080")
    assert migrate_shop(sample_data=True) == 0
    assert count(empty_database_url, "accounts") == 3
