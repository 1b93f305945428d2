"""One person, one account, however the e-mail is written and however many register at once."""

from __future__ import annotations

import asyncio
import unicodedata
from collections import Counter

import pytest

from app.shop.accounts import checked_registration
from app.shop.errors import EmailTaken
from app.stores.accounts import SqlAccounts

SPELLINGS = [
    "Ánh.Nguyễn@ChoPho.example",
    unicodedata.normalize("NFD", "ánh.nguyễn@chopho.example"),
    "ÁNH.NGUYỄN@CHOPHO.EXAMPLE",
    unicodedata.normalize("NFD", "ÁNH.NGUYỄN@chopho.EXAMPLE"),
    " ánh.nguyễn@chopho.example ",
]


async def test_of_many_spellings_registered_at_once_one_becomes_the_account(accounts: SqlAccounts) -> None:
    async def register(email: str) -> str:
        registration = checked_registration(email=email, password="mat khau thu", name="Ánh")
        try:
            await accounts.add(registration, password_hash="hash")
        except EmailTaken:
            return "taken"
        return "opened"

    outcomes = Counter(await asyncio.gather(*(register(email) for email in SPELLINGS * 4)))
    assert outcomes == {"opened": 1, "taken": 19}


async def test_an_account_is_found_by_its_id_and_its_key(accounts: SqlAccounts) -> None:
    registration = checked_registration(email="Anh@ChoPho.example", password="mat khau thu", name="Ánh 🧧")
    account = await accounts.add(registration, password_hash="hash", role="owner")
    assert (account.email, account.name, account.role) == ("Anh@chopho.example", "Ánh 🧧", "owner")
    assert await accounts.by_id(account.id) == account
    assert await accounts.credentials("anh@chopho.example") == (account, "hash")


@pytest.mark.parametrize("hostile", ["", "1", "\0", "\ud800", "x" * 10_000, "' OR 1=1 --"])
async def test_what_is_no_account_finds_none(accounts: SqlAccounts, hostile: str) -> None:
    assert await accounts.by_id(hostile) is None
    assert await accounts.credentials(hostile) is None


async def test_a_hash_is_strengthened_unless_the_password_changed_meanwhile(accounts: SqlAccounts) -> None:
    registration = checked_registration(email="anh@chopho.example", password="mat khau thu", name="Ánh")
    account = await accounts.add(registration, password_hash="old")
    await accounts.rehash(account.id, old="other", new="wrong")
    assert (await accounts.credentials("anh@chopho.example") or (None, ""))[1] == "old"
    await accounts.rehash(account.id, old="old", new="new")
    assert (await accounts.credentials("anh@chopho.example") or (None, ""))[1] == "new"
