"""What every store promises about all sessions of a user."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from ..changes import Changes
from ..config import SessionConfig
from ..ports import SessionStore
from ..records import Draft, Ended
from .clock import Clock
from .storing import Backend, committed, is_over, live


def of(user: str, device: str = "Firefox") -> Draft:
    """A session of the user."""
    return Draft(fields={"a": b"1"}, user=user, device=device)


class RevokingContract(Backend):
    """Listing and ending the sessions of a user."""

    async def test_the_list_shows_the_users_live_sessions(self, store: SessionStore, clock: Clock) -> None:
        first = await store.create(of("user:1", "Firefox"))
        clock.advance(timedelta(seconds=1))
        second = await store.create(of("user:1", "Chrome"))
        ended = await store.create(of("user:1", "Safari"))
        await store.create(of("user:2", "Edge"))
        await store.create(Draft(fields={"a": b"1"}))
        await store.end(ended.ticket)
        devices = await store.devices("user:1", current=first.ticket)
        assert [(d.device, d.current) for d in devices] == [("Chrome", False), ("Firefox", True)]
        assert len({device.handle for device in devices} | {first.ticket, second.ticket}) == 4

    async def test_ended_by_its_handle_only_by_its_own_user(self, store: SessionStore) -> None:
        mine, other = await store.create(of("user:1")), await store.create(of("user:1"))
        (handle,) = [d.handle for d in await store.devices("user:1", current=mine.ticket) if d.current]
        assert not await store.end_one("user:2", handle)
        assert not await store.end_one("user:1", "0" * 64)
        assert await store.end_one("user:1", handle)
        assert not await store.end_one("user:1", handle)
        assert await is_over(store, mine.ticket)
        assert (await live(store, other.ticket)).user == "user:1"

    async def test_an_end_that_was_kept_by_its_handle_is_made_again(self, store: SessionStore) -> None:
        mine, other = await store.create(of("user:1")), await store.create(of("user:1"))
        visitor = await store.create(Draft(fields={"a": b"1"}))
        (device,) = [d for d in await store.devices("user:1", current=mine.ticket) if d.current]
        assert store.handle(mine.ticket) == device.handle
        for ended in (mine, mine, visitor):
            await store.end_again(store.handle(ended.ticket))
            assert await is_over(store, ended.ticket)
        await store.end_again("0" * 64)
        assert (await live(store, other.ticket)).user == "user:1"
        assert len(await store.devices("user:1", current=None)) == 1

    async def test_all_sessions_of_the_user_end_and_nobody_elses(self, store: SessionStore) -> None:
        mine = [await store.create(of("user:1")) for _ in range(3)]
        other = await store.create(of("user:2"))
        await store.end_all("user:1")
        assert [await is_over(store, one.ticket) for one in mine] == [True] * 3
        assert await store.devices("user:1", current=None) == []
        assert (await live(store, other.ticket)).user == "user:2"

    async def test_a_login_after_the_end_of_all_lives(self, store: SessionStore) -> None:
        for _ in range(20):
            await store.end_all("user:1")
            after = await store.create(of("user:1"))
            assert (await live(store, after.ticket)).user == "user:1"

    async def test_no_write_to_a_revoked_session_is_reported_done(self, store: SessionStore) -> None:
        session = await store.create(of("user:1"))
        await live(store, session.ticket)
        await store.end_all("user:1")
        assert isinstance(await store.commit(session.ticket, Changes(put={"a": b"2"})), Ended)
        assert isinstance(await store.claim(session.ticket), Ended)

    async def test_epochs_only_rise(self, store: SessionStore) -> None:
        epochs = [await store.end_all("user:1") for _ in range(20)]
        assert epochs == sorted(set(epochs))

    async def test_an_epoch_given_again_ends_what_it_ended_and_nothing_after(
        self, store: SessionStore, clock: Clock
    ) -> None:
        before = await store.create(of("user:1"))
        clock.advance(timedelta(seconds=1))
        epoch = await store.end_all("user:1")
        after = await store.create(of("user:1"))
        for _ in range(2):
            assert await store.end_all("user:1", epoch=epoch) == epoch
            assert await is_over(store, before.ticket)
            assert (await live(store, after.ticket)).user == "user:1"
        assert await store.end_all("user:1", epoch=epoch - 1) == epoch

    async def test_a_session_that_was_ended_so_can_end_nobody(self, store: SessionStore) -> None:
        mine, thief = await store.create(of("user:1")), await store.create(of("user:1"))
        epoch = await store.end_all("user:1", own=mine.epoch)
        assert epoch > mine.epoch
        assert await store.end_all("user:1", own=thief.epoch) == 0
        reissued = await store.create(Draft(fields={"a": b"1"}, user="user:1", epoch=epoch))
        assert (await live(store, reissued.ticket)).epoch == epoch
        assert await store.end_all("user:1", own=epoch) > epoch
        assert await is_over(store, reissued.ticket)

    async def test_a_login_that_a_revocation_overtook_is_dead_from_its_birth(
        self, store: SessionStore
    ) -> None:
        began = await store.epoch("user:1")
        await store.end_all("user:1")
        late = await store.create(Draft(fields={"a": b"1"}, user="user:1", epoch=began))
        assert await is_over(store, late.ticket)

    async def test_a_store_remembers_what_ended_sessions_once_it_was_told(self, store: SessionStore) -> None:
        assert not await store.remembers()
        await store.remember()
        assert await store.remembers()

    async def test_sessions_are_counted_where_they_can_be(self, store: SessionStore) -> None:
        created = [await store.create(of("user:1")), await store.create(Draft(fields={"a": b"1"}))]
        assert await store.count() in {2, None}
        await store.end(created[0].ticket)
        assert await store.count() in {1, None}

    async def test_logins_racing_the_end_of_all_are_over_or_from_after_it(self, store: SessionStore) -> None:
        for _ in range(10):
            starting = [asyncio.create_task(store.create(of("user:1"))) for _ in range(5)]
            epoch = await store.end_all("user:1")
            created = await asyncio.gather(*starting)
            alive = [record for record in created if not await is_over(store, record.ticket)]
            assert all(record.epoch >= epoch for record in alive)
            assert len(await store.devices("user:1", current=None)) == len(alive)
            await store.end_all("user:1")

    async def test_a_use_under_way_never_brings_a_revoked_session_back(
        self, store: SessionStore, clock: Clock, config: SessionConfig
    ) -> None:
        for _ in range(10):
            session = await store.create(of("user:1"))
            clock.advance(config.idle_timeout * 0.5)
            await asyncio.gather(
                store.load(session.ticket),
                store.end_all("user:1"),
                store.commit(session.ticket, Changes(put={"a": b"2"})),
                store.load(session.ticket),
            )
            assert await is_over(store, session.ticket)

    async def test_parallel_logins_are_all_listed(self, store: SessionStore) -> None:
        created = await asyncio.gather(*(store.create(of("user:1")) for _ in range(20)))
        assert len(await store.devices("user:1", current=None)) == 20
        ending = [store.end(record.ticket) for record in created[:10]]
        starting = [store.create(of("user:1")) for _ in range(10)]
        await asyncio.gather(*ending, *starting)
        assert len(await store.devices("user:1", current=None)) == 20

    async def test_a_used_session_stays_in_the_list(
        self, store: SessionStore, clock: Clock, config: SessionConfig
    ) -> None:
        session = await store.create(of("user:1"))
        ticket = session.ticket
        for _ in range(3):
            clock.advance(config.idle_timeout * 0.6)
            ticket = (await committed(store, ticket, Changes(put={"a": b"1"}))).ticket
        (device,) = await store.devices("user:1", current=ticket)
        assert device.current
        assert device.last_seen_at > device.created_at
