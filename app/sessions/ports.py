"""What a session backend has to do; the contract suite checks it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from .changes import Changes
from .errors import Refused
from .records import Claim, Committed, Device, Draft, Ended, Record


class Seal(Protocol):
    """Turns a ticket into what a cookie carries and back, without I/O."""

    def close(self, ticket: str) -> str:
        """The cookie's value."""

    def open(self, value: bytes) -> str | None:
        """The ticket; None unless it is exactly what `close` made with one of the keys."""


class SessionStore(Protocol):
    """One backend. Raises only `StoreUnavailable` (and `Refused` where said); absent is `Ended`.

    `kind` begins every ticket of it. A ticket is opaque to callers. Unknown, expired, forged, revoked and
    unreadable are all `Ended`, and a session that ended is never brought back by any call. A user's id was
    checked before it gets here.
    """

    kind: str
    concurrent_writes: bool
    seal: Seal

    async def open(self) -> None:
        """Get ready; succeeds while the server is away."""

    async def close(self) -> None:
        """Give everything back."""

    async def load(self, ticket: str, *, presented: bool = True) -> Record | Ended:
        """The session, touched when it is time to.

        Not `presented`: nobody came with this ticket, so that a look at it is no use of the session.
        """

    async def create(self, draft: Draft) -> Record:
        """A new session under a new ticket; raises `Refused` when it would be too large."""

    async def commit(self, ticket: str, changes: Changes) -> Committed | Ended | Refused:
        """All of the changes, atomically, to a session that still lives; otherwise nothing."""

    async def claim(self, ticket: str) -> Claim | Ended:
        """The right to replace the session, given to one caller.

        Others may still read it, but their writes and claims find it ended. A claim that is not settled
        within `LEASE_MS` lapses, and the session lives on.
        """

    async def settle(self, claim: Claim) -> bool:
        """End the claimed session; False when the claim had lapsed, and then nothing happened."""

    async def release(self, claim: Claim) -> None:
        """Give the claim back; the session lives on."""

    async def end(self, ticket: str) -> None:
        """End a session, idempotently; when it returns, the end is durable."""

    async def end_one(self, user: str, handle: str) -> bool:
        """End the user's session with that handle; False when there is none."""

    async def end_again(self, handle: str) -> None:
        """End the session with that handle, whosever it is, if it lives: its end was kept elsewhere."""

    def handle(self, ticket: str) -> str:
        """What names the session in lists and to those who end it, in plain ASCII; of a ticket that `seal` opened."""

    async def epoch(self, user: str) -> int:
        """What dates a session of the user that begins now; one dated before the user's epoch is dead."""

    async def end_all(self, user: str, *, epoch: int | None = None, own: int = 0) -> int:
        """End every session the user has by now, listed or not; returns the user's new epoch.

        With an `epoch` that an earlier call returned: end what that call ended, again and idempotently, and
        nothing that began after it. With the `own` epoch of a session that asks: 0, and nothing happened,
        if that session has been ended so itself.
        """

    async def remembers(self) -> bool:
        """Whether all that ended sessions is still known here.

        False until this process has called `remember`, and again after the server was restarted, failed over
        or was emptied: then revocations kept elsewhere must be given again.
        """

    async def remember(self) -> None:
        """They were given since `remembers` said no."""

    async def count(self) -> int | None:
        """How many sessions live here; None where that cannot be known."""

    async def devices(self, user: str, *, current: str | None) -> Sequence[Device]:
        """The user's live sessions, the latest seen first; `current` is the asker's ticket."""
