"""Another e-mail for an account, once a link proves that whoever is logged in reads it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Protocol

from app.shop.accounts import Account, checked_email
from app.shop.errors import LinkDead
from app.shop.forgotten import Asks
from app.shop.mail import Language, Message
from app.shop.tokens import TOKEN_MOST, digest_of, new_token

LASTS: Final = timedelta(hours=24)

PATH: Final = "/tai-khoan/e-mail/xac-nhan"


class EmailChanges(Protocol):
    """The store of e-mails that are not proved yet, one for each account. Raises `Unavailable`."""

    async def ask(self, account_id: str, *, email: str, key: str, lasts: timedelta, mail: Message) -> None:
        """Keep what the account's e-mail shall be instead of what was asked before, and the mail about it."""

    async def issue(self, account_id: str, email: str, *, digest: str) -> tuple[Account, bool] | None:
        """Let the token of that digest prove that e-mail; whose it is, and whether it is another account's.

        None where it was asked otherwise since, or is over.
        """

    async def confirm(self, account_id: str, digest: str) -> bool:
        """Make the e-mail the account's, and end its tokens; its old address is told in the same transaction.

        False when the token is not good for that account. Raises `EmailTaken`.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeEmail:
    """Have a link sent to the new address. Nobody learns here whether it is an account's."""

    changes: EmailChanges
    asks: Asks

    async def __call__(self, account_id: str, *, email: str, client: str, language: Language) -> None:
        """Raises `Invalid`, `TooManyAttempts`."""
        address, key = checked_email(email)
        if await self.asks.allow(key, client):
            mail = Message(
                kind="email_confirm", recipient=address, language=language, fields={"account": account_id}
            )
            await self.changes.ask(account_id, email=address, key=key, lasts=LASTS, mail=mail)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteEmailChange:
    """What makes a mail of what was asked."""

    changes: EmailChanges

    async def __call__(self, asked: Message) -> Message | None:
        """The mail with its link; to the holder of another account, what somebody tried."""
        token = new_token()
        found = await self.changes.issue(
            str(asked.fields["account"]), asked.recipient, digest=digest_of(token)
        )
        if found is None:
            return None
        account, is_taken = found
        return Message(
            kind="email_in_use" if is_taken else "email_confirm",
            recipient=asked.recipient,
            language=asked.language,
            fields={"name": "" if is_taken else account.name, "path": f"{PATH}?token={token}"},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmEmail:
    """Make the new address the account's.

    Whoever confirms must be logged in as that account: a link that went to a mistyped address must not give
    the account to whoever reads there.
    """

    changes: EmailChanges

    async def __call__(self, account_id: str, *, token: str) -> None:
        """Raises `LinkDead`, `EmailTaken`."""
        if len(token) > TOKEN_MOST or not await self.changes.confirm(account_id, digest_of(token)):
            raise LinkDead("the link was used, has expired, or is another account's")
