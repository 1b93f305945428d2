"""The session layer's parts that need no store."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from starlette.requests import HTTPConnection
from starlette.types import Receive, Scope, Send

from app import sessions
from app.sessions import (
    BadUser,
    Changes,
    Refused,
    SessionConfig,
    SessionMiddleware,
    Sessions,
    Step,
    TooLate,
    merged,
    session_of,
)
from app.sessions.changes import applied
from app.sessions.cookies import set_cookie
from app.sessions.devices import device_name
from app.sessions.jwt_keys import KeyRing
from app.sessions.jwt_tokens import Tokens
from app.sessions.memory import MemoryStore
from app.sessions.merging import How
from app.sessions.records import Claim, Committed, Draft, Record, Unreadable, record_of
from app.sessions.tickets import SignedSeal, derived_keys, new_ticket, ref_of, session_id, user_ref

NEW, OLD = "new key of thirty-two bytes or so!", "old key of thirty-two bytes or so!"


def test_the_public_surface_is_small() -> None:
    assert set(sessions.__all__) == {
        "JSON", "BadUser", "Changes", "Device", "Merge", "Refused", "Session", "SessionConfig", "SessionEnded", "SessionError",
        "SessionMiddleware", "Sessions", "Step", "StoreUnavailable", "TooLarge", "TooLate", "jwks_of", "merged", "session_of",
    }  # fmt: skip


def test_tickets_signed_with_an_older_key_are_accepted_and_new_ones_use_the_first() -> None:
    before, after, later = SignedSeal([OLD]), SignedSeal([NEW, OLD]), SignedSeal([NEW])
    ticket = new_ticket("r1", "ns", "user:1")
    assert after.open(before.close(ticket).encode()) == ticket
    assert later.open(after.close(ticket).encode()) == ticket
    assert later.open(before.close(ticket).encode()) is None


@pytest.mark.parametrize("name", ["", "~u", "half a pair \ud800"])
def test_a_name_that_no_store_can_keep_is_refused(name: str) -> None:
    with pytest.raises(Refused, match="is not a name for a field"):
        Changes(put={name: b"1"}).check()


@pytest.mark.parametrize("does", ["set", "delete", "increment", "login", "logout"])
async def test_a_websocket_is_told_what_it_cannot_do_instead_of_losing_it(does: str) -> None:
    async def talk(scope: Scope, _receive: Receive, _send: Send) -> None:
        session = session_of(HTTPConnection(scope))
        assert await session.items() == {}
        deeds: dict[str, Callable[[], Awaitable[object]]] = {
            "set": lambda: session.set("a", 1),
            "delete": lambda: session.delete("a"),
            "increment": lambda: session.increment("a"),
            "login": lambda: session.login("user:1"),
            "logout": session.logout,
        }
        await deeds[does]()

    async def silent(*_: object) -> Any:
        raise AssertionError

    middleware = SessionMiddleware(talk, sessions=Sessions.from_url("memory://", keys=[NEW]))
    with pytest.raises(TooLate):
        await middleware({"type": "websocket", "headers": []}, silent, silent)


def test_nothing_that_would_log_anybody_in_shows_when_it_is_printed() -> None:
    """In a traceback with locals, say, or in a line of log."""
    ticket, now = new_ticket("r1", "ns", "user:1"), SessionConfig().now_ms()
    record = Record(ticket=ticket, created_ms=now, seen_ms=now, user="user:1", epoch=0, fields={})
    tokens = Tokens(KeyRing.from_secrets([NEW]), SessionConfig())
    token = tokens.write(record, "jti")
    (key,) = tokens.keys
    shown = repr([record, Committed(ticket, {}), Claim(record=record, stamp=""), tokens.read(token), key])
    assert "user:1" in shown
    secret = repr(key.signing)[2:-1]
    assert not [hidden for hidden in (ticket, token, secret) if hidden in shown]


def test_however_many_forged_cookies_come_a_few_are_verified() -> None:
    verified = []

    class Counting(SignedSeal):
        def open(self, value: bytes) -> str | None:
            verified.append(value)
            return super().open(value)

    config, seal = SessionConfig(cookie_secure=False), Counting([NEW])
    sessions = Sessions([MemoryStore(config, seal)], config)
    ticket = new_ticket("m1", "ns", None)
    genuine, forged = b"session=" + seal.close(ticket).encode(), b"session=m1.a..AAAA"
    others = [(b"cookie", b"a_session=1")] * 50
    assert sessions.presented([(b"cookie", b"; ".join([forged] * 300))] * 90) is None
    assert len(verified) <= 16
    assert sessions.presented([*others, (b"cookie", forged), (b"cookie", forged + b"; " + genuine)]) == ticket


@pytest.mark.parametrize("tail", ["=", "==", "=A", "!", "٣"])
def test_a_signature_is_accepted_in_one_spelling_only(tail: str) -> None:
    seal = SignedSeal([NEW])
    value = seal.close(new_ticket("r1", "ns", None))
    assert seal.open(value.encode())
    assert seal.open((value + tail).encode()) is None


@pytest.mark.parametrize("keys", [[], ["short"], [NEW, "x" * 31]])
def test_weak_keys_are_refused(keys: list[str]) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        Sessions.from_url("memory://", keys=keys)


def test_each_purpose_has_a_key_of_its_own() -> None:
    assert derived_keys([NEW], "a") != derived_keys([NEW], "b")


@pytest.mark.parametrize("user", ["", " ", "a\0", "\x85", "u" * 257])
def test_there_is_no_session_of_what_can_be_no_user(user: str) -> None:
    with pytest.raises(BadUser, match="a user's id "):
        Draft(fields={}, user=user)
    with pytest.raises(Unreadable, match="a user's id "):
        record_of("", {b"~c": b"1", b"~s": b"1", b"~u": user.encode()})


def test_a_ticket_has_256_random_bits_and_the_users_reference_only() -> None:
    kind, token, ref = new_ticket("r1", "ns", "user:1").split(".")
    assert (kind, len(token), ref) == ("r1", 43, user_ref("ns", "user:1"))
    assert "user" not in ref
    assert ref_of(new_ticket("r1", "ns", None)) == ""
    assert re.fullmatch("[0-9a-f]{64}", session_id(f"r1.{token}.{ref}"))


def test_the_cookie_is_set_and_taken_away_with_the_same_attributes() -> None:
    given = set_cookie(SessionConfig(), "value", max_age_s=60).decode().split("; ")
    taken = set_cookie(SessionConfig(), "", max_age_s=0).decode().split("; ")
    assert given == ["__Host-session=value", "Path=/", "Max-Age=60", "HttpOnly", "SameSite=Lax", "Secure"]
    assert [part for part in taken if not part.startswith("Expires=")] == [
        "__Host-session=", "Path=/", "Max-Age=0", "HttpOnly", "SameSite=Lax", "Secure",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [
        {"cookie_name": "a b"},
        {"cookie_name": ""},
        {"namespace": ""},
        {"namespace": "{tag}"},
        {"idle_timeout": timedelta(0)},
        {"idle_timeout": timedelta(days=2), "absolute_timeout": timedelta(days=1)},
        {"timeout": timedelta(0)},
    ],
)
def test_a_config_that_cannot_work_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SessionConfig(**wrong)  # type: ignore[arg-type]  # wrong on purpose


def test_the_wait_for_a_store_leaves_time_to_say_so_within_300_ms() -> None:
    assert SessionConfig().timeout <= timedelta(milliseconds=250)


def test_whole_days_count() -> None:
    assert SessionConfig(absolute_timeout=timedelta(days=2)).absolute_ms == 172_800_000


@pytest.mark.parametrize("url", ["", "redis", "mysql://x", "http://localhost", "redis://host:port"])
def test_a_url_that_names_no_backend_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Sessions.from_url(url, keys=[NEW])


@pytest.mark.parametrize("name", ["", "~u", "~"])
def test_reserved_names_are_refused(name: str) -> None:
    with pytest.raises(Refused):
        Changes(put={name: b"1"}).check()


@pytest.mark.parametrize(
    ("stored", "step", "number"),
    [
        (None, Step(by=3), 3),
        (b"10", Step(by=-1, high=5), 9),  # a step back towards the bounds is always possible
        (b"10", Step(by=1, high=5), None),
        (b"1", Step(by=-2), None),
        (b"1", Step(by=-2, low=None), -1),
        (b"1", Step(by=-2, clamp=True), 0),
        (b"4", Step(by=9, high=5, clamp=True), 5),
        (b'"x"', Step(by=1), None),
        (b"1.5", Step(by=1), None),
        (b"1_0", Step(by=1), None),
        (b"999999999999999", Step(by=1), None),
    ],
)
def test_a_step_ends_within_its_bounds_or_is_refused(
    stored: bytes | None, step: Step, number: int | None
) -> None:
    fields = {} if stored is None else {"n": stored}
    change = Changes(add={"n": step})
    if number is None:
        with pytest.raises(Refused, match="n: "):
            applied(fields, change, limits=SessionConfig())
    else:
        assert applied(fields, change, limits=SessionConfig())[1] == {"n": number}


def test_a_number_that_falls_to_zero_can_take_its_field_along() -> None:
    after, _ = applied({"n": b"1"}, Changes(add={"n": Step(by=-1, drop_zero=True)}), limits=SessionConfig())
    assert after == {}


@pytest.mark.parametrize(
    ("how", "lines"),
    [
        ("sum", {"A": 3, "B": 1, "C": 4}),
        ("max", {"A": 2, "B": 1, "C": 4}),
        ("guest", {"A": 2, "B": 1, "C": 4}),
        ("keep", {"A": 1, "B": 1, "C": 4}),
    ],
)
def test_a_guests_lines_are_merged_as_the_shop_wants(how: How, lines: dict[str, int]) -> None:
    assert merged({"A": 2, "B": 1}, {"A": 1, "C": 4}, how) == lines


def test_merged_lines_stay_within_the_limit() -> None:
    assert merged({"A": 60}, {"A": 60, "B": 120}, "sum", high=99) == {"A": 99, "B": 99}


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36", "Chrome · Android"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1", "Safari · iPhone"),
        ("Mozilla/5.0 (Windows NT 10.0; Win64) Chrome/140.0 Safari/537.36 Edg/140.0", "Edge · Windows"),
        ("Mozilla/5.0 (Windows NT 10.0) coc_coc_browser/130 Chrome/124 Safari/537.36", "Cốc Cốc · Windows"),
        ("curl/8.9", "curl"),
        ("", ""),
        ("\x1b[31mẤ" * 40, "[31mẤ" * 9 + "["),
    ],
)  # fmt: skip
def test_a_device_has_a_short_name(agent: str, name: str) -> None:
    assert device_name(agent) == name
    assert len(device_name(agent).encode()) <= 64
