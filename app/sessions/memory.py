"""Sessions in the heap of one process: for one replica, and to show what goes wrong with two."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from .changes import Changes, applied
from .config import FLIGHT_MS, LEASE_MS, SessionConfig
from .errors import Refused
from .ports import Seal
from .records import Claim, Committed, Device, Draft, Ended, Record
from .tickets import new_ticket, ref_of, session_id, user_ref

_SWEEP_EVERY: Final = 256
"""Creations between two looks for what is over; in between it costs memory only."""


class MemoryStore:
    """The store behind `memory://`; every call is atomic, since nothing in it awaits."""

    kind = "m1"
    concurrent_writes = True

    def __init__(self, config: SessionConfig, seal: Seal) -> None:
        self._config = config
        self.seal = seal
        self._records: dict[str, Record] = {}
        self._claims: dict[str, tuple[str, int]] = {}
        self._epochs: dict[str, int] = {}
        self._ended: dict[str, Ended] = {}
        self._created = 0
        self._remembers = False

    async def open(self) -> None:
        """Nothing to get ready."""

    async def close(self) -> None:
        """Forget everything."""
        for part in (self._records, self._claims, self._epochs, self._ended):
            part.clear()

    async def load(self, ticket: str, *, presented: bool = True) -> Record | Ended:
        """A copy of the session."""
        record = self._live(ticket)
        if isinstance(record, Ended):
            return record
        now = self._config.now_ms()
        if presented and now - record.seen_ms >= self._config.touch_ms:
            record.seen_ms = now
        return replace(record, fields=dict(record.fields))

    async def create(self, draft: Draft) -> Record:
        """A new session."""
        fields, _ = applied({}, Changes(default=draft.fields), limits=self._config)
        now = self._config.now_ms()
        ticket = new_ticket(self.kind, self._config.namespace, draft.user)
        record = Record(
            ticket=ticket,
            created_ms=now if draft.created_ms is None else draft.created_ms,
            seen_ms=now,
            user=draft.user,
            epoch=await self.epoch(draft.user or "") if draft.epoch is None else draft.epoch,
            fields=fields,
            device=draft.device,
            address=draft.address,
        )
        self._records[session_id(ticket)] = record
        self._created += 1
        if self._created % _SWEEP_EVERY == 0:
            self._sweep()
        return replace(record, fields=dict(fields))

    async def commit(self, ticket: str, changes: Changes) -> Committed | Ended | Refused:
        """The changes, at once."""
        record = self._free(ticket)
        if isinstance(record, Ended):
            return record
        try:
            record.fields, numbers = applied(record.fields, changes, limits=self._config)
        except Refused as refused:
            return refused
        record.seen_ms = self._config.now_ms()
        # Whoever claimed it and was late must not replace it by what it was before this change.
        self._claims.pop(session_id(ticket), None)
        return Committed(ticket, numbers)

    async def claim(self, ticket: str) -> Claim | Ended:
        """A stamp for one caller."""
        record = self._free(ticket)
        if isinstance(record, Ended):
            return record
        stamp = secrets.token_hex(8)
        self._claims[session_id(ticket)] = (stamp, self._config.now_ms())
        return Claim(record=replace(record, fields=dict(record.fields)), stamp=stamp)

    async def settle(self, claim: Claim) -> bool:
        """End what was claimed."""
        name = session_id(claim.record.ticket)
        if not self._stands(name, claim):
            return False
        self._end(name, rotated=True)
        return True

    async def release(self, claim: Claim) -> None:
        """Take the stamp away."""
        name = session_id(claim.record.ticket)
        if self._stands(name, claim):
            del self._claims[name]

    async def end(self, ticket: str) -> None:
        """Forget the session."""
        self._end(session_id(ticket))

    async def end_one(self, user: str, handle: str) -> bool:
        """Forget the session if it is the user's."""
        record = self._records.get(handle)
        if record is None or record.user != user:
            return False
        self._end(handle)
        return True

    async def end_again(self, handle: str) -> None:
        """Forget the session."""
        self._end(handle)

    def handle(self, ticket: str) -> str:
        """The hash of the ticket."""
        return session_id(ticket)

    async def end_all(self, user: str, *, epoch: int | None = None, own: int = 0) -> int:
        """Raise the epoch."""
        ref = user_ref(self._config.namespace, user)
        old = self._epochs.get(ref, 0)
        if 0 < own < old:
            return 0
        raised = max(old, self._config.now_ms()) + 1 if epoch is None else max(old, epoch)
        self._epochs[ref] = raised
        return raised

    async def epoch(self, user: str) -> int:
        """What a login that begins now is dated by."""
        return max(self._epochs.get(user_ref(self._config.namespace, user), 0), self._config.now_ms())

    async def remembers(self) -> bool:
        """As long as the process lives."""
        return self._remembers

    async def remember(self) -> None:
        """From now on."""
        self._remembers = True

    async def count(self) -> int | None:
        """Those that have not ended."""
        return sum(isinstance(self._live(record.ticket), Record) for record in self._records.values())

    async def devices(self, user: str, *, current: str | None) -> Sequence[Device]:
        """The user's live sessions."""
        mine = session_id(current) if current else None
        live = [
            record
            for record in self._records.values()
            if record.user == user and isinstance(self._live(record.ticket), Record)
        ]
        return [
            record.seen_by_owner(session_id(record.ticket), current=mine)
            for record in sorted(live, key=lambda record: record.seen_ms, reverse=True)
        ]

    def _live(self, ticket: str) -> Record | Ended:
        name = session_id(ticket)
        record, now = self._records.get(name), self._config.now_ms()
        epoch = self._epochs.get(ref_of(ticket), 0)
        if record is None:
            return self._ended.get(name) or Ended(epoch or None)
        if record.ends_ms(self._config) <= now:
            return Ended()
        if record.user is not None and record.epoch < epoch:
            return Ended(epoch)
        return record

    def _free(self, ticket: str) -> Record | Ended:
        """The session, unless somebody is replacing it."""
        now = self._config.now_ms()
        _, claimed_ms = self._claims.get(session_id(ticket), ("", now - LEASE_MS))
        return Ended(now, rotated=True) if now - claimed_ms < LEASE_MS else self._live(ticket)

    def _stands(self, name: str, claim: Claim) -> bool:
        return name in self._records and self._claims.get(name, ("",))[0] == claim.stamp

    def _end(self, name: str, *, rotated: bool = False) -> None:
        self._claims.pop(name, None)
        if self._records.pop(name, None) is not None:
            self._ended[name] = Ended(self._config.now_ms(), rotated=rotated)

    def _sweep(self) -> None:
        now = self._config.now_ms()
        for name in [n for n, record in self._records.items() if record.ends_ms(self._config) <= now]:
            del self._records[name]
            self._claims.pop(name, None)
        for name in [n for n, ended in self._ended.items() if now - (ended.at_ms or 0) > FLIGHT_MS]:
            del self._ended[name]
