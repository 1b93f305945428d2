"""The session layer of one app: its stores, its keys, its limits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import Any, Final, TypeVar

from .backends import stores_of
from .config import SessionConfig
from .cookies import cookie_values
from .errors import StoreUnavailable, TooLarge
from .ports import SessionStore
from .records import Device, Draft, Ended, Record
from .tickets import LONG, REMEMBERED
from .user_ids import checked_user

_Value = TypeVar("_Value")


_TRIED: Final = 4
"""Cookies of our name in a line, and lines of such, that are verified: browsers send two at most, attackers hundreds."""


class _Forged(LookupError):
    """Cookies of our name, and none of them signed here."""


class Sessions:
    """Opens and closes the stores and finds sessions in them. New sessions go to the first store.

    Whatever takes a user raises `BadUser` for an id that can be nobody's.
    """

    def __init__(self, stores: Sequence[SessionStore], config: SessionConfig) -> None:
        self.config = config
        self.stores = tuple(stores)
        self.cookie = config.cookie.encode()
        self._by_kind = {
            store.kind.encode(): tuple(one for one in stores if one.kind == store.kind) for store in stores
        }
        # A shopper comes back with the same cookies. What a signature says never changes; whether the session
        # still lives is asked each time.
        self._remembered = lru_cache(REMEMBERED)(self._ticket_in)
        self._finishing: set[asyncio.Task[Any]] = set()

    @classmethod
    def from_url(
        cls,
        url: str,
        *,
        keys: Sequence[str],
        config: SessionConfig | None = None,
        also_accept: str | None = None,
    ) -> Sessions:
        """Without I/O; raises `ValueError` for a URL, key or limit that cannot work."""
        config = config or SessionConfig()
        urls = [url] if also_accept is None else [url, also_accept]
        return cls(stores_of(urls, config, keys), config)

    @property
    def primary(self) -> SessionStore:
        """Where new and rotated sessions go."""
        return self.stores[0]

    async def open(self) -> None:
        """Begin to connect; an absent server is no error here."""
        for store in self.stores:
            await store.open()

    async def close(self) -> None:
        """Let rotations under way finish, then close in reverse."""
        if self._finishing:
            await asyncio.wait(self._finishing)
        for store in reversed(self.stores):
            await store.close()

    def presented(self, headers: Iterable[tuple[bytes, bytes]]) -> str | None:
        """The ticket of the first cookie of our name that was signed here; no I/O."""
        forged = 0
        for header, line in headers:
            if header == b"cookie" and self.cookie in line and forged < _TRIED:
                try:
                    return self._ticket_in(line) if len(line) > LONG else self._remembered(line)
                except _Forged:
                    forged += 1
                except LookupError:
                    continue
        return None

    def _ticket_in(self, line: bytes) -> str:
        """The ticket in a line of cookies; raises `LookupError` where there is none."""
        values = list(islice(cookie_values(line, self.cookie), _TRIED))
        for value in values:
            stores = self._by_kind.get(value.partition(b".")[0])
            ticket = stores[0].seal.open(value) if stores else None
            if ticket is not None:
                return ticket
        raise _Forged if values else LookupError

    def homes(self, ticket: str) -> tuple[SessionStore, ...]:
        """The stores that may hold the session, in the order to ask them."""
        return self._by_kind[ticket.partition(".")[0].encode()]

    async def find(self, ticket: str, *, presented: bool = True) -> tuple[SessionStore, Record | Ended]:
        """The session and the store that holds it.

        A ticket that carries its session is alive only where none of its stores knows that it ended.
        """
        homes = self.homes(ticket)
        if not homes[0].concurrent_writes:
            for store in homes[1:]:
                ended = await store.load(ticket, presented=False)
                if isinstance(ended, Ended):
                    return store, ended
            return homes[0], await homes[0].load(ticket, presented=presented)
        for store in homes[:-1]:
            found = await store.load(ticket, presented=presented)
            if isinstance(found, Record):
                return store, found
        return homes[-1], await homes[-1].load(ticket, presented=presented)

    async def rotate(
        self, store: SessionStore, ticket: str, draft: Callable[[Record], Draft]
    ) -> Record | None:
        """Replace a session by a new one made from its last state; None when it ended or another won."""
        claim = await store.claim(ticket)
        if isinstance(claim, Ended):
            return None
        record = None
        try:
            record = await self._replacement(store, draft(claim.record))
        finally:
            if record is None:
                with suppress(StoreUnavailable):
                    await store.release(claim)
        if await store.settle(claim):
            return record
        await self.homes(record.ticket)[0].end(record.ticket)
        return None

    async def _replacement(self, store: SessionStore, draft: Draft) -> Record:
        """In the first store; what is too large for it stays where it was."""
        try:
            return await self.primary.create(draft)
        except TooLarge:
            if store.kind == self.primary.kind:
                raise
            return await store.create(draft)

    async def end_others(
        self, store: SessionStore, ticket: str, user: str, draft: Callable[[Record], Draft]
    ) -> tuple[Record | None, int]:
        """End every session of the user and reissue this one, None when it ended meanwhile; and the epoch."""
        claim = await store.claim(ticket)
        if isinstance(claim, Ended):
            return None, 0
        # Two sessions that end each other: the epoch lets one of them, and dates it before what comes later.
        epoch = await store.end_all(user, own=claim.record.epoch)
        if not epoch:
            return None, 0
        if len(self.stores) > 1:
            # What lies elsewhere is dated by another clock. The first store goes last, so that two who end each
            # other from different stores are told apart there.
            epoch = await self.end_all(user)
        return await self._replacement(store, replace(draft(claim.record), epoch=epoch)), epoch

    async def devices(self, user: str, *, current: str | None = None) -> Sequence[Device]:
        """The user's live sessions in every store, the latest seen first."""
        # Two stores in one Redis list the same sessions.
        found = {
            device.handle: device
            for store in reversed(self.stores)
            for device in await store.devices(checked_user(user), current=current)
        }
        return sorted(found.values(), key=lambda device: device.last_seen_at, reverse=True)

    async def end_one(self, user: str, handle: str) -> bool:
        """End the user's session with that handle; False when there is none."""
        checked_user(user)
        # Handles are ours and plain; what is not may not even be text that a store could be asked for.
        return handle.isascii() and any([await store.end_one(user, handle) for store in self.stores])

    async def end_again(self, handle: str) -> None:
        """End one session again whose end was kept; see `Session.logout`."""
        for store in self.stores:
            await store.end_again(handle)

    async def end_all(self, user: str, *, epoch: int | None = None) -> int:
        """End every session the user has by now, in every store; returns the epoch that ended them.

        Keep the epoch where it is safe, and give it again after the store was emptied or failed over: that
        ends what was ended then, and nothing that began after it.
        """
        checked_user(user)
        # The first store last: a session that moves there meanwhile was dated by it before, or is found ended.
        raised = {store: await store.end_all(user, epoch=epoch) for store in reversed(self.stores)}
        highest = max(raised.values())
        if epoch is None:
            # A session that moved was dated by another server's clock than the one that judges it.
            for store in [store for store, own in raised.items() if own < highest]:
                await store.end_all(user, epoch=highest)
        return highest

    async def epoch(self, user: str) -> int:
        """What dates a login of the user that begins now.

        Ask before the password is checked and give it to `Session.login`: a login that a revocation
        overtook, by a change of the password say, is then dead from its birth.
        """
        return await self.primary.epoch(checked_user(user))

    async def remembers(self) -> bool:
        """Whether every store still knows all that ended sessions; see `SessionStore.remembers`."""
        return all([await store.remembers() for store in self.stores])

    async def remember(self) -> None:
        """Revocations kept elsewhere were given again since `remembers` said no."""
        for store in self.stores:
            await store.remember()

    async def counts(self) -> Sequence[int | None]:
        """How many sessions live in each store, None where nobody knows.

        The second store can go when its count is 0, or the absolute limit after the change at the latest.
        """
        return [await store.count() for store in self.stores]

    async def finish(self, work: Coroutine[Any, Any, _Value]) -> _Value:
        """Do work of several steps to its end even when the request that asked for it is cancelled."""
        task = asyncio.create_task(work)
        self._finishing.add(task)
        task.add_done_callback(self._finished)
        return await asyncio.shield(task)

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._finishing.discard(task)
        if not task.cancelled():
            # Whoever waited has it; nobody may have waited.
            task.exception()
