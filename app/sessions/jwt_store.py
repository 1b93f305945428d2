"""Sessions that travel in the cookie; Redis knows only who was revoked, and what to show in lists.

`<namespace>:ended:<sha256 of the jti>`   string  the block list: when and how it ended, or who replaces it
`<namespace>:tokens:<sha256 of the jti>`  hash    what the list of devices shows of a user's session

Of a user's session it is also known which token was presented last (`jwt_families`): a copy of an older one,
presented when nothing of it can be under way any more, ends the session.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from .changes import Changes, applied
from .config import LEASE_MS, SessionConfig
from .errors import Refused, StoreUnavailable, TooLarge
from .jwt_families import GRACE_MS, Presented
from .jwt_listed import Listed
from .jwt_tokens import KIND, LEEWAY_MS, LONGEST, Token, Tokens, Unverified
from .ports import Seal
from .records import Claim, Committed, Device, Draft, Ended, Record
from .redis_keys import Keys
from .redis_memory import Memory
from .redis_policy import warn_of_eviction
from .redis_replies import checked, number
from .redis_scripts import BLOCK, SWAP
from .redis_server import Wire, pack
from .redis_users import Users
from .tickets import user_ref

_log = logging.getLogger(__name__)

_RENEWALS: Final = 5
"""A token is renewed when a fifth of its life is over: each costs a signature and a cookie."""

_ROOM: Final = 160
"""What a log-in may add to a visitor's token: a user of 100 bytes, and the epoch. A full cart can still log in."""


