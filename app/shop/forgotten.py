"""A forgotten password: a link by mail, good once and for half an hour."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

from app.shop.accounts import Account, Passwords, checked_password, email_key
from app.shop.errors import LinkDead
from app.shop.mail import Language, Message
from app.shop.revocations import Ends, Revocations, keep_promise
from app.shop.tokens import TOKEN_MOST, digest_of, new_token

LASTS: Final = timedelta(minutes=30)
"""Long enough for a slow mail, short enough for a mailbox that is left open."""

PATH: Final = "/dat-lai-mat-khau"


class Asks(Protocol):
    """How often mail may be asked for, over all replicas. Raises `Unavailable`."""

    async def allow(self, email_key: str, client: str) -> bool:
        """Whether another mail may go to that address; raises `TooManyAttempts` where a client asks too often.

        Both count, whoever has an account.
        """


class Resets(Protocol):
    """The store of resets. Raises `Unavailable`."""

    async def ask(self, message: Message) -> None:
        """Keep that somebody asked."""

    async def issue(self, email_key: str, *, digest: str, lasts: timedelta) -> Account | None:
        """Let the token of that digest reset the password that the account of that e-mail has now.

        None where nobody may come in by that e-mail.
        """

    async def holder(self, digest: str) -> Account | None:
        """Whose password the token would reset now, or None."""

    async def use(self, digest: str, *, new: str) -> int | None:
        """Replace the hash, and end every token of the account; of several at once, one does.

        Promises in the same transaction that all sessions of the account end and that mail tells of it. The
        id of the promise of the sessions; None when the token is good no more, and nothing happened.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgotPassword:
    """Have a link sent to an e-mail; what is answered, and how fast, is the same whether anybody has it."""

    resets: Resets
    asks: Asks

    async def __call__(self, *, email: str, client: str, language: Language) -> None:
        """Raises `TooManyAttempts`. Whose e-mail it is is looked up when the mail is written, never here."""
        key = email_key(email)
        is_allowed = await self.asks.allow(key or email, client)
        if key is not None and is_allowed:
            expires_at = datetime.now(UTC) + LASTS
            await self.resets.ask(
                Message(kind="password_reset", recipient=key, language=language, expires_at=expires_at)
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteReset:
    """What makes a mail of what was asked: the account's own address, and a token that nothing else holds."""

    resets: Resets

    async def __call__(self, asked: Message) -> Message | None:
        """The mail with its link, None where nobody may come in by that e-mail."""
        token = new_token()
        account = await self.resets.issue(asked.recipient, digest=digest_of(token), lasts=LASTS)
        if account is None:
            return None
        return Message(
            kind=asked.kind,
            recipient=account.email,  # not the address as it was asked for, which may be written alike
            language=account.language,
            fields={
                "name": account.name,
                "path": f"{PATH}?token={token}",
                "minutes": int(LASTS.total_seconds() // 60),
            },
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetPassword:
    """Set a new password by the link, once; every session of the account ends."""

    resets: Resets
    passwords: Passwords
    revocations: Revocations
    ends: Ends

    async def __call__(self, *, token: str, new: str) -> None:
        """Raises `LinkDead`, `Invalid`, `SessionsLinger`."""
        account = await self.holder(token)
        wanted = checked_password(new, field="new")
        promised = await self.resets.use(digest_of(token), new=await self.passwords.hash(wanted))
        if promised is None:
            raise _dead()
        await keep_promise(self.revocations, promised, self.ends.of(account.id))

    async def holder(self, token: str) -> Account:
        """Whose password the token would reset now; raises `LinkDead`."""
        account = await self.resets.holder(digest_of(token)) if len(token) <= TOKEN_MOST else None
        if account is None:
            raise _dead()
        return account


def _dead() -> LinkDead:
    return LinkDead("the link was used, has expired, or was never ours")
