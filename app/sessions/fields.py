"""The data of one request's session: loaded when asked for, written when changed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from starlette.types import Scope

from .changes import Changes, Step, applied
from .cookies import set_cookie
from .errors import Refused, SessionEnded, TooLate
from .pending import JSON, Pending
from .ports import SessionStore
from .records import Committed, Draft, Ended, Record
from .sessions import Sessions

SETTLING_MS: Final = 2_000
"""A browser may still send the old cookie this long after an answer replaced it."""

_NOTHING: Final = Changes()
_UNKNOWN: Final = Ended()

_EMPTY: Final[Mapping[str, bytes]] = {}


class Fields:
    """What one request reads and writes. Every call may raise `StoreUnavailable`."""

    __slots__ = (
        "_arrived_ms",
        "_asked_lock",
        "_gone",
        "_looked",
        "_opened",
        "_pending",
        "_record",
        "_scope",
        "_sealed",
        "_sessions",
        "_shown",
        "_store",
        "_ticket",
        "_writes",
    )

    def __init__(self, sessions: Sessions, scope: Scope) -> None:
        self._sessions = sessions
        self._scope = scope
        self._arrived_ms = sessions.config.now_ms()
        self._opened = self._looked = self._sealed = False
        self._ticket: str | None = None
        self._shown: str | None = None
        self._store: SessionStore = sessions.primary
        self._record: Record | None = None
        self._gone = _UNKNOWN
        self._pending = Pending()
        self._writes = 0
        self._asked_lock: asyncio.Lock | None = None

    @property
    def presented(self) -> bool:
        """Whether a validly signed cookie came with the request; no I/O."""
        return self._shown_ticket() is not None

    @property
    def consulted(self) -> bool:
        """Whether the request asked for its session at all, so that its answer may depend on it."""
        return self._opened

    async def get(self, name: str, default: JSON = None) -> JSON:
        """The field's value; changes made inside it are written before the response head leaves."""
        record = self._record if self._looked else await self._look()
        return self._pending.value(record.fields if record else _EMPTY, name, default)

    async def items(self, prefix: str = "") -> dict[str, JSON]:
        """The fields whose names begin with the prefix."""
        record = self._record if self._looked else await self._look()
        return self._pending.values(record.fields if record else _EMPTY, prefix)

    async def set(self, name: str, value: JSON) -> None:
        """Set a field; written before the response head leaves."""
        self._unsealed()
        self._pending.put(name, value)

    async def delete(self, name: str) -> None:
        """Remove a field; written before the response head leaves."""
        self._unsealed()
        self._pending.drop(name)

    async def increment(self, name: str, by: int = 1, *, low: int = 0, high: int | None = None) -> int:
        """The field's new number, stored when this returns; raises `Refused` out of bounds."""
        return (await self.change(Changes(add={name: Step(by=by, low=low, high=high)})))[name]

    async def change(self, changes: Changes) -> Mapping[str, int]:
        """All of the changes and everything set so far, at once; returns the new numbers of `add`."""
        changes.check()
        async with self._lock:
            return await self._write(changes)

    async def commit(self) -> None:
        """Write what was set so far."""
        await self.change(_NOTHING)

    async def reload(self) -> None:
        """Look again at what is stored, after another request changed it; what was set so far stays pending."""
        async with self._lock:
            self._record, self._looked = None, False
            await self._look()

    async def seal(self) -> bytes | None:
        """Write what is pending, for the response head is about to leave; returns its Set-Cookie, if any."""
        if self._pending:
            await self.commit()
        self._sealed = True
        if self._ticket == self._shown or await self._revoked_meanwhile():
            return None
        config = self._sessions.config
        if self._ticket is None:
            return set_cookie(config, "", max_age_s=0)
        ends_ms = (self._record.created_ms if self._record else self._arrived_ms) + config.absolute_ms
        age_s = max(1, (ends_ms - self._arrived_ms) // 1000)
        return set_cookie(config, self._store.seal.close(self._ticket), max_age_s=age_s)

    def _shown_ticket(self) -> str | None:
        """The ticket that came with the request, which becomes the session's until it is replaced."""
        if not self._opened:
            self._opened = True
            self._ticket = self._shown = self._sessions.presented(self._scope["headers"])
            if self._ticket is not None:
                self._store = self._sessions.homes(self._ticket)[0]
        return self._shown

    async def _revoked_meanwhile(self) -> bool:
        # A ticket that was only renewed must not follow a logout into the browser.
        if self._ticket is None or self._store.concurrent_writes:
            return False
        _, found = await self._sessions.find(self._ticket, presented=False)
        return isinstance(found, Ended)

    @property
    def _lock(self) -> asyncio.Lock:
        """Made when it is first asked for: most requests only look."""
        if self._asked_lock is None:
            self._asked_lock = asyncio.Lock()
        return self._asked_lock

    async def _look(self) -> Record | None:
        if self._looked or self._shown_ticket() is None or self._ticket is None:
            self._looked = True
            return self._record
        homes, writes, presented = (
            self._sessions.homes(self._ticket),
            self._writes,
            self._ticket == self._shown,
        )
        if len(homes) == 1:
            store, found = homes[0], await homes[0].load(self._ticket, presented=presented)
        else:
            store, found = await self._sessions.find(self._ticket, presented=presented)
        if writes != self._writes:
            # What the same request wrote meanwhile, in another task, is newer than what was found.
            return await self._look()
        if not self._looked:
            self._looked, self._store = True, store
            if isinstance(found, Record):
                self._record, self._ticket = found, found.ticket
            else:
                self._gone = found
        return self._record

    async def _write(self, changes: Changes) -> Mapping[str, int]:
        whole = self._pending.before(changes)
        if not whole:
            return {}
        self._shown_ticket()
        if self._ticket is not None:
            if len(self._sessions.homes(self._ticket)) > 1:
                await self._look()
            if self._record is not None or not self._looked:
                return await self._commit(self._ticket, whole)
        return await self._begin(whole)

    async def _commit(self, ticket: str, whole: Changes) -> Mapping[str, int]:
        if not self._store.concurrent_writes:
            # The change is in the new ticket, which must still reach the browser.
            self._unsealed()
        outcome = await self._store.commit(ticket, whole)
        if isinstance(outcome, Refused):
            raise outcome
        if isinstance(outcome, Committed):
            self._ticket = outcome.ticket
            self._written(whole, outcome.numbers)
            return outcome.numbers
        if not self._looked and await self._look() is None:
            # It was over before this request first asked for it.
            return await self._begin(whole)
        raise self._lost()

    async def _begin(self, whole: Changes) -> Mapping[str, int]:
        self._refuse_late(SETTLING_MS)
        fields, numbers = applied({}, whole, limits=self._sessions.config)
        if fields:
            self._unsealed()
            self._adopt(await self._sessions.primary.create(Draft(fields=fields)))
        return numbers

    def _adopt(self, record: Record) -> None:
        self._store = self._sessions.homes(record.ticket)[0]
        self._record, self._ticket = record, record.ticket
        self._writes += 1
        self._looked = True
        self._pending.written()

    def _lost(self) -> SessionEnded:
        self._record, self._looked = None, True
        self._gone = Ended(self._arrived_ms, rotated=True)
        return SessionEnded("the session ended while the request was under way")

    def _refuse_late(self, settling_ms: int) -> None:
        """A request that was under way when its session ended must not begin another in its place."""
        ended_ms = self._gone.at_ms
        if ended_ms is not None and self._arrived_ms < ended_ms + settling_ms:
            raise SessionEnded("the session ended while the request was under way")

    def _written(self, whole: Changes, numbers: Mapping[str, int]) -> None:
        self._writes += 1
        if self._record is not None:
            fields = {**whole.default, **self._record.fields, **whole.put}
            for name, number in numbers.items():
                fields[name] = b"%d" % number
            zeroed = {name for name, number in numbers.items() if number == 0 and whole.add[name].drop_zero}
            self._record.fields = {n: v for n, v in fields.items() if n not in whole.drop | zeroed}
        self._pending.written()

    def _unsealed(self) -> None:
        if self._sealed:
            raise TooLate("the response head has left")
