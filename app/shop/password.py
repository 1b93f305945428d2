"""Changing a password, which ends every other session of its account."""

from __future__ import annotations

from dataclasses import dataclass

from app.shop.accounts import Account, Accounts, Attempts, Passwords, checked_password, email_key, mail_to
from app.shop.errors import Invalid
from app.shop.revocations import End, Ends, Revocations, keep_promise


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckPassword:
    """Whether somebody who is logged in knows the password; guesses count like those at the door."""

    accounts: Accounts
    passwords: Passwords
    attempts: Attempts

    async def __call__(
        self, account_id: str, *, password: str, client: str, field: str
    ) -> tuple[Account, str]:
        """The account and the hash that the password matches.

        Raises `Invalid` naming the field, `TooManyAttempts`. `client` is the caller's address.
        """
        account = await self.accounts.by_id(account_id)
        key = email_key(account.email) if account else None
        if account is None or key is None:
            raise _wrong(field)
        await self.attempts.check(key, client)
        _, hashed = await self.accounts.credentials(key) or (None, None)
        try:
            form = checked_password(password)
        except Invalid:  # what could never be registered is not worth a hash
            raise _wrong(field) from None
        genuine = await self.passwords.verify(form, hashed)
        if hashed is None or not genuine:
            await self.attempts.failed(key, client)
            raise _wrong(field)
        return account, hashed


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePassword:
    """The new password counts at once, and with it the promises that the other sessions end and a mail is sent.

    All are one transaction. When the session store cannot answer after it, `SessionsLinger` says so, and the
    promise is kept as soon as it can. Where the session of whoever changes it was ended meanwhile, none is spared.
    """

    accounts: Accounts
    passwords: Passwords
    attempts: Attempts
    revocations: Revocations
    ends: Ends

    async def __call__(
        self, account_id: str, *, current: str, new: str, client: str, end_others: End
    ) -> None:
        """Raises `Invalid`, `TooManyAttempts`, `SessionsLinger`. `client` is the caller's address."""
        wanted = checked_password(new, field="new")
        check = CheckPassword(accounts=self.accounts, passwords=self.passwords, attempts=self.attempts)
        account, hashed = await check(account_id, password=current, client=client, field="current")
        revocation = await self.accounts.change_password(
            account_id,
            old=hashed,
            new=await self.passwords.hash(wanted),
            mail=mail_to(account, "password_changed"),
        )
        if revocation is None:
            raise _wrong("current")

        async def end() -> int:
            return await end_others() or await self.ends.of(account_id)()

        await keep_promise(self.revocations, revocation, end)


def _wrong(field: str) -> Invalid:
    return Invalid(field, "is not the account's password", code="password_wrong")
