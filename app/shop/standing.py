"""Who may come in, and as what: locking, unlocking, roles. Each change of them ends the account's sessions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from app.shop.accounts import Account, Role
from app.shop.desk.audit import Deed
from app.shop.errors import Forbidden, NotFound
from app.shop.revocations import Ends, Revocations, keep_promise

Changed: TypeAlias = "tuple[Account, int | None]"
"""The account as it is now, and the promise that its sessions end; None where nothing had to change."""


class Standings(Protocol):
    """The store of who may come in. Raises `Unavailable`.

    Each change promises in its transaction that the account's sessions end, and that mail tells of it; a deed of
    the desk has its entry in the log in the same one. None where there is no such account. `LastOwner` where
    nobody would be left to run the shop, `Forbidden` where whoever does it owns the shop no more,
    `AlreadyDone` for a form that did something before.
    """

    async def lock(self, account_id: str, deed: Deed | None = None) -> Changed | None:
        """Nobody comes in by that account any more."""

    async def unlock(self, account_id: str, deed: Deed | None = None) -> Account | None:
        """Whoever knows its password may come in again; no session lives again."""

    async def give(
        self, account_id: str, role: Role, deed: Deed | None = None, *, seen: Role | None = None
    ) -> Changed | None:
        """Let it be that from now on; raises `ChangedMeanwhile` where it is not what was seen, if anything was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Changes who may come in. `by` is the deed of an owner at the desk, None for an operator at the console."""

    standings: Standings
    revocations: Revocations
    ends: Ends

    async def lock(self, account_id: str, *, by: Deed | None) -> Account:
        """Nobody comes in any more, and everybody in is out.

        Raises `Forbidden`, `LastOwner`, `NotFound`, `AlreadyDone`. `SessionsLinger`: it is locked, and sessions
        end as soon as their store answers.
        """
        _not_oneself(account_id, by)
        return await self._out(account_id, await self.standings.lock(account_id, by))

    async def unlock(self, account_id: str, *, by: Deed | None) -> Account:
        """Let them in again; raises `Forbidden`, `NotFound`, `AlreadyDone`."""
        account = await self.standings.unlock(account_id, by)
        if account is None:
            raise NotFound("account")
        return account

    async def give(
        self, account_id: str, role: Role, *, by: Deed | None, seen: Role | None = None
    ) -> Account:
        """Another role instead of the one that was seen, if any was; whoever is in comes in again, with it.

        Raises what `lock` does, and `ChangedMeanwhile`.
        """
        _not_oneself(account_id, by)
        return await self._out(account_id, await self.standings.give(account_id, role, by, seen=seen))

    async def _out(self, account_id: str, changed: Changed | None) -> Account:
        if changed is None:
            raise NotFound("account")
        account, promised = changed
        if promised is not None:
            await keep_promise(self.revocations, promised, self.ends.of(account_id))
        return account


def _not_oneself(account_id: str, by: Deed | None) -> None:
    if by is not None and account_id == by.account_id:
        raise Forbidden("nobody locks themselves or changes their own role")