class JwtStore:
    """The store behind `jwt+redis://`. Two requests that write at once overwrite each other."""

    kind = KIND
    concurrent_writes = False

    def __init__(
        self, wire: Wire, config: SessionConfig, tokens: Tokens, *, ending: Wire | None = None
    ) -> None:
        self._wire = wire
        self._ending = ending or wire
        self._config = config
        self.seal: Seal = tokens
        self.tokens = tokens
        self._keys = Keys(config.namespace, tokens=True)
        self._users = Users(wire, config, self._keys, ending=self._ending)
        self._memory = Memory(wire, self._keys.memory, config)
        self._listed = Listed(wire, config, self._keys, self._users)
        # A request in flight may still renew a token that is about to end.
        self._blocked_ms = config.absolute_ms + LEEWAY_MS
        # By then every token that it could tell is over.
        self._told_ms = tokens.lifetime_ms + GRACE_MS + LEEWAY_MS
        self._looking: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Begin to connect, and look at the server's policy once it answers: it must not evict the block list."""
        await self._wire.open()
        self._looking = asyncio.create_task(warn_of_eviction(self._wire))

    async def close(self) -> None:
        """Hang up."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait({self._looking})
        if self._ending is not self._wire:
            await self._ending.close()
        await self._wire.close()

    async def load(self, ticket: str, *, presented: bool = True) -> Record | Ended:
        """What the token says, if nobody revoked it; renewed when it is time to."""
        found = await self._judged(ticket, writing=False)
        if isinstance(found, Ended):
            return found
        token, known = found
        record = _copy(token.record)
        if presented:
            await self._used(record, token.jti, known)
        return record

    async def create(self, draft: Draft) -> Record:
        """A token under a new id; raises `TooLarge` when it would not fit into a cookie."""
        fields, _ = applied({}, Changes(default=draft.fields), limits=self._config)
        now = self._config.now_ms()
        record = Record(
            ticket="",
            created_ms=now if draft.created_ms is None else draft.created_ms,
            seen_ms=now,
            user=draft.user,
            epoch=await self.epoch(draft.user) if draft.user and draft.epoch is None else draft.epoch or 0,
            fields=fields,
            device=draft.device,
            address=draft.address,
        )
        jti = secrets.token_urlsafe(16)
        record.ticket = self._fitting(record, jti)
        await self._listed.show(record, _name(jti))
        return record

    async def commit(self, ticket: str, changes: Changes) -> Committed | Ended | Refused:
        """A new token with the changes in it."""
        found = await self._judged(ticket, writing=True)
        if isinstance(found, Ended):
            return found
        token, _ = found
        try:
            fields, numbers = applied(token.record.fields, changes, limits=self._config)
            record = replace(token.record, fields=fields)
            record.ticket = self._fitting(record, token.jti)
        except Refused as refused:
            return refused
        record.seen_ms = self._config.now_ms()
        await self._listed.note(record, _name(token.jti))
        return Committed(record.ticket, numbers)

    async def claim(self, ticket: str) -> Claim | Ended:
        """An entry in the block list that is no block yet."""
        found = await self._judged(ticket, writing=True)
        if isinstance(found, Ended):
            return found
        token, _ = found
        now = self._config.now_ms()
        stamp = f"{now}:claimed:{secrets.token_hex(8)}"
        words = str(now), str(LEASE_MS), stamp, str(self._blocked_ms)
        (won,) = checked(await BLOCK.run(self._wire, self._entry(token.jti), *words))
        return Claim(record=_copy(token.record), stamp=stamp) if won else Ended(now, rotated=True)

    async def settle(self, claim: Claim) -> bool:
        """Turn the entry into a block."""
        jti = self.tokens.read(claim.record.ticket).jti
        block = f"{self._config.now_ms()}:rotated"
        words = claim.stamp, block, str(self._blocked_ms)
        (ended,) = checked(await SWAP.run(self._wire, self._entry(jti), *words))
        if ended:
            await self._wire.call(*self._listed.hiding(_name(jti), claim.record.user))
        return bool(ended)

    async def release(self, claim: Claim) -> None:
        """Take the entry away."""
        jti = self.tokens.read(claim.record.ticket).jti
        checked(await SWAP.run(self._wire, self._entry(jti), claim.stamp, "", "0"))

    async def end(self, ticket: str) -> None:
        """Block the token's id; only that must be acknowledged."""
        try:
            token = self.tokens.read(ticket)
        except Unverified:
            return
        await self._block(_name(token.jti), token.record.user)

    async def end_one(self, user: str, handle: str) -> bool:
        """Block the id behind the handle if the list says it is the user's."""
        key = self._keys.session(handle)
        (owner,) = await self._wire.call((key, pack("HGET", key, "~u")))
        if owner != user.encode():
            checked([owner])
            return False
        await self._block(handle, user)
        return True

    async def end_again(self, handle: str) -> None:
        """Block the id behind the handle; nothing needs to be known of it."""
        await self._block(handle, None)

    def handle(self, ticket: str) -> str:
        """The hash of the token's id, which renewals leave as it is."""
        return _name(self.tokens.read(ticket).jti)

    async def end_all(self, user: str, *, epoch: int | None = None, own: int = 0) -> int:
        """Raise the epoch, which no older token survives."""
        return await self._users.end_all(self._ref(user), epoch=epoch, own=own)

    async def epoch(self, user: str) -> int:
        """What a login that begins now is dated by."""
        return await self._users.epoch(self._ref(user))

    async def remembers(self) -> bool:
        """By a mark in it, and by the connection."""
        return await self._memory.holds()

    async def remember(self) -> None:
        """Leave the mark."""
        await self._memory.renew()

    async def count(self) -> int | None:
        """Nobody knows: they are in the browsers, until the absolute limit at the latest."""
        return None

    async def devices(self, user: str, *, current: str | None) -> Sequence[Device]:
        """What the list says."""
        mine = None
        if current is not None and current.startswith(f"{KIND}."):
            mine = self.handle(current)
        return await self._users.devices(user, self._ref(user), current=mine)

    async def _judged(self, ticket: str, *, writing: bool) -> tuple[Token, Presented] | Ended:
        try:
            token = self.tokens.read(ticket)
        except Unverified:
            return Ended()
        record, now = token.record, self._config.now_ms()
        # `exp` is in whole seconds, for others; the exact end is worked out.
        ends_ms = min(token.exp_ms, record.seen_ms + self.tokens.lifetime_ms, record.ends_ms(self._config))
        if ends_ms <= now or record.seen_ms > now + LEEWAY_MS:
            return Ended()
        keys = [self._entry(token.jti)]
        if record.user is not None:
            keys += [self._keys.epoch(self._ref(record.user)), self._keys.presented(_name(token.jti))]
        stored, *of_user = checked(await self._wire.call(*((key, pack("GET", key)) for key in keys)))
        if stored is not None and (ended := self._entered(stored, writing=writing)):
            return ended
        epoch, known = (number(of_user[0]), Presented.read(of_user[1])) if of_user else (0, Presented())
        if record.epoch < epoch:
            return Ended(epoch)
        if known.tells_copy(record.seen_ms, now):
            return await self._copied(token)
        return token, known

    async def _used(self, record: Record, jti: str, known: Presented) -> None:
        """Note which token its browser holds, and make it a new one when it is time to."""
        now = self._config.now_ms()
        seen = known.with_token(record.seen_ms, now) if record.user is not None else None
        if seen is not None:
            # A server that cannot write leaves it to the next request; sessions are still served.
            key = self._keys.presented(_name(jti))
            await self._wire.call((key, pack("SET", key, seen.written(), "PX", self._told_ms)))
        old_enough = now - record.seen_ms >= self.tokens.lifetime_ms // _RENEWALS
        if old_enough and not known.replaced(record.seen_ms):
            record.ticket = self.tokens.write(record, jti)
            record.seen_ms = now
            # The list is only shown: a server that cannot write it is no reason to refuse a look.
            with suppress(StoreUnavailable):
                await self._listed.note(record, _name(jti))

    async def _copied(self, token: Token) -> Ended:
        """End the whole session: of two who hold it, nobody can say which is the owner."""
        name = _name(token.jti)
        _log.warning("ended session %s…: a token of it that was replaced long ago came back", name[:8])
        await self._block(name, token.record.user)
        return Ended(self._config.now_ms())

    def _entered(self, stored: bytes, *, writing: bool) -> Ended | None:
        try:
            began, how, *_ = stored.decode().split(":")
            at = int(began)
        except ValueError:
            # Whatever lies there, somebody meant to block it.
            return Ended()
        if how != "claimed":
            return Ended(at, rotated=how == "rotated")
        standing = self._config.now_ms() - at < LEASE_MS
        return Ended(at, rotated=True) if writing and standing else None

    def _fitting(self, record: Record, jti: str) -> str:
        try:
            ticket = self.tokens.write(record, jti)
        except UnicodeDecodeError as binary:
            raise Refused("session", "holds bytes that are no text") from binary
        longest = LONGEST if record.user is not None else LONGEST - _ROOM
        if len(ticket) > longest:
            raise TooLarge("session", f"would not fit into a cookie of {longest} bytes")
        return ticket

    async def _block(self, name: str, user: str | None) -> None:
        """Only the block itself must be acknowledged; without a user the list finds out by itself."""
        key = self._keys.ended(name)
        block = key, pack("SET", key, f"{self._config.now_ms()}:ended", "PX", self._blocked_ms)
        checked((await self._ending.call(block, *self._listed.hiding(name, user)))[:1])

    def _entry(self, jti: str) -> bytes:
        return self._keys.ended(_name(jti))

    def _ref(self, user: str | None) -> str:
        return user_ref(self._config.namespace, user or "")


def _copy(record: Record) -> Record:
    return replace(record, fields=dict(record.fields))


def _name(jti: str) -> str:
    return hashlib.sha256(jti.encode()).hexdigest()
