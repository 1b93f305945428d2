"""Who may register, and who may come in."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from app.shop.accounts import (
    Account,
    LogIn,
    Register,
    Registration,
    Role,
    checked_password,
    checked_registration,
    email_key,
)
from app.shop.errors import BadCredentials, EmailTaken, Invalid, TooManyAttempts, Unavailable
from app.shop.mail import Message

PASSWORD = "mật khẩu dài"


@dataclass
class HeapAccounts:
    """Accounts in the heap."""

    kept: dict[str, tuple[Account, str]] = field(default_factory=dict)
    mail: list[Message | None] = field(default_factory=list)

    async def add(
        self,
        registration: Registration,
        *,
        password_hash: str,
        role: Role = "customer",
        mail: Message | None = None,
    ) -> Account:
        if registration.email_key in self.kept:
            raise EmailTaken
        self.mail.append(mail)
        account = Account(
            id=str(len(self.kept)),
            email=registration.email,
            name=registration.name,
            role=role,
            created_at=datetime.now(UTC),
        )
        self.kept[registration.email_key] = (account, password_hash)
        return account

    async def by_id(self, account_id: str) -> Account | None:
        return next((account for account, _ in self.kept.values() if account.id == account_id), None)

    async def credentials(self, email_key: str) -> tuple[Account, str] | None:
        return self.kept.get(email_key)

    async def change_password(self, account_id: str, *, old: str, new: str, mail: Message) -> int | None:
        self.mail.append(mail)
        await self.rehash(account_id, old=old, new=new)
        return 1

    async def rehash(self, account_id: str, *, old: str, new: str) -> None:
        for key, (account, hashed) in self.kept.items():
            if account.id == account_id and hashed == old:
                self.kept[key] = (account, new)


@dataclass
class PlainPasswords:
    """Hashes that can be read, and a compartment that can be full."""

    version: str = "1"
    full: bool = False
    verified: list[str | None] = field(default_factory=list)

    async def hash(self, password: str) -> str:
        if self.full:
            raise Unavailable("the log-in")
        return f"{self.version}:{password}"

    async def verify(self, password: str, hashed: str | None) -> bool:
        self.verified.append(hashed)
        return hashed is not None and hashed.partition(":")[2] == password

    def outdated(self, hashed: str) -> bool:
        return not hashed.startswith(self.version)


@dataclass
class FewAttempts:
    """Two failures are enough."""

    failures: dict[tuple[str, str], int] = field(default_factory=dict)

    async def check(self, email_key: str, client: str) -> None:
        if self.failures.get((email_key, client), 0) >= 2:
            raise TooManyAttempts(retry_after_s=2)

    async def failed(self, email_key: str, client: str) -> None:
        self.failures[email_key, client] = self.failures.get((email_key, client), 0) + 1


@dataclass
class Calendar:
    """Dates each log-in by how many there were."""

    asked: list[str] = field(default_factory=list)

    async def of(self, account_id: str) -> int:
        self.asked.append(account_id)
        return len(self.asked)


@pytest.fixture
def accounts() -> HeapAccounts:
    return HeapAccounts()


@pytest.fixture
def passwords() -> PlainPasswords:
    return PlainPasswords()


@pytest.fixture
def attempts() -> FewAttempts:
    return FewAttempts()


@pytest.fixture
async def log_in(accounts: HeapAccounts, passwords: PlainPasswords, attempts: FewAttempts) -> LogIn:
    """With one account known."""
    register = Register(accounts=accounts, passwords=passwords)
    await register(email="Ánh@ChoPho.example", password=PASSWORD, name="Ánh")
    return LogIn(accounts=accounts, passwords=passwords, attempts=attempts, epochs=Calendar())


@pytest.mark.parametrize(
    "email",
    [
        "",
        "a",
        "a@b",
        "a@b..example",
        "a b@c.example",
        "a@c.example\0",
        "a\ud800@c.example",
        "x" * 300 + "@c.example",
        "x" * 1_000_000,
    ],
)
def test_what_is_no_email_is_refused(email: str) -> None:
    with pytest.raises(Invalid) as refused:
        checked_registration(email=email, password=PASSWORD, name="Ánh")
    assert refused.value.field == "email"
    assert email_key(email) is None


@pytest.mark.parametrize("name", ["", "\0", "x" * 10_000, "\ud800"])
def test_a_name_is_text_of_a_bounded_length(name: str) -> None:
    with pytest.raises(Invalid) as refused:
        checked_registration(email="anh@chopho.example", password=PASSWORD, name=name)
    assert refused.value.field == "name"


@pytest.mark.parametrize(
    ("password", "code"),
    [
        ("", "password_short"),
        ("1234567", "password_short"),
        ("x" * 257, "password_long"),
        ("x" * 1_000_000, "password_long"),
        ("\ud800" * 8, "not_text"),
    ],
)
def test_a_password_has_a_length_and_is_text(password: str, code: str) -> None:
    with pytest.raises(Invalid) as refused:
        checked_password(password)
    assert (refused.value.field, refused.value.code) == ("password", code)


@pytest.mark.parametrize("password", ["x" * 73, "🧧" * 20, "a\0bcdefgh", " " * 8, "ộ" * 256])
def test_any_characters_make_a_password(password: str) -> None:
    assert checked_password(password) == password


def test_a_keyboard_may_send_letters_taken_apart() -> None:
    assert checked_password(unicodedata.normalize("NFD", PASSWORD)) == PASSWORD


def test_spellings_of_one_email_have_one_key() -> None:
    spellings = [
        "Ánh@ChoPho.example",
        " ánh@chopho.EXAMPLE ",
        unicodedata.normalize("NFD", "ÁNH@chopho.example"),
    ]
    assert {email_key(email) for email in spellings} == {"ánh@chopho.example"}


@pytest.mark.parametrize("email", ["Ánh@ChoPho.example", unicodedata.normalize("NFD", "ÁNH@chopho.example")])
async def test_the_right_password_opens_however_the_email_is_written(log_in: LogIn, email: str) -> None:
    came = await log_in(email=email, password=unicodedata.normalize("NFD", PASSWORD), client="c")
    assert (came.account.name, came.epoch) == ("Ánh", 1)


async def test_an_unknown_email_and_a_wrong_password_get_the_same_answer_after_the_same_work(
    log_in: LogIn, passwords: PlainPasswords
) -> None:
    answers = []
    for email, password in (("ánh@chopho.example", "wrong password"), ("nobody@chopho.example", PASSWORD)):
        with pytest.raises(BadCredentials) as refused:
            await log_in(email=email, password=password, client="c")
        answers.append(str(refused.value))
    assert len(set(answers)) == 1
    assert passwords.verified == [f"1:{PASSWORD}", None]


@pytest.mark.parametrize(
    ("email", "password"),
    [
        ("no email", PASSWORD),
        ("\0", PASSWORD),
        ("ánh@chopho.example", "short"),
        ("ánh@chopho.example", "x" * 1_000_000),
        ("\ud800", "\ud800" * 8),
    ],
)
async def test_what_could_never_be_registered_costs_no_hash(
    log_in: LogIn, passwords: PlainPasswords, email: str, password: str
) -> None:
    with pytest.raises(BadCredentials):
        await log_in(email=email, password=password, client="c")
    assert passwords.verified == []


async def test_failures_slow_the_caller_down_and_successes_do_not(
    log_in: LogIn, attempts: FewAttempts
) -> None:
    for _ in range(5):
        await log_in(email="ánh@chopho.example", password=PASSWORD, client="c")
    assert attempts.failures == {}
    for password in ("wrong password", "short"):
        with pytest.raises(BadCredentials):
            await log_in(email="ÁNH@chopho.example", password=password, client="c")
    with pytest.raises(TooManyAttempts):
        await log_in(email="ánh@chopho.example", password=PASSWORD, client="c")
    assert await log_in(email="ánh@chopho.example", password=PASSWORD, client="another")


async def test_a_weak_hash_is_strengthened_at_log_in(
    log_in: LogIn, accounts: HeapAccounts, passwords: PlainPasswords
) -> None:
    passwords.version = "2"
    await log_in(email="ánh@chopho.example", password=PASSWORD, client="c")
    assert accounts.kept["ánh@chopho.example"][1] == f"2:{PASSWORD}"


async def test_a_full_compartment_does_not_refuse_whom_it_has_recognised(
    log_in: LogIn, accounts: HeapAccounts, passwords: PlainPasswords
) -> None:
    passwords.version, passwords.full = "2", True
    assert await log_in(email="ánh@chopho.example", password=PASSWORD, client="c")
    assert accounts.kept["ánh@chopho.example"][1] == f"1:{PASSWORD}"


async def test_an_email_registers_once(
    log_in: LogIn, accounts: HeapAccounts, passwords: PlainPasswords
) -> None:
    register = Register(accounts=accounts, passwords=passwords)
    with pytest.raises(EmailTaken):
        await register(email="ÁNH@chopho.example", password=PASSWORD, name="Ánh")
    assert log_in.accounts is accounts


async def test_whoever_registers_is_written_to_in_their_language(
    accounts: HeapAccounts, passwords: PlainPasswords
) -> None:
    register = Register(accounts=accounts, passwords=passwords)
    await register(email="Ánh@ChoPho.example", password=PASSWORD, name="Ánh", language="en")
    assert accounts.mail == [
        Message(kind="welcome", recipient="Ánh@chopho.example", language="en", fields={"name": "Ánh"})
    ]
