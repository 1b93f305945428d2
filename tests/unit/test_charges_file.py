"""The table of charges that a setting names, in the place of the one that ships."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.settings import Settings
from app.shop.pricing import charges, standard_charges
from app.wiring.charges import charges_of

SHIPPED = Path(charges.__file__).with_name("charges.toml").read_text(encoding="utf-8")


def settings(file: Path | None) -> Settings:
    given = {
        "database_url": "postgresql+psycopg://x",
        "session_url": "memory://",
        "redis_url": "redis://x",
        "secret_keys": "a key of the tests that is long enough to sign with",
        "public_url": "http://chopho.example",
        "charges_file": file,
    }
    return Settings.model_validate(given)


def test_without_a_file_the_charges_that_ship_are_in_force() -> None:
    assert charges_of(settings(None)) == standard_charges()


def test_a_file_takes_their_place(tmp_path: Path) -> None:
    file = tmp_path / "charges.toml"
    file.write_text(SHIPPED.replace("percent = 8", "percent = 10"), encoding="utf-8")
    assert charges_of(settings(file)).vat_percent == 10


@pytest.mark.parametrize("content", [None, b"\xff", b"[vat", SHIPPED.replace('"hue", ', "").encode()])
def test_a_file_that_cannot_be_used_stops_the_start_in_one_line(
    tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "charges.toml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ValueError, match="CHOPHO_CHARGES_FILE cannot be used") as refused:
        charges_of(settings(file))
    assert "\n" not in str(refused.value)
