"""Sessions in Redis or Valkey: one hash per session, one key per script, one round trip per step."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Sequence
from functools import lru_cache

from .changes import Changes, applied
from .config import FLIGHT_MS, LEASE_MS, SessionConfig
from .errors import Refused, StoreUnavailable, TooLarge
from .ports import Seal
from .records import Claim, Committed, Device, Draft, Ended, Record, Unreadable, hash_of, record_of
from .redis_keys import Keys
from .redis_link import Reply, ReplyError
from .redis_memory import Memory
from .redis_policy import warn_of_eviction
from .redis_replies import checked, hash_of_reply, number
from .redis_scripts import CLAIM, COMMIT, CREATE, END_ONE, SETTLE, limits_of, words_of
from .redis_server import Wire, pack
from .redis_users import Users
from .tickets import REMEMBERED, new_ticket, ref_of, session_id, user_ref

_log = logging.getLogger(__name__)

_NOTHING = Changes()


class RedisStore:
    """The store behind `redis://`, `rediss://`, `unix://` and their Sentinel and Cluster forms."""

    kind = "r1"
    concurrent_writes = True

    def __init__(self, wire: Wire, config: SessionConfig, seal: Seal, *, ending: Wire | None = None) -> None:
        self._wire = wire
        self._ending = ending or wire
        self._config = config
        self.seal = seal
        self._keys = Keys(config.namespace)
        self._users = Users(wire, config, self._keys, ending=self._ending)
        self._memory = Memory(wire, self._keys.memory, config)
        self._limits = limits_of(config)
        # A shopper comes back with the same ticket, and what to ask for it never changes.
        self._reads = lru_cache(REMEMBERED)(self._reading)
        self._looking: asyncio.Task[None] | None = None
        self._touching: dict[str, asyncio.Task[None]] = {}

    async def open(self) -> None:
        """Begin to connect, and look at the server's policy once it answers."""
        await self._wire.open()
        self._looking = asyncio.create_task(warn_of_eviction(self._wire))

    async def close(self) -> None:
        """Let touches under way finish, then hang up."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait({self._looking})
        if self._touching:
            await asyncio.wait(self._touching.values())
        if self._ending is not self._wire:
            await self._ending.close()
        await self._wire.close()

    async def load(self, ticket: str, *, presented: bool = True) -> Record | Ended:
        """One round trip: the hash, and the user's epoch where the ticket names a user."""
        flat, *epochs = await self._wire.call(*self._reads(ticket))
        epoch = 0 if not epochs or epochs[0] is None else number(epochs[0])
        if not flat:
            return await self._trace(ticket, epoch)
        try:
            record = record_of(ticket, hash_of_reply(flat))
        except Unreadable as broken:
            return await self._dropped(ticket, broken)
        return self._judged(record, epoch, presented=presented)

    async def create(self, draft: Draft) -> Record:
        """A new hash; a user's is dated by the user's epoch and listed in the index."""
        applied(draft.fields, Changes(default=draft.fields), limits=self._config)
        ticket = new_ticket(self.kind, self._config.namespace, draft.user)
        ref, name = ref_of(ticket), session_id(ticket)
        now = self._config.now_ms()
        created = now if draft.created_ms is None else draft.created_ms
        epoch = await self.epoch(draft.user) if draft.user and draft.epoch is None else draft.epoch or 0
        raw = hash_of(draft, created_ms=created, seen_ms=now, epoch=epoch)
        record = record_of(ticket, {name.encode(): value for name, value in raw.items()})
        ends = created + self._config.absolute_ms
        listing = self._users.listing(ref, name, ends_ms=ends) if draft.user else ()
        words = [word for pair in raw.items() for word in pair]
        living = str(record.ends_ms(self._config) - now)
        replies = await CREATE.run(self._wire, self._keys.session(name), living, *words, also=listing)
        if not checked(replies)[0]:
            raise StoreUnavailable("a new session was not new")
        return record

    async def commit(self, ticket: str, changes: Changes) -> Committed | Ended | Refused:
        """One script; the epoch comes with it, so that a write after a revocation is not reported done."""
        reply, *epochs = await COMMIT.run(
            self._wire,
            self._keys.session(session_id(ticket)),
            str(self._config.now_ms()),
            *self._limits,
            *words_of(changes),
            also=self._reads(ticket)[1:],
        )
        epoch = number(epochs[0]) if epochs else 0
        return _outcome(ticket, changes, reply, epoch)

    async def claim(self, ticket: str) -> Claim | Ended:
        """Mark the hash for one caller; the time of the mark is the lease's."""
        now = self._config.now_ms()
        stamp = f"{now}:{secrets.token_hex(8)}"
        key = self._keys.session(session_id(ticket))
        words = str(now), str(LEASE_MS), stamp
        flat, *epochs = await CLAIM.run(self._wire, key, *words, also=self._reads(ticket)[1:])
        epoch = number(epochs[0]) if epochs else 0
        if not flat:
            return Ended()
        try:
            record = record_of(ticket, hash_of_reply(flat))
        except Unreadable as broken:
            return await self._dropped(ticket, broken)
        alive = record.ends_ms(self._config) > now and record.epoch >= epoch
        return Claim(record=record, stamp=stamp) if alive else Ended(epoch or None)

    async def settle(self, claim: Claim) -> bool:
        """Delete what was claimed, and leave a trace of it."""
        ticket = claim.record.ticket
        key = self._keys.session(session_id(ticket))
        (ended,) = checked(await SETTLE.run(self._wire, key, claim.stamp, "end"))
        if ended:
            # Nobody depends on these: the trace only tells later requests why, and the index is a view.
            await self._wire.call(*self._bookkeeping(ticket, rotated=True))
        return bool(ended)

    async def release(self, claim: Claim) -> None:
        """Take the mark away."""
        key = self._keys.session(session_id(claim.record.ticket))
        checked(await SETTLE.run(self._wire, key, claim.stamp, "release"))

    async def end(self, ticket: str) -> None:
        """Delete the hash; only that must be acknowledged."""
        key = self._keys.session(session_id(ticket))
        replies = await self._ending.call((key, pack("DEL", key)), *self._bookkeeping(ticket))
        checked(replies[:1])

    async def end_one(self, user: str, handle: str) -> bool:
        """Delete the hash if it is the user's; needs no index."""
        key = self._keys.session(handle)
        ref = user_ref(self._config.namespace, user)
        (ended,) = await END_ONE.run(self._ending, key, user)
        if isinstance(ended, ReplyError) and ended.code == "WRONGTYPE":
            return False
        checked([ended])
        if ended:
            await self._wire.call(self._tracing(handle, "ended"), self._users.unlisting(ref, handle))
        return bool(ended)

    async def end_again(self, handle: str) -> None:
        """Delete the hash; the index finds out by itself."""
        key = self._keys.session(handle)
        # Under the same name a token may be blocked, which must not lapse with a trace.
        trace = self._tracing(handle, "ended", "NX")
        checked((await self._ending.call((key, pack("DEL", key)), trace))[:1])

    def handle(self, ticket: str) -> str:
        """What Redis sees of the ticket."""
        return session_id(ticket)

    async def end_all(self, user: str, *, epoch: int | None = None, own: int = 0) -> int:
        """Raise the epoch, which ends every session; then delete those that the index knows."""
        return await self._users.end_all(user_ref(self._config.namespace, user), epoch=epoch, own=own)

    async def epoch(self, user: str) -> int:
        """What a login that begins now is dated by."""
        return await self._users.epoch(user_ref(self._config.namespace, user))

    async def remembers(self) -> bool:
        """By a mark in it, and by the connection, which no restart or failover leaves whole."""
        return await self._memory.holds()

    async def remember(self) -> None:
        """Leave the mark."""
        await self._memory.renew()

    async def count(self) -> int | None:
        """Look at every key, a thousand at a time."""
        return await self._wire.count(self._keys.sessions)

    async def devices(self, user: str, *, current: str | None) -> Sequence[Device]:
        """The index, checked session by session."""
        ref = user_ref(self._config.namespace, user)
        return await self._users.devices(user, ref, current=session_id(current) if current else None)

    def _reading(self, ticket: str) -> tuple[tuple[bytes, bytes], ...]:
        ref, key = ref_of(ticket), self._keys.session(session_id(ticket))
        epoch_key = self._keys.epoch(ref)
        hash_and_epoch = (key, pack("HGETALL", key)), (epoch_key, pack("GET", epoch_key))
        return hash_and_epoch if ref else hash_and_epoch[:1]

    def _judged(self, record: Record, epoch: int, *, presented: bool) -> Record | Ended:
        now = self._config.now_ms()
        if record.ends_ms(self._config) <= now:
            return Ended()
        if record.epoch < epoch:
            return Ended(epoch)
        if presented and now - record.seen_ms >= self._config.touch_ms:
            self._touch(record)
        return record

    def _touch(self, record: Record) -> None:
        # Nobody waits for it, and a session that cannot be touched is still a session.
        ticket = record.ticket
        if ticket not in self._touching:
            task = self._touching[ticket] = asyncio.create_task(self._touched(record))
            task.add_done_callback(lambda _: self._touching.pop(ticket, None))

    async def _touched(self, record: Record) -> None:
        try:
            touched = await self.commit(record.ticket, _NOTHING)
            if record.user is not None and isinstance(touched, Committed):
                ends = record.created_ms + self._config.absolute_ms
                name = session_id(record.ticket)
                await self._wire.call(*self._users.listing(ref_of(record.ticket), name, ends_ms=ends))
        except StoreUnavailable as unavailable:
            _log.debug("a touch was lost: %s", unavailable)

    async def _trace(self, ticket: str, epoch: int) -> Ended:
        key = self._keys.ended(session_id(ticket))
        (stored,) = await self._wire.call((key, pack("GET", key)))
        if isinstance(stored, bytes):
            at, _, how = stored.partition(b":")
            return Ended(number(at), rotated=how == b"rotated")
        return Ended(epoch or None)

    def _tracing(self, name: str, how: str, *unless: str) -> tuple[bytes, bytes]:
        key = self._keys.ended(name)
        return key, pack("SET", key, f"{self._config.now_ms()}:{how}", "PX", FLIGHT_MS, *unless)

    def _bookkeeping(self, ticket: str, *, rotated: bool = False) -> list[tuple[bytes, bytes]]:
        name, ref = session_id(ticket), ref_of(ticket)
        trace = self._tracing(name, "rotated" if rotated else "ended")
        return [trace, *([self._users.unlisting(ref, name)] if ref else [])]

    async def _dropped(self, ticket: str, broken: Unreadable) -> Ended:
        name = session_id(ticket)
        _log.warning("dropped session %s…: unreadable (%s)", name[:8], broken)
        key = self._keys.session(name)
        await self._wire.call((key, pack("UNLINK", key)))
        return Ended()


def _outcome(ticket: str, changes: Changes, reply: Reply, epoch: int) -> Committed | Ended | Refused:
    if isinstance(reply, ReplyError) and reply.code == "WRONGTYPE":
        return Ended()
    checked([reply])
    verdict, *rest = reply
    if verdict == b"refused":
        return Refused(rest[0].decode(), rest[1].decode())
    if verdict == b"large":
        return TooLarge("session", rest[0].decode())
    if verdict == b"ended":
        return Ended()
    if int(rest[0]) < epoch:
        return Ended(epoch)
    return Committed(ticket, {name: int(value) for name, value in zip(changes.add, rest[1:], strict=True)})
