"""Two stores at once, as while one replaces the other: what ends sessions ends them in both."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta

from app.sessions import Session, SessionConfig, SessionEnded, Sessions
from app.sessions.contract import Clock
from app.sessions.memory import MemoryStore
from app.sessions.records import Draft, Ended
from app.sessions.tickets import SignedSeal

KEYS = ["a key of thirty-two bytes or more"]
MINE = Draft(fields={"a": b"1"}, user="user:1")


class Awaited(MemoryStore):
    """Lets others go first after each end, as a store behind a network does."""

    async def end_all(self, user: str, *, epoch: int | None = None, own: int = 0) -> int:
        raised = await super().end_all(user, epoch=epoch, own=own)
        await asyncio.sleep(0)
        return raised


def two(*, ahead: timedelta = timedelta(0)) -> Sessions:
    """Two stores, the second by a clock that is ahead."""
    clock = Clock()
    clock.advance(ahead)
    configs = SessionConfig(), SessionConfig(clock=clock)
    return Sessions([Awaited(config, SignedSeal(KEYS)) for config in configs], configs[0])


async def asked_with(sessions: Sessions, store: int) -> Session:
    """The request of somebody whose session is in that store."""
    ticket = (await sessions.stores[store].create(MINE)).ticket
    header = (b"cookie", sessions.cookie + b"=" + sessions.primary.seal.close(ticket).encode())
    return Session(sessions, {"type": "http", "headers": [header], "client": None})


async def lives(sessions: Sessions, session: Session) -> bool:
    """Whether the session's last cookie still is somebody's."""
    cookie = (await session.seal() or b"").partition(b";")[0]
    ticket = sessions.presented([(b"cookie", cookie)])
    return ticket is not None and not isinstance((await sessions.find(ticket))[1], Ended)


async def test_who_ends_the_others_ends_those_whose_store_is_ahead_of_time() -> None:
    sessions = two(ahead=timedelta(seconds=5))
    owner = await asked_with(sessions, 0)
    thief = (await sessions.stores[1].create(MINE)).ticket
    await owner.end_others()
    assert isinstance((await sessions.find(thief))[1], Ended)
    assert await lives(sessions, owner)


async def test_what_was_dated_by_a_clock_ahead_of_time_is_ended_at_once_too() -> None:
    sessions = two(ahead=timedelta(seconds=5))
    owner = await asked_with(sessions, 0)
    await owner.end_others()
    await sessions.end_all("user:1")
    assert not await lives(sessions, owner)
    after = (await sessions.primary.create(MINE)).ticket
    assert not isinstance((await sessions.find(after))[1], Ended)


async def test_of_two_who_end_each_other_from_different_stores_one_lives() -> None:
    sessions = two()
    both = [await asked_with(sessions, store) for store in (0, 1)]

    async def end(session: Session) -> None:
        with suppress(SessionEnded):
            await session.end_others()

    await asyncio.gather(*map(end, both))
    assert [await lives(sessions, session) for session in both].count(True) == 1
