"""What every store promises about one session."""

from __future__ import annotations

import asyncio
import random
import secrets
from datetime import timedelta

import pytest

from ..changes import Changes, Step, applied
from ..config import LEASE_MS, SessionConfig
from ..errors import Refused, TooLarge
from ..ports import SessionStore
from ..records import Claim, Committed, Draft, Ended, Record
from .clock import Clock

LEASE = timedelta(milliseconds=LEASE_MS)


async def live(store: SessionStore, ticket: str) -> Record:
    """The session, which must live."""
    found = await store.load(ticket)
    assert isinstance(found, Record)
    return found


async def is_over(store: SessionStore, ticket: str) -> bool:
    """Whether the session has ended."""
    return isinstance(await store.load(ticket), Ended)


async def committed(store: SessionStore, ticket: str, changes: Changes) -> Committed:
    """The outcome of a commit that must succeed."""
    outcome = await store.commit(ticket, changes)
    assert isinstance(outcome, Committed)
    return outcome


async def claimed(store: SessionStore, ticket: str) -> Claim:
    """A claim that must succeed."""
    claim = await store.claim(ticket)
    assert isinstance(claim, Claim)
    return claim


class Fixtures:
    """The time and the limits of one test."""

    @pytest.fixture
    def clock(self) -> Clock:
        """The time."""
        return Clock()

    @pytest.fixture
    def idle_timeout(self) -> timedelta:
        """The sliding limit; a backend may have a shorter one of its own."""
        return SessionConfig().idle_timeout

    @pytest.fixture
    def config(self, clock: Clock, idle_timeout: timedelta) -> SessionConfig:
        """The defaults, under this suite's clock and a name of its own."""
        name = f"contract-{secrets.token_hex(4)}"
        # Patient: what a slow server does to a session is not the matter here.
        patience = timedelta(seconds=5)
        return SessionConfig(
            namespace=name, cookie_secure=False, clock=clock, timeout=patience, idle_timeout=idle_timeout
        )


class Backend(Fixtures):
    """A subclass brings `store`."""

    @pytest.fixture
    def store(self) -> SessionStore:
        """The backend under test."""
        raise NotImplementedError


