"""Whoever locks and demotes at once, an owner is left to run the shop."""

from __future__ import annotations

import asyncio

from app.shop.errors import LastOwner
from app.stores.database import Database
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


async def test_what_is_no_account_has_no_standing(database: Database) -> None:
    standings = SqlStandings(database=database)
    for nobody in ("", "1", "00000000-0000-0000-0000-000000000000"):
        assert await standings.lock(nobody) is None
        assert await standings.unlock(nobody) is None
        assert await standings.give(nobody, "owner") is None
