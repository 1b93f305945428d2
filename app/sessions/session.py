"""One request's session: its data, who is logged in, and what ends it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from .changes import applied
from .devices import client_of
from .fields import SETTLING_MS, Fields
from .merging import Merge, remade
from .records import Device, Draft, Ended, Record
from .user_ids import checked_user


class Session(Fields):
    """The session of one request. Every call may raise `StoreUnavailable`."""

    __slots__ = ()

    async def user(self) -> str | None:
        """Who is logged in."""
        record = self._record if self._looked else await self._look()
        return record.user if record else None

    async def login(self, user: str, *, merge: Merge | None = None, epoch: int | None = None) -> None:
        """Make the session the user's, under a new ticket.

        What a visitor gathered is kept, another user's data is not; `merge` makes the fields from a
        visitor's, once. Of several logins at once one wins; the others raise `SessionEnded`. `epoch` is what
        `Sessions.epoch` said before the password was checked. Raises `BadUser` for an id that can be nobody's.
        """
        self._unsealed()
        checked_user(user)
        async with self._lock:
            record = await self._look()
            if record is None:
                self._refuse_late(SETTLING_MS if self._gone.rotated else 0)
                self._adopt(
                    await self._sessions.primary.create(self._draft(user, {}, merge=merge, epoch=epoch))
                )
                return
            # Asked before the claim: what ends all sessions while this one is replaced ends the new one too.
            dated = await self._sessions.primary.epoch(user) if epoch is None else epoch
            kept = record.user in (None, user)
            once = None if record.user == user else merge

            def draft(last: Record) -> Draft:
                if not kept:
                    self._pending.let_go()
                return self._draft(user, last.fields if kept else {}, merge=once, epoch=dated)

            work = self._sessions.rotate(self._store, record.ticket, draft)
            self._replace(await self._sessions.finish(work))

    async def logout(self) -> str | None:
        """End the session for good and take the cookie away; returns its handle, None where there was none.

        Keep the handle where it is safe, and give it to `Sessions.end_again` after the store was emptied or
        failed over.
        """
        self._unsealed()
        async with self._lock:
            self._shown_ticket()
            handle = None
            if self._ticket is not None:
                handle = self._store.handle(self._ticket)
                for store in self._sessions.homes(self._ticket):
                    await store.end(self._ticket)
            self._forget()
            return handle

    async def devices(self) -> Sequence[Device]:
        """The live sessions of whoever is logged in, the latest seen first."""
        user = await self.user()
        return [] if user is None else await self._sessions.devices(user, current=self._ticket)

    async def end_one(self, handle: str) -> bool:
        """End one session of this user; False when there is none with that handle."""
        user = await self.user()
        return user is not None and await self._sessions.end_one(user, handle)

    async def end_others(self) -> int:
        """End every other session of this user; this one goes on under a new ticket.

        Returns the epoch that ended them, 0 when nobody is logged in; see `Sessions.end_all`.
        """
        self._unsealed()
        async with self._lock:
            record = await self._look()
            if record is None or record.user is None:
                return 0
            user = record.user

            def draft(last: Record) -> Draft:
                return replace(self._draft(user, last.fields), created_ms=last.created_ms)

            work = self._sessions.end_others(self._store, record.ticket, user, draft)
            reissued, epoch = await self._sessions.finish(work)
            self._replace(reissued)
            return epoch

    async def end_all(self) -> int:
        """End every session of this user, this one too; returns the epoch, 0 when nobody is logged in."""
        self._unsealed()
        async with self._lock:
            record = await self._look()
            if record is None or record.user is None:
                return 0
            epoch = await self._sessions.finish(self._sessions.end_all(record.user))
            self._forget()
            return epoch

    def _replace(self, record: Record | None) -> None:
        if record is None:
            raise self._lost()
        self._adopt(record)

    def _forget(self) -> None:
        self._record = self._ticket = None
        self._writes += 1
        self._looked = True
        self._gone = Ended()
        self._pending.clear()

    def _draft(
        self, user: str, fields: Mapping[str, bytes], *, merge: Merge | None = None, epoch: int | None = None
    ) -> Draft:
        limits = self._sessions.config
        after, _ = applied(fields, self._pending.before(), limits=limits)
        if merge is not None:
            after = remade(after, merge)
        device, address = client_of(self._scope)
        return Draft(fields=after, user=user, device=device, address=address, epoch=epoch)
