"""Changing a password, which ends every other session of its account."""

from __future__ import annotations

from dataclasses import dataclass

from app.shop.accounts import Account, Accounts, Attempts, Passwords, checked_password, email_key, mail_to
from app.shop.errors import Invalid
from app.shop.revocations import End, Revocations, keep_promise


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePassword:
    """The new password counts at once, and with it the promises that the other sessions end and a mail is sent.

    All are one transaction. When the session store cannot answer after it, `SessionsLinger` says so, and the
    promise is kept as soon as it can.
    """

    accounts: Accounts
    passwords: Passwords
    attempts: Attempts
    revocations: Revocations

    async def __call__(
        self, account_id: str, *, current: str, new: str, client: str, end_others: End
    ) -> None:
        """Raises `Invalid`, `TooManyAttempts`, `SessionsLinger`. `client` is the caller's address."""
        wanted = checked_password(new, field="new")
        account, hashed = await self._proved(account_id, current, client)
        revocation = await self.accounts.change_password(
            account_id,
            old=hashed,
            new=await self.passwords.hash(wanted),
            mail=mail_to(account, "password_changed"),
        )
        if revocation is None:
            raise _wrong()
        await keep_promise(self.revocations, revocation, end_others)

    async def _proved(self, account_id: str, current: str, client: str) -> tuple[Account, str]:
        """The account and the hash that the current password matches; guesses count like those at the door."""
        account = await self.accounts.by_id(account_id)
        key = email_key(account.email) if account else None
        if account is None or key is None:
            raise _wrong()
        await self.attempts.check(key, client)
        _, hashed = await self.accounts.credentials(key) or (None, None)
        try:
            password = checked_password(current)
        except Invalid:  # what could never be registered is not worth a hash
            raise _wrong() from None
        genuine = await self.passwords.verify(password, hashed)
        if hashed is None or not genuine:
            await self.attempts.failed(key, client)
            raise _wrong()
        return account, hashed


def _wrong() -> Invalid:
    return Invalid("current", "is not the account's password", code="password_wrong")
