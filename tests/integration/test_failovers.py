"""A server behind the shop is lost under load: 503 for a while, nobody logged out, no restart.

The small version of `make bench-failovers`.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.failovers.accidents import ACCIDENTS, Stage
from bench.failovers.shoppers import Shoppers
from tests.integration.test_sessions_of_a_replica import Replica, replica

pytestmark = pytest.mark.anyio

SHOPPERS = 3


@pytest.fixture(params=ACCIDENTS)
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    # The servers' own user must be able to pass.
    tmp_path.chmod(0o755)
    with ACCIDENTS[request.param](tmp_path) as stage:
        yield stage


@pytest.fixture
def shop(stage: Stage, tmp_path: Path, empty_database_url: str, redis_url: str) -> Iterator[Replica]:
    """One replica on the servers of the accident, with the sample's goods."""
    urls = {
        "session_url": stage.session_url or redis_url,
        "database_url": stage.database_url or empty_database_url,
        "redis_url": redis_url,
    }
    environment = {
        **os.environ,
        "CHOPHO_DATABASE_URL": urls["database_url"],
        "CHOPHO_PUBLIC_URL": "http://127.0.0.1:8080",
    }
    words = [sys.executable, "-m", "app", "migrate", "--sample-data"]
    subprocess.run(words, env=environment, check=True)
    with replica(tmp_path, **urls) as one:
        yield one


async def test_a_lost_server_costs_seconds_and_no_session(shop: Replica, stage: Stage) -> None:
    shoppers = Shoppers(shop.url, SHOPPERS)
    await shoppers.sign_in()
    shopping = asyncio.create_task(shoppers.shop())
    await asyncio.to_thread(stage.happen)
    await asyncio.sleep(1)
    await asyncio.to_thread(stage.mend)
    await well_again(shoppers)
    lost = await shoppers.end()
    await shopping
    await shoppers.close()
    assert set(shoppers.tally.statuses) <= {200, 503}
    assert shoppers.tally.logouts == 0
    assert lost == 0


async def well_again(shoppers: Shoppers) -> None:
    """Two seconds without a failed answer."""
    for _ in range(1200):
        good = shoppers.tally.first_good_second_after(0)
        if good is not None and shoppers.second >= good + 3:
            return
        await asyncio.sleep(0.1)
    pytest.fail(f"never well again: {shoppers.tally.seconds}")