class StoreContract(Backend):
    """One session: created, read, changed, replaced, over."""

    async def test_a_created_session_is_loaded_as_it_was_created(self, store: SessionStore) -> None:
        draft = Draft(fields={"a": b"1", "b": b'"x"'}, user="user:1", device="Firefox", address="::1")
        ticket = (await store.create(draft)).ticket
        found = await live(store, ticket)
        assert (found.user, found.fields) == ("user:1", dict(draft.fields))

    async def test_every_session_has_a_ticket_of_its_own(self, store: SessionStore) -> None:
        tickets = {(await store.create(Draft(fields={"a": b"1"}))).ticket for _ in range(20)}
        assert len(tickets) == 20

    async def test_a_forged_seal_opens_nothing(self, store: SessionStore) -> None:
        ticket = (await store.create(Draft(fields={"a": b"1"}))).ticket
        value = store.seal.close(ticket).encode()
        assert store.seal.open(value) == ticket
        other = b"A" if value[9:10] == b"B" else b"B"
        spoilt = [value[:9] + other + value[10:], value[:-9] + other * 9, value[:-1], value + b"A"]
        forged = [*spoilt, value[:-20], b"", b".", b"r1..", b"\xff.\xff"]
        assert [store.seal.open(one) for one in forged] == [None] * len(forged)

    async def test_a_commit_changes_only_what_it_names(self, store: SessionStore) -> None:
        ticket = (await store.create(Draft(fields={"a": b"1", "b": b"2", "c": b"3"}))).ticket
        change = Changes(put={"b": b"20"}, drop=frozenset({"c"}))
        ticket = (await committed(store, ticket, change)).ticket
        assert (await live(store, ticket)).fields == {"a": b"1", "b": b"20"}

    async def test_an_addition_out_of_bounds_changes_nothing(self, store: SessionStore) -> None:
        ticket = (await store.create(Draft(fields={"n": b"9"}))).ticket
        changes = Changes(put={"a": b"1"}, add={"m": Step(by=1), "n": Step(by=2, high=10)})
        outcome = await store.commit(ticket, changes)
        assert isinstance(outcome, Refused)
        assert outcome.field == "n"
        assert (await live(store, ticket)).fields == {"n": b"9"}

    async def test_a_session_never_outgrows_its_limits(
        self, store: SessionStore, config: SessionConfig
    ) -> None:
        ticket = (await store.create(Draft(fields={"n": b"9"}))).ticket
        many = {f"f{i}": b"1" for i in range(config.max_fields)}
        assert isinstance(await store.commit(ticket, Changes(put=many)), TooLarge)
        big = {"big": b"x" * config.max_bytes}
        assert isinstance(await store.commit(ticket, Changes(put=big)), TooLarge)
        assert (await live(store, ticket)).fields == {"n": b"9"}
        with pytest.raises(TooLarge):
            await store.create(Draft(fields=big))

    async def test_any_change_has_the_outcome_of_the_reference(
        self, store: SessionStore, config: SessionConfig
    ) -> None:
        chance = random.Random(7)  # noqa: S311 - repeatable cases, no secrets
        fields: dict[str, bytes] = {"a": b"5", "b": b'"text"'}
        ticket = (await store.create(Draft(fields=fields))).ticket
        for _ in range(150):
            changes = _any_changes(chance)
            outcome = await store.commit(ticket, changes)
            try:
                fields, numbers = applied(fields, changes, limits=config)
            except Refused as refused:
                assert isinstance(outcome, Refused)
                assert (outcome.field, outcome.reason) == (refused.field, refused.reason)
            else:
                assert isinstance(outcome, Committed)
                ticket = outcome.ticket
                assert dict(outcome.numbers) == numbers
            assert (await live(store, ticket)).fields == fields

    async def test_concurrent_additions_all_count(self, store: SessionStore) -> None:
        if not store.concurrent_writes:
            pytest.skip(
                "this backend keeps the fields in the ticket, so parallel writes overwrite each other"
            )
        ticket = (await store.create(Draft(fields={"n": b"0"}))).ticket
        adding = [
            store.commit(ticket, Changes(add={"n": Step(by=1), f"f{i}": Step(by=1)})) for i in range(50)
        ]
        outcomes = await asyncio.gather(*adding)
        assert sorted(o.numbers["n"] for o in outcomes if isinstance(o, Committed)) == list(range(1, 51))
        assert len((await live(store, ticket)).fields) == 51

    async def test_of_concurrent_comparisons_one_succeeds(self, store: SessionStore) -> None:
        if not store.concurrent_writes:
            pytest.skip(
                "this backend keeps the fields in the ticket, so parallel writes overwrite each other"
            )
        ticket = (await store.create(Draft(fields={"id": b"1"}))).ticket
        swap = Changes(put={"id": b"2"}, expect={"id": b"1", "other": None})
        outcomes = await asyncio.gather(*(store.commit(ticket, swap) for _ in range(20)))
        assert sum(isinstance(outcome, Committed) for outcome in outcomes) == 1

    async def test_what_ended_stays_ended(self, store: SessionStore) -> None:
        ticket = (await store.create(Draft(fields={"a": b"1"}, user="user:1"))).ticket
        await store.end(ticket)
        await store.end(ticket)
        assert isinstance(await store.commit(ticket, Changes(put={"a": b"2"})), Ended)
        assert isinstance(await store.claim(ticket), Ended)
        found = await store.load(ticket)
        assert isinstance(found, Ended)
        assert found.at_ms is not None
        assert not found.rotated

    async def test_idle_sessions_end_and_used_ones_live_on(
        self, store: SessionStore, clock: Clock, config: SessionConfig
    ) -> None:
        used = (await store.create(Draft(fields={"a": b"1"}))).ticket
        unused = (await store.create(Draft(fields={"a": b"1"}))).ticket
        for _ in range(3):
            clock.advance(config.idle_timeout * 0.6)
            used = (await live(store, used)).ticket
            used = (await committed(store, used, Changes(put={"a": b"1"}))).ticket
        assert await is_over(store, unused)
        assert isinstance(await store.commit(unused, Changes(put={"a": b"2"})), Ended)

    async def test_a_look_by_nobody_is_no_use(
        self, store: SessionStore, clock: Clock, config: SessionConfig
    ) -> None:
        ticket = (await store.create(Draft(fields={"a": b"1"}, user="user:1"))).ticket
        clock.advance(config.idle_timeout * 0.6)
        found = await store.load(ticket, presented=False)
        assert isinstance(found, Record)
        assert found.ticket == ticket
        clock.advance(config.idle_timeout * 0.6)
        assert await is_over(store, ticket)

    async def test_no_use_outlives_the_absolute_limit(
        self, store: SessionStore, clock: Clock, config: SessionConfig
    ) -> None:
        ticket = (await store.create(Draft(fields={"a": b"1"}))).ticket
        steps = config.absolute_timeout // (config.idle_timeout * 0.9)
        for _ in range(steps):
            clock.advance(config.idle_timeout * 0.9)
            ticket = (await committed(store, ticket, Changes(put={"a": b"1"}))).ticket
        clock.advance(config.idle_timeout * 0.9)
        assert await is_over(store, ticket)
        assert isinstance(await store.commit(ticket, Changes(put={"a": b"2"})), Ended)

    async def test_one_of_many_claims_wins(self, store: SessionStore) -> None:
        ticket = (await store.create(Draft(fields={"a": b"1"}))).ticket
        claims = await asyncio.gather(*(store.claim(ticket) for _ in range(50)))
        won = [claim for claim in claims if isinstance(claim, Claim)]
        assert [claim.record.fields for claim in won] == [{"a": b"1"}]
        assert isinstance(await store.commit(ticket, Changes(put={"a": b"2"})), Ended)
        assert (await live(store, ticket)).fields == {"a": b"1"}
        assert await store.settle(won[0])
        found = await store.load(ticket)
        assert isinstance(found, Ended)
        assert found.rotated

    async def test_a_claim_given_back_leaves_the_session_as_it_was(self, store: SessionStore) -> None:
        ticket = (await store.create(Draft(fields={"a": b"1"}))).ticket
        await store.release(await claimed(store, ticket))
        assert (await live(store, ticket)).fields == {"a": b"1"}
        await claimed(store, ticket)

    async def test_a_claim_whose_holder_died_lapses(self, store: SessionStore, clock: Clock) -> None:
        ticket = (await store.create(Draft(fields={"a": b"1"}))).ticket
        late = await claimed(store, ticket)
        clock.advance(LEASE)
        assert (await live(store, ticket)).fields == {"a": b"1"}
        ticket = (await committed(store, ticket, Changes(put={"a": b"2"}))).ticket
        winner = await claimed(store, ticket)
        assert not await store.settle(late)
        assert await store.settle(winner)
        assert await is_over(store, ticket)

    async def test_a_claim_that_lapsed_cannot_undo_what_was_written_since(
        self, store: SessionStore, clock: Clock
    ) -> None:
        if not store.concurrent_writes:
            pytest.skip("writes at the same time overwrite each other in this backend")
        ticket = (await store.create(Draft(fields={"a": b"1"}))).ticket
        late = await claimed(store, ticket)
        clock.advance(LEASE)
        await committed(store, ticket, Changes(put={"a": b"2"}))
        assert not await store.settle(late)
        assert (await live(store, ticket)).fields == {"a": b"2"}


def _any_changes(chance: random.Random) -> Changes:
    def perhaps(share: float) -> bool:
        return chance.random() < share

    def some(share: float) -> list[str]:
        return [name for name in "abcdef" if perhaps(share)]

    return Changes(
        put={name: chance.choice([b"0", b"7", b"-3", b'"x"', b"1.5", b"[1]"]) for name in some(0.2)},
        drop=frozenset(some(0.1)),
        expect={name: chance.choice([None, b"7", b"0"]) for name in some(0.05)},
        default=dict.fromkeys(some(0.2), b"1"),
        add={
            name: Step(
                by=chance.randint(-9, 9),
                low=chance.choice([None, 0, -5]),
                high=chance.choice([None, 5, 10]),
                clamp=perhaps(0.3),
                drop_zero=perhaps(0.3),
            )
            for name in some(0.2)
        },
    )
