"""A wrong setting stops the start with one line; a right one arrives typed."""

from __future__ import annotations

from datetime import timedelta
from ipaddress import ip_network

import pytest

from app.settings import FleetSettings, Settings, SettingsError, read

GOOD = {
    "CHOPHO_DATABASE_URL": "postgresql+psycopg://u:p@127.0.0.1/shop",
    "CHOPHO_SESSION_URL": "redis://127.0.0.1:6379/0",
    "CHOPHO_REDIS_URL": "redis://127.0.0.1:6379/0",
    "CHOPHO_SECRET_KEYS": "k" * 32,
    "CHOPHO_PUBLIC_URL": "http://127.0.0.1:8080",
}


def test_the_defaults_are_those_of_the_contract() -> None:
    settings = read(Settings, GOOD)
    assert settings.session_idle_timeout == timedelta(minutes=30)
    assert settings.session_absolute_timeout == timedelta(hours=12)
    assert settings.drain_delay == timedelta(seconds=8)
    assert settings.shutdown_grace == timedelta(seconds=30)
    assert settings.cookie_secure
    assert settings.trusted_proxies == (ip_network("127.0.0.1/32"),)
    assert settings.session_namespace == "chopho:session"


def test_durations_lists_and_networks_are_read() -> None:
    settings = read(
        Settings,
        GOOD
        | {
            "CHOPHO_SESSION_IDLE_TIMEOUT": "2d",
            "CHOPHO_DRAIN_DELAY": "500ms",
            "CHOPHO_SECRET_KEYS": f"{'a' * 32},{'b' * 40}",
            "CHOPHO_TRUSTED_PROXIES": "10.0.0.0/8, ::1/128",
        },
    )
    assert settings.session_idle_timeout == timedelta(days=2)
    assert settings.drain_delay == timedelta(milliseconds=500)
    assert settings.secret_keys == ("a" * 32, "b" * 40)
    assert settings.trusted_proxies == (ip_network("10.0.0.0/8"), ip_network("::1/128"))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("u:p@one:1/shop", "u:p@one:1/shop"),
        (
            "u:p@one:1,two:2/shop",
            "u:p@/shop?host=one%3A1&host=two%3A2&target_session_attrs=read-write",
        ),
        (
            "u:p@one,two/shop?target_session_attrs=any",
            "u:p@/shop?host=one&host=two&target_session_attrs=any",
        ),
    ],
)
def test_a_database_on_several_hosts_is_the_one_that_can_be_written_to(given: str, kept: str) -> None:
    scheme = "postgresql+psycopg://"
    settings = read(Settings, {**GOOD, "CHOPHO_DATABASE_URL": scheme + given})
    assert settings.database_url == scheme + kept


@pytest.mark.parametrize("name", sorted(GOOD))
def test_a_missing_required_setting_is_named(name: str) -> None:
    with pytest.raises(SettingsError, match=f"^{name} is not set; it is required"):
        read(Settings, {other: value for other, value in GOOD.items() if other != name})


@pytest.mark.parametrize(
    ("name", "value", "wants"),
    [
        ("CHOPHO_DRAIN_DELAY", "8", "wants a duration"),
        ("CHOPHO_DRAIN_DELAY", "-8s", "wants a duration"),
        ("CHOPHO_SESSION_IDLE_TIMEOUT", "0s", "greater than"),
        ("CHOPHO_SESSION_ABSOLUTE_TIMEOUT", "5m", "no less than CHOPHO_SESSION_IDLE_TIMEOUT"),
        ("CHOPHO_SESSION_URL", "bogus://x", "bogus://"),
        ("CHOPHO_SESSION_URL", "mysql://x", "wants a URL beginning with"),
        ("CHOPHO_DATABASE_URL", "sqlite://", "wants a URL beginning with postgresql"),
        ("CHOPHO_DATABASE_URL", "postgresql+psycopg://a:port/x", "host:port/name"),
        ("CHOPHO_DATABASE_URL", "postgresql+psycopg://a,,b/x", "several hosts as"),
        ("CHOPHO_TRUSTED_PROXIES", "everyone", "wants comma-separated networks"),
        ("CHOPHO_PUBLIC_URL", "chopho.example", "wants an origin"),
        ("CHOPHO_PUBLIC_URL", "http://chopho.example/shop", "wants an origin"),
        ("CHOPHO_COOKIE_SECURE", "maybe", "boolean"),
        ("CHOPHO_DATABASE_POOL_SIZE", "0", "greater than"),
        ("CHOPHO_SECRET_KEYS", "short", "at least 32 bytes"),
        ("CHOPHO_SECRET_KEYS", f"{'a' * 32},{'a' * 32}", "different keys"),
        ("CHOPHO_REPLICA_NAME", "a b\r\n", "match pattern"),
        ("CHOPHO_PAYMENTS_URL", "127.0.0.1:9000", "wants an origin"),
        ("CHOPHO_PAYMENTS_POOL_SIZE", "0", "greater than"),
        ("CHOPHO_PAYMENTS_TIMEOUT", "0s", "greater than"),
        ("CHOPHO_MAIL_URL", "sendmail://x", "wants smtp://"),
        ("CHOPHO_MAIL_URL", "smtp://user:hunter2", "wants smtp://"),
        ("CHOPHO_MAIL_FROM", "shop", "wants an address"),
    ],
)
def test_an_unusable_value_is_refused_in_one_line(name: str, value: str, wants: str) -> None:
    with pytest.raises(SettingsError, match=wants) as refused:
        read(Settings, GOOD | {name: value})
    assert str(refused.value).startswith(name)
    assert "\n" not in str(refused.value)


