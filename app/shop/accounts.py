"""Accounts: who may register, and who may come in."""

from __future__ import annotations

import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, Protocol, get_args

from email_validator import EmailNotValidError, validate_email

from app.shop.errors import AccountLocked, BadCredentials, Invalid, Unavailable
from app.shop.mail import Language, MailKind, Message
from app.shop.revocations import Epochs
from app.shop.text import clean

Role = Literal["customer", "owner", "operator"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A person the shop knows; `email` is as they wrote it, and unique whatever its case or Unicode form."""

    id: str
    email: str
    name: str
    role: Role
    created_at: datetime
    language: Language = "vi"
    phone: str = ""
    locked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """A new account, checked: see `checked` for what is refused."""

    email: str
    email_key: str
    name: str
    password: str
    language: Language = "vi"


class Accounts(Protocol):
    """The store of accounts. Raises `Unavailable`."""

    async def add(
        self,
        registration: Registration,
        *,
        password_hash: str,
        role: Role = "customer",
        mail: Message | None = None,
    ) -> Account:
        """Keep a new account, and with it the mail about it; raises `EmailTaken`."""

    async def by_id(self, account_id: str) -> Account | None:
        """The account, or None."""

    async def credentials(self, email_key: str) -> tuple[Account, str] | None:
        """The account of that e-mail key and its password hash, or None."""

    async def rehash(self, account_id: str, *, old: str, new: str) -> None:
        """Replace a password hash that is weaker than today's settings, unless it changed meanwhile."""

    async def change_password(self, account_id: str, *, old: str, new: str, mail: Message) -> int | None:
        """Replace the hash, and promise in the same transaction that other sessions end and that mail is sent.

        The id of the promise of the sessions; None when the hash is not the old one, and nothing happened.
        """


class Passwords(Protocol):
    """Slow hashing, kept off the event loop. Raises `Unavailable` when its compartment is full."""

    async def hash(self, password: str) -> str:
        """The hash to keep."""

    async def verify(self, password: str, hashed: str | None) -> bool:
        """Whether they belong together; None costs the same time and is False."""

    def outdated(self, hashed: str) -> bool:
        """Whether today's settings would hash stronger."""


class Attempts(Protocol):
    """Failed log-ins per account and per client address, shared by all replicas."""

    async def check(self, email_key: str, client: str) -> None:
        """Raises `TooManyAttempts` while either has failed too often, `Unavailable` when that cannot be known."""

    async def failed(self, email_key: str, client: str) -> None:
        """Count one failure."""


PASSWORD_LEAST: Final = 8
PASSWORD_MOST: Final = 256
"""Characters. Long enough for any passphrase, short enough that hashing stays bounded."""

NAME_MOST: Final = 100
EMAIL_MOST: Final = 254
"""RFC 5321's limit on a path, less its angle brackets."""


def email_key(email: str) -> str | None:
    """What makes two spellings of one e-mail the same account; None for what is no e-mail.

    The domain in its one form, the whole in NFC and case folded.
    """
    try:
        return _key(_address(email))
    except Invalid:
        return None


def checked_email(email: str) -> tuple[str, str]:
    """The address as it will be kept and its key, or `Invalid`."""
    address = _address(email)
    return address, _key(address)


def _address(email: str) -> str:
    address = clean("email", email, most=EMAIL_MOST)
    try:
        return validate_email(address, check_deliverability=False).normalized
    except EmailNotValidError as unusable:
        raise Invalid("email", "is not an e-mail address", code="email_invalid") from unusable


def _key(address: str) -> str:
    return unicodedata.normalize("NFC", address.casefold())


def checked_registration(*, email: str, password: str, name: str, language: Language = "vi") -> Registration:
    """The registration, or `Invalid` naming the first field that cannot be."""
    address, key = checked_email(email)
    return Registration(
        email=address,
        email_key=key,
        name=clean("name", name, most=NAME_MOST),
        password=checked_password(password),
        language=language,
    )


def checked_password(password: str, *, field: str = "password") -> str:
    """The password in the form that is hashed, or `Invalid`; its characters are free, its length is not."""
    form = password_form(password) if len(password) <= 4 * PASSWORD_MOST else password
    if len(form) < PASSWORD_LEAST:
        raise Invalid(field, f"must have at least {PASSWORD_LEAST} characters", code="password_short")
    if len(form) > PASSWORD_MOST:
        raise Invalid(field, f"must have at most {PASSWORD_MOST} characters", code="password_long")
    if any("\ud800" <= char <= "\udfff" for char in form):
        raise Invalid(field, "contains characters that are not text", code="not_text")
    return form


def password_form(password: str) -> str:
    """The one form of a password: keyboards send the same letters composed or decomposed (RFC 8265)."""
    return unicodedata.normalize("NFC", password)


def mail_to(whom: Account | Registration, kind: MailKind) -> Message:
    """What the holder of an account is told about it."""
    return Message(kind=kind, recipient=whom.email, language=whom.language, fields={"name": whom.name})


@dataclass(frozen=True, slots=True, kw_only=True)
class Register:
    """Open an account."""

    accounts: Accounts
    passwords: Passwords

    async def __call__(self, *, email: str, password: str, name: str, language: Language = "vi") -> Account:
        """The new account, which gets mail in that language; raises `Invalid`, `EmailTaken`."""
        registration = checked_registration(email=email, password=password, name=name, language=language)
        hashed = await self.passwords.hash(registration.password)
        mail = mail_to(registration, "welcome")
        return await self.accounts.add(registration, password_hash=hashed, mail=mail)


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Who came in, and the date of it: an end of the account's sessions since then ends this one too."""

    account: Account
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LogIn:
    """Tell who is at the door; an unknown e-mail and a wrong password get the same answer in the same time."""

    accounts: Accounts
    passwords: Passwords
    attempts: Attempts
    epochs: Epochs

    async def __call__(self, *, email: str, password: str, client: str) -> Admission:
        """Who it is; raises `BadCredentials`, `AccountLocked`, `TooManyAttempts`. `client` is the caller's address."""
        key = email_key(email)
        await self.attempts.check(key or email, client)
        admission = await self._recognised(key, password)
        if admission is None:
            await self.attempts.failed(key or email, client)
            raise BadCredentials("unknown e-mail or wrong password")
        if admission.account.locked_at is not None:
            raise AccountLocked("the shop has locked this account")
        return admission

    async def _recognised(self, key: str | None, password: str) -> Admission | None:
        """The account of both; what could never be registered is not worth a hash or a query."""
        try:
            password = checked_password(password)
        except Invalid:
            return None
        if key is None:
            return None
        known, _ = await self.accounts.credentials(key) or (None, None)
        # The date comes before the hash is read: a change of the password that this log-in does not see is later.
        epoch = await self.epochs.of(key if known is None else known.id)
        account, hashed = await self.accounts.credentials(key) or (None, None)
        genuine = await self.passwords.verify(password, hashed)
        if account is None or hashed is None or not genuine:
            return None
        if self.passwords.outdated(hashed):
            await self._rehash(account, password, hashed)
        return Admission(account=account, epoch=epoch)

    async def _rehash(self, account: Account, password: str, hashed: str) -> None:
        """Strengthen the kept hash; the next log-in tries again when there is no room for it now."""
        with suppress(Unavailable):
            await self.accounts.rehash(account.id, old=hashed, new=await self.passwords.hash(password))
