"""Who may come in, and as what: locking, unlocking, roles. Each change of them ends the account's sessions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from app.shop.accounts import Account, Role
from app.shop.errors import Forbidden, NotFound
from app.shop.revocations import Ends, Revocations, keep_promise

Changed: TypeAlias = "tuple[Account, int | None]"
"""The account as it is now, and the promise that its sessions end; None where nothing had to change."""


class Standings(Protocol):
    """The store of who may come in. Raises `Unavailable`.

    Each change promises in its transaction that the account's sessions end, and that mail tells of it. None
    where there is no such account. `LastOwner` where nobody would be left to run the shop.
    """

    async def lock(self, account_id: str) -> Changed | None:
        """Nobody comes in by that account any more."""

    async def unlock(self, account_id: str) -> Account | None:
        """Whoever knows its password may come in again; no session lives again."""

    async def give(self, account_id: str, role: Role) -> Changed | None:
        """Let it be that from now on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Changes who may come in. `by` is the account of whoever wants it, None for an operator at the console."""

    standings: Standings
    revocations: Revocations
    ends: Ends

    async def lock(self, account_id: str, *, by: str | None) -> Account:
        """Nobody comes in any more, and everybody in is out; raises `Forbidden`, `LastOwner`, `NotFound`.

        `SessionsLinger`: it is locked, and sessions end as soon as their store answers.
        """
        _not_oneself(account_id, by)
        return await self._out(account_id, await self.standings.lock(account_id))

    async def unlock(self, account_id: str) -> Account:
        """Let them in again; raises `NotFound`."""
        account = await self.standings.unlock(account_id)
        if account is None:
            raise NotFound("account")
        return account

    async def give(self, account_id: str, role: Role, *, by: str | None) -> Account:
        """Another role; whoever is in comes in again, with it. Raises what `lock` does."""
        _not_oneself(account_id, by)
        return await self._out(account_id, await self.standings.give(account_id, role))

    async def _out(self, account_id: str, changed: Changed | None) -> Account:
        if changed is None:
            raise NotFound("account")
        account, promised = changed
        if promised is not None:
            await keep_promise(self.revocations, promised, self.ends.of(account_id))
        return account


def _not_oneself(account_id: str, by: str | None) -> None:
    if account_id == by:
        raise Forbidden("nobody locks themselves or changes their own role")
