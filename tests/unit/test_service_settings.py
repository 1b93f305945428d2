"""A service reads its own few settings, and refuses a wrong one in one line."""

from __future__ import annotations

import pytest

from app.services.payments.config import Consumer
from app.settings import PaymentsServiceSettings, Settings, SettingsError, read
from tests.unit.test_settings import GOOD as SHOP

GOOD = {
    "CHOPHO_DATABASE_URL": "postgresql+psycopg://u:p@127.0.0.1/shop",
    "CHOPHO_IDENTITY_PUBLIC_KEY": "/run/chopho/identity.pub",
}
NEW, OLD = "n" * 32, "o" * 32


def test_without_a_token_there_are_no_faults_and_without_consumers_no_webhooks() -> None:
    settings = read(PaymentsServiceSettings, GOOD)
    assert settings.faults_token is None
    assert settings.consumers() == ()


def test_consumers_are_read_with_every_secret_of_their_name() -> None:
    settings = read(
        PaymentsServiceSettings,
        GOOD
        | {
            "CHOPHO_WEBHOOKS": "shop=http://127.0.0.1:8080/webhooks/payments?a=b, books=https://books.example/in",
            "CHOPHO_WEBHOOK_SECRETS": f"shop={NEW},books={OLD},shop={OLD}==",
        },
    )
    assert settings.consumers() == (
        Consumer(name="shop", url="http://127.0.0.1:8080/webhooks/payments?a=b", secrets=(NEW, f"{OLD}==")),
        Consumer(name="books", url="https://books.example/in", secrets=(OLD,)),
    )


@pytest.mark.parametrize(
    ("name", "value", "wants"),
    [
        ("CHOPHO_WEBHOOKS", "shop", "name=value"),
        ("CHOPHO_WEBHOOKS", "shop=ftp://x", "http://"),
        ("CHOPHO_WEBHOOKS", "books=http://x", "WEBHOOK_SECRETS wants books=secret"),
        ("CHOPHO_WEBHOOK_SECRETS", "shop=short", "at least 32 bytes"),
        ("CHOPHO_WEBHOOK_SECRETS", "shop=whsec_!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!", "Base64"),
        ("CHOPHO_FAULTS_TOKEN", "short", "at least 16"),
        ("CHOPHO_PAYMENTS_SLOW", "8", "wants a duration"),
        ("CHOPHO_PAYMENTS_PUBLIC_URL", "127.0.0.1", "wants an origin"),
    ],
)
def test_an_unusable_value_is_refused_in_one_line(name: str, value: str, wants: str) -> None:
    webhooks = {"CHOPHO_WEBHOOKS": "shop=http://x", "CHOPHO_WEBHOOK_SECRETS": f"shop={NEW}"}
    with pytest.raises(SettingsError, match=wants) as refused:
        read(PaymentsServiceSettings, GOOD | webhooks | {name: value})
    assert "\n" not in str(refused.value)
    assert NEW not in str(refused.value)


def test_the_shop_and_its_services_may_share_an_environment() -> None:
    assert read(Settings, SHOP | GOOD | {"CHOPHO_FAULTS_TOKEN": "t" * 16})
    assert read(PaymentsServiceSettings, SHOP | GOOD)


def test_a_missing_key_file_setting_is_named() -> None:
    with pytest.raises(SettingsError, match=r"^CHOPHO_IDENTITY_PUBLIC_KEY is not set; it is required"):
        read(PaymentsServiceSettings, {"CHOPHO_DATABASE_URL": GOOD["CHOPHO_DATABASE_URL"]})
