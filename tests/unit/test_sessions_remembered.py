"""What is remembered of cookies: bounded, whoever sends them, and never a reason to accept one."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterable
from datetime import timedelta

import pytest

from app.sessions import SessionConfig, Sessions
from app.sessions.contract import Clock
from app.sessions.jwt_keys import KeyRing
from app.sessions.jwt_tokens import Tokens
from app.sessions.records import Draft, Ended, Record
from app.sessions.tickets import REMEMBERED, new_ticket

NEW, OLD = "new key of thirty-two bytes or so!", "old key of thirty-two bytes or so!"


def cookie(sessions: Sessions, ticket: str, before: bytes = b"") -> tuple[bytes, bytes]:
    """The header of a request with that ticket, and with other cookies before it."""
    value = sessions.homes(ticket)[0].seal.close(ticket)
    return b"cookie", before + sessions.cookie + b"=" + value.encode()


def megabytes_kept(by: Callable[[bytes], object], given: Iterable[bytes]) -> float:
    """What is left in memory after all of them."""
    tracemalloc.start()
    try:
        for one in given:
            by(one)
        return tracemalloc.get_traced_memory()[0] / 1e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("filler", "most_mb"), [(8000, 0.2), (800, 3)], ids=["8 kB", "1 kB"])
def test_lines_of_cookies_by_the_thousand_leave_little_behind(filler: int, most_mb: float) -> None:
    """Each is signed here, and each is another line."""
    sessions = Sessions.from_url("memory://", keys=[NEW])
    _, signed = cookie(sessions, new_ticket("m1", "ns", "user:1"))
    lines = (b"x=%06d%s; %s" % (n, b"x" * filler, signed) for n in range(2 * REMEMBERED))
    kept = megabytes_kept(lambda line: sessions.presented([(b"cookie", line)]), lines)
    assert kept < most_mb


def test_lines_that_nobody_signed_leave_nothing_behind() -> None:
    sessions = Sessions.from_url("memory://", keys=[NEW])
    lines = (sessions.cookie + b"=m1.%06d%s" % (n, b"x" * 500) for n in range(2 * REMEMBERED))
    assert megabytes_kept(lambda line: sessions.presented([(b"cookie", line)]), lines) < 0.2


def test_full_tokens_by_the_hundred_leave_little_behind() -> None:
    """Whoever has a cart can have a token made with every request; one takes 20 kB when it is read."""
    config = SessionConfig()
    made = Tokens(KeyRing.from_secrets([NEW]), config)
    now = config.now_ms()
    cart = {f"c{n}": b"1" for n in range(199)}
    record = Record(ticket="", created_ms=now, seen_ms=now, user=None, epoch=0, fields=cart)
    given = [made.write(record, f"{n}").encode() for n in range(400)]
    assert megabytes_kept(made.open, given) < 6


@pytest.mark.parametrize("url", ["memory://", "jwt+redis://nowhere.invalid"])
def test_what_is_remembered_ends_with_the_key_that_signed_it(url: str) -> None:
    before, after, later = (Sessions.from_url(url, keys=keys) for keys in ([OLD], [NEW, OLD], [NEW]))
    ticket = ticket_of(before)
    header = cookie(before, ticket)
    for _ in range(2):
        assert [one.presented([header]) for one in (before, after, later)] == [ticket, ticket, None]


@pytest.mark.parametrize("url", ["memory://", "jwt+redis://nowhere.invalid"])
async def test_what_is_remembered_is_over_when_its_time_is(url: str) -> None:
    clock = Clock()
    sessions = Sessions.from_url(url, keys=[NEW], config=SessionConfig(clock=clock))
    ticket = ticket_of(sessions)
    if url == "memory://":
        ticket = (await sessions.primary.create(Draft(fields={"a": b"1"}))).ticket
    header = cookie(sessions, ticket)
    assert sessions.presented([header]) == ticket
    clock.advance(timedelta(minutes=30))
    assert sessions.presented([header]) == ticket
    _, found = await sessions.find(ticket)
    assert isinstance(found, Ended)


def ticket_of(sessions: Sessions) -> str:
    """A ticket of the first backend, made without asking a server."""
    seal = sessions.primary.seal
    if not isinstance(seal, Tokens):
        return new_ticket(sessions.primary.kind, "ns", "user:1")
    now = sessions.config.now_ms()
    record = Record(ticket="", created_ms=now, seen_ms=now, user="user:1", epoch=0, fields={})
    return seal.write(record, "jti")
