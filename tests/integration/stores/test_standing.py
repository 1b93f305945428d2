"""Whoever locks and demotes at once, an owner is left to run the shop."""

from __future__ import annotations

import asyncio
import secrets

import pytest

from app.shop.desk.audit import AuditQuery, Deed
from app.shop.desk.errors import AlreadyDone, ChangedMeanwhile
from app.shop.errors import Forbidden, LastOwner
from app.stores.database import Database
from app.stores.desk.audit import SqlAuditLog
from app.stores.standing import SqlStandings
from tests.integration.stores.conftest import NewAccount


async def test_of_two_owners_who_part_with_each_other_at_once_one_is_left(
    database: Database, new_account: NewAccount
) -> None:
    standings = SqlStandings(database=database)
    first, second = (await new_account()).id, (await new_account()).id
    for _ in range(5):
        for one in (first, second):
            await standings.unlock(one)
            await standings.give(one, "owner")
        outcomes = await asyncio.gather(
            standings.lock(first), standings.give(second, "customer"), return_exceptions=True
        )
        assert sorted(isinstance(outcome, LastOwner) for outcome in outcomes) == [False, True]


async def test_the_log_tells_of_what_happened_and_of_nothing_else(
    database: Database, new_account: NewAccount
) -> None:
    """Two owners lock each other at once: one of them, and one entry."""
    standings = SqlStandings(database=database)
    owners = [(await new_account()).id for _ in range(2)]
    for one in owners:
        await standings.give(one, "owner")
    outcomes = await asyncio.gather(
        *(standings.lock(whom, deed(by)) for whom, by in (owners, owners[::-1])), return_exceptions=True
    )
    assert sorted(isinstance(outcome, Forbidden) for outcome in outcomes) == [False, True]
    log = (await SqlAuditLog(database=database).page(AuditQuery())).items
    assert [each.action for each in log] == ["account.lock"]
    locked = next(account for account, _ in [each for each in outcomes if isinstance(each, tuple)])
    assert log[0].subject == f"account {locked.id}"


async def test_whoever_lost_the_role_meanwhile_gives_none(
    database: Database, new_account: NewAccount
) -> None:
    standings = SqlStandings(database=database)
    keeper, leaver, friend = [(await new_account()).id for _ in range(3)]
    for one in (keeper, leaver):
        await standings.give(one, "owner")
    await standings.give(leaver, "customer", deed(keeper))
    for late in (
        standings.give(friend, "owner", deed(leaver)),
        standings.lock(keeper, deed(leaver)),
        standings.unlock(keeper, deed(leaver)),
    ):
        with pytest.raises(Forbidden):
            await late


async def test_one_form_sent_many_times_at_once_is_one_change(
    database: Database, new_account: NewAccount
) -> None:
    standings = SqlStandings(database=database)
    owner, whom = [(await new_account()).id for _ in range(2)]
    await standings.give(owner, "owner")
    form = deed(owner)
    outcomes = await asyncio.gather(
        *(standings.give(whom, "operator", form, seen="customer") for _ in range(6)), return_exceptions=True
    )
    assert sum(isinstance(outcome, AlreadyDone) for outcome in outcomes) == 5
    with pytest.raises(ChangedMeanwhile):
        await standings.give(whom, "owner", deed(owner), seen="customer")


def deed(account_id: str) -> Deed:
    return Deed(account_id=account_id, address="127.0.0.1", nonce=secrets.token_urlsafe(16))


async def test_what_is_no_account_has_no_standing(database: Database) -> None:
    standings = SqlStandings(database=database)
    for nobody in ("", "1", "00000000-0000-0000-0000-000000000000"):
        assert await standings.lock(nobody) is None
        assert await standings.unlock(nobody) is None
        assert await standings.give(nobody, "owner") is None
