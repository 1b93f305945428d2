"""Each check of a configuration finds its fault where it is, and nothing where it is not."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from app.doctor import Balancer, Check, Finding, Severity, Subject, examine
from app.doctor.certificate import CERTIFICATE, judged
from app.doctor.clocks import apart
from app.doctor.health_checks import HEALTH_CHECKS
from app.doctor.secret_keys import SECRET_KEYS, weakness
from app.doctor.stickiness import STICKINESS
from app.doctor.supervision import SUPERVISION
from app.doctor.timeouts import TIMEOUTS
from app.doctor.trusted_proxies import TRUSTED_PROXIES
from app.settings import Settings, read

OWN: Final = Path("haproxy.cfg").read_text(encoding="utf-8")
GOOD: Final = {
    "DATABASE_URL": "postgresql+psycopg://chopho:hg73hd@db/chopho",
    "SESSION_URL": "redis://redis/0",
    "REDIS_URL": "redis://redis/1",
    "SECRET_KEYS": secrets.token_hex(32),
    "PUBLIC_URL": "https://shop.example",
}


def settings(**changes: str) -> Settings:
    return read(Settings, {f"CHOPHO_{name}": value for name, value in {**GOOD, **changes}.items()})


def subject(lb: Mapping[str, str] | None = None, *, replicas: int = 2, **changes: str) -> Subject:
    return Subject(
        settings={"configuration": settings(**changes)},
        replicas=replicas,
        balancer=Balancer.parse(OWN, lb or {}),
        stop_timeout_s=45,
    )


async def findings(check: Check, examined: Subject) -> list[Finding]:
    return list(await examine(examined, [check]))


@pytest.mark.parametrize("check", [HEALTH_CHECKS, STICKINESS, TIMEOUTS, SECRET_KEYS, TRUSTED_PROXIES])
async def test_a_sound_configuration_has_no_fault(check: Check) -> None:
    assert await findings(check, subject()) == []


@pytest.mark.parametrize(
    ("check", "examined", "severity", "told"),
    [
        (HEALTH_CHECKS, subject({"LB_TCP_CHECK": "1"}), Severity.ERROR, "option httpchk"),
        (STICKINESS, subject({"LB_STICKY": "k"}), Severity.WARNING, "though sessions are shared"),
        (STICKINESS, subject(SESSION_URL="memory://"), Severity.ERROR, "memory of each of 2 replicas"),
        (TIMEOUTS, subject(DRAIN_DELAY="6s"), Severity.ERROR, "notice a drain"),
        (TIMEOUTS, subject(SHUTDOWN_GRACE="60s"), Severity.ERROR, "drain and finish"),
        (TRUSTED_PROXIES, subject(TRUSTED_PROXIES="0.0.0.0/0"), Severity.ERROR, "everybody"),
        (TRUSTED_PROXIES, subject(TRUSTED_PROXIES="::/0"), Severity.ERROR, "everybody"),
        (TRUSTED_PROXIES, subject(TRUSTED_PROXIES="10.0.0.0/8"), Severity.WARNING, "16,777,216 addresses"),
        (TRUSTED_PROXIES, subject(TRUSTED_PROXIES="8.8.8.0/24"), Severity.WARNING, "256 addresses"),
        (SECRET_KEYS, subject(SECRET_KEYS="changeme" * 5), Severity.ERROR, "in every list"),
        (CERTIFICATE, subject(PUBLIC_URL="http://shop.example"), Severity.WARNING, "plain http"),
    ],
)
async def test_a_fault_is_found_and_says_what_mends_it(
    check: Check, examined: Subject, severity: Severity, told: str
) -> None:
    (finding,) = await findings(check, examined)
    assert finding.severity is severity
    assert told in finding.what
    assert finding.why
    assert finding.mend


async def test_a_balancer_that_checks_nobody_is_found() -> None:
    unchecked = replace(subject(), balancer=Balancer.parse("backend web\n    server one 127.0.0.1:1\n", {}))
    (finding,) = await findings(HEALTH_CHECKS, unchecked)
    assert "checks its servers at all" in finding.what


@pytest.mark.parametrize(
    ("supervised", "severity"), [(True, None), (None, Severity.NOTE), (False, Severity.ERROR)]
)
async def test_a_fleet_without_its_supervisor_is_found(
    *, supervised: bool | None, severity: Severity | None
) -> None:
    told = await findings(SUPERVISION, replace(subject(), supervised=supervised))
    assert [finding.severity for finding in told] == ([severity] if severity else [])


async def test_one_replica_with_sessions_in_its_memory_is_no_fault() -> None:
    assert await findings(STICKINESS, subject(SESSION_URL="memory://", replicas=1)) == []


async def test_sticky_visitors_are_no_fault_where_sessions_are_kept_in_memory() -> None:
    assert await findings(STICKINESS, subject({"LB_STICKY": "k"}, SESSION_URL="memory://")) == []


async def test_plain_http_on_this_machine_is_no_fault() -> None:
    assert await findings(CERTIFICATE, subject(PUBLIC_URL="http://127.0.0.1:8080")) == []


async def test_without_a_balancer_there_is_nothing_to_look_at() -> None:
    blind = Subject(settings={"configuration": settings()}, replicas=2)
    for check in (HEALTH_CHECKS, STICKINESS, TIMEOUTS):
        (finding,) = await findings(check, blind)
        assert finding.severity is Severity.NOTE
        assert "--haproxy" in finding.what


async def test_a_password_that_is_a_key_too_is_found() -> None:
    key = secrets.token_hex(32)
    (finding,) = await findings(SECRET_KEYS, subject(SECRET_KEYS=key, SESSION_URL=f"redis://:{key}@redis/0"))
    assert "CHOPHO_SESSION_URL" in finding.what
    assert key not in repr(finding)


async def test_replicas_that_do_not_accept_one_anothers_cookies_are_found() -> None:
    new, old = secrets.token_hex(32), secrets.token_hex(32)
    rotating = {"app1": settings(SECRET_KEYS=f"{new},{old}"), "app2": settings(SECRET_KEYS=f"{old},{new}")}
    apart = {"app1": settings(SECRET_KEYS=new), "app2": settings(SECRET_KEYS=f"{old},{new}")}
    assert await findings(SECRET_KEYS, Subject(settings=rotating, replicas=2)) == []
    (finding,) = await findings(SECRET_KEYS, Subject(settings=apart, replicas=2))
    assert finding.what == "app1 does not accept what app2 signs"


@pytest.mark.parametrize(
    "key", ["a" * 40, "0123456789abcdef" * 4, "my-shops-secret-key-0123456789abcdef", "abcabcabd" * 6]
)
def test_a_key_that_can_be_guessed_is_known(key: str) -> None:
    assert weakness(key)


def test_random_keys_are_not_taken_for_weak_ones() -> None:
    made = [make(32) for make in (secrets.token_hex, secrets.token_urlsafe) for _ in range(500)]
    told = [weakness(key) or "" for key in made]
    # One key in a hundred thousand may spell a word of the list by chance.
    assert not [reason for reason in told if reason and "word" not in reason]


NOW: Final = datetime(2026, 5, 6, 14, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    ("days", "severity"), [(22, None), (20, Severity.WARNING), (0, Severity.ERROR), (-3, Severity.ERROR)]
)
def test_a_certificate_is_told_of_before_it_ends(days: int, severity: Severity | None) -> None:
    faults = judged(NOW + timedelta(days=days), now=NOW, where="shop.example:443")
    assert [fault.severity for fault in faults] == ([severity] if severity else [])


@pytest.mark.parametrize(
    ("readings", "severity"),
    [
        ({"app1": (0.0, 0.01), "app2": (0.9, 0.01)}, None),
        ({"app1": (0.0, 2.0), "app2": (3.0, 0.1)}, None),  # too unsure to be told
        ({"app1": (-1.0, 0.01), "app2": (1.0, 0.01)}, Severity.WARNING),
        ({"app1": (0.0, 0.01), "Redis r:1": (-60.0, 0.01)}, Severity.ERROR),
    ],
)
def test_clocks_that_are_surely_apart_are_told(
    readings: dict[str, tuple[float, float]], severity: Severity | None
) -> None:
    assert [fault.severity for fault in apart(readings)] == ([severity] if severity else [])
