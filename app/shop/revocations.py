"""Ending sessions so that no store can forget it: the shop keeps a row of each such end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Protocol

from app.shop.errors import SessionsLinger, Unavailable

_PREFIX: Final = "user:"

End = Callable[[], Awaitable[int]]
"""Ends sessions of one account; returns the epoch that ended them, 0 when nothing was ended.

Raises `Unavailable` unless the store has acknowledged it.
"""


EndOne = Callable[[], Awaitable[str | None]]
"""Ends one session; returns its handle, None when there was none. Raises `Unavailable` like `End`."""


def user_of(account_id: str) -> str:
    """How a session names an account."""
    return _PREFIX + account_id


def account_of(user: str) -> str:
    """The account that a session names."""
    return user.removeprefix(_PREFIX)


class Epochs(Protocol):
    """What dates log-ins. Raises `Unavailable`."""

    async def of(self, account_id: str) -> int:
        """The date of a log-in that begins now; a later end of the account's sessions ends it too."""


class Ends(Protocol):
    """What ends sessions of any account, whoever asks."""

    def of(self, account_id: str) -> End:
        """Ends every session of the account."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsettled:
    """An end of sessions that was promised, and not seen to be done."""

    id: int
    account_id: str


class Revocations(Protocol):
    """The rows. Raises `Unavailable`."""

    async def keep(self, account_id: str, *, epoch: int) -> None:
        """Keep that sessions ended."""

    async def keep_one(self, handle: str) -> None:
        """Keep that one session ended. It did, so a database that is away is nobody's error here."""

    async def settle(self, revocation_id: int, *, epoch: int) -> None:
        """Keep that what was promised is done."""

    async def unsettled(self) -> Sequence[Unsettled]:
        """What was promised so long ago that nobody is still about to do it."""

    async def recent(self, within: timedelta) -> Mapping[str, int]:
        """The latest epoch of every account whose sessions ended in that time."""


async def keep_promise(revocations: Revocations, promised: int, end: End) -> None:
    """End the sessions whose end was promised; raises `SessionsLinger` where that must wait, and it is kept later."""
    try:
        epoch = await end()
    except Unavailable as away:
        raise SessionsLinger from away
    if epoch:
        await revocations.settle(promised, epoch=epoch)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndSessions:
    """End sessions of an account and keep that they ended."""

    revocations: Revocations

    async def __call__(self, account_id: str, end: End) -> None:
        """In this order: what could not be ended is not kept as ended, and may be asked for again."""
        epoch = await end()
        if epoch:
            await self.revocations.keep(account_id, epoch=epoch)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndSession:
    """End one session, by a log-out or in the list of devices, and keep that it ended."""

    revocations: Revocations

    async def __call__(self, end: EndOne) -> bool:
        """False when there was none."""
        handle = await end()
        if handle is not None:
            await self.revocations.keep_one(handle)
        return handle is not None