def test_a_secret_is_never_repeated_in_the_message() -> None:
    with pytest.raises(SettingsError) as refused:
        read(Settings, GOOD | {"CHOPHO_SECRET_KEYS": "hunter2"})
    assert "hunter2" not in str(refused.value)
    with pytest.raises(SettingsError) as refused:
        read(Settings, GOOD | {"CHOPHO_MAIL_URL": "smtp://user:hunter2"})
    assert "hunter2" not in str(refused.value)
    for name in ("DATABASE_URL", "SESSION_URL", "SESSION_ALSO_ACCEPT", "REDIS_URL", "CACHE_URL"):
        with pytest.raises(SettingsError) as refused:
            read(Settings, GOOD | {f"CHOPHO_{name}": "mysql://u:hunter2@h/d"})
        assert "hunter2" not in str(refused.value)


def test_a_shop_without_an_acquirer_starts_and_one_with_it_needs_a_key() -> None:
    assert read(Settings, GOOD).payments_url is None
    given = GOOD | {"CHOPHO_PAYMENTS_URL": "http://127.0.0.1:9000/"}
    with pytest.raises(SettingsError, match=r"^CHOPHO_IDENTITY_KEY is not set; CHOPHO_PAYMENTS_URL needs it"):
        read(Settings, given)
    settings = read(Settings, given | {"CHOPHO_IDENTITY_KEY": "/run/chopho/identity.key"})
    assert (settings.payments_url, settings.payments_pool_size) == ("http://127.0.0.1:9000", 10)
    assert settings.payments_timeout == timedelta(seconds=5)


def test_a_shop_without_a_mail_server_starts_and_one_with_it_says_whom_mail_comes_from() -> None:
    assert read(Settings, GOOD).mail_url is None
    assert read(Settings, GOOD | {"CHOPHO_MAIL_URL": "console:"}).mail_from is None
    given = GOOD | {"CHOPHO_MAIL_URL": "smtps://u:hunter2@mail.example"}
    with pytest.raises(SettingsError, match=r"^CHOPHO_MAIL_FROM is not set; CHOPHO_MAIL_URL needs it"):
        read(Settings, given)
    settings = read(Settings, given | {"CHOPHO_MAIL_FROM": "Chợ Phố <shop@chopho.example>"})
    assert settings.mail_from == "Chợ Phố <shop@chopho.example>"


def test_a_misspelt_setting_is_refused_with_its_right_name() -> None:
    with pytest.raises(SettingsError, match=r"CHOPHO_DRAIN_DELAYS is not a setting .* CHOPHO_DRAIN_DELAY"):
        read(Settings, GOOD | {"CHOPHO_DRAIN_DELAYS": "1s"})


def test_the_fleet_reads_its_own_settings_from_the_same_environment() -> None:
    assert read(FleetSettings, GOOD).haproxy is None
    assert str(read(FleetSettings, {"CHOPHO_HAPROXY": "/usr/sbin/haproxy"}).haproxy) == "/usr/sbin/haproxy"
