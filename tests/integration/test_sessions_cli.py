"""`chopho sessions`: an operator sees where an account is logged in, ends that, and knows when an old store may go."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from app.fleet.record import FleetRecord, ProcessRecord
from app.fleet.state import StateDirectory
from app.sessions import Sessions
from app.sessions.records import Draft, Record
from app.shop.accounts import Account, checked_registration
from app.shop.revocations import user_of
from app.stores.accounts import SqlAccounts
from app.stores.database import Database, DatabaseConfig
from app.stores.migrations import migrate
from app.stores.revocations import SqlRevocations
from app.wiring import sessions_of
from tests.conftest import free_port
from tests.integration.test_operators_cli import chopho
from tests.redis_servers import own_redis


@dataclass(frozen=True, kw_only=True)
class Shop:
    """A shop whose state directory says that it runs, one account, and its sessions."""

    state: Path
    account: Account
    sessions: Sessions
    database: Database

    async def log_in(self, device: str, *, user: str | None = None) -> str:
        draft = Draft(fields={}, user=user or user_of(self.account.id), device=device, address="192.0.2.7")
        return (await self.sessions.primary.create(draft)).ticket

    async def lives(self, ticket: str) -> bool:
        _, found = await self.sessions.find(ticket)
        return isinstance(found, Record)

    async def chopho(self, *words: str) -> tuple[int, str, str]:
        return await chopho("sessions", *words, "--state", str(self.state))


@pytest.fixture
def old_store(tmp_path: Path) -> Iterator[str]:
    with own_redis(tmp_path / "old") as server:
        yield server.url


@pytest.fixture
async def shop(
    tmp_path: Path, empty_database_url: str, redis_url: str, old_store: str
) -> AsyncIterator[Shop]:
    from app.cli.running_shop import shop_settings  # noqa: PLC0415 -- the environment must be the test's

    migrate(empty_database_url)
    directory = StateDirectory(tmp_path / "state")
    directory.make()
    own = psutil.Process()
    process = ProcessRecord(pid=own.pid, started=own.create_time())
    FleetRecord(
        phase="running", supervisor=process, url="http://127.0.0.1:1", redis_url=redis_url,
        database_url=empty_database_url, session_url=redis_url, session_also_accept=old_store,
    ).save(directory.record)  # fmt: skip
    database = Database(DatabaseConfig(url=empty_database_url))
    registration = checked_registration(email="Ánh@chopho.example", password="mat khau thu", name="Ánh")
    account = await SqlAccounts(database=database).add(registration, password_hash="hash")
    sessions = sessions_of(shop_settings(directory.path))
    yield Shop(state=directory.path, account=account, sessions=sessions, database=database)
    await sessions.close()
    await database.close()


async def test_the_list_shows_devices_and_reads_no_session(shop: Shop) -> None:
    tickets = [await shop.log_in("Firefox · Linux"), await shop.log_in("Zalo · Android")]
    code, shown, _ = await shop.chopho("list", "ánh@chopho.example")
    assert code == 0
    assert all(words in shown for words in ("Firefox · Linux", "Zalo · Android", "192.0.2.7"))
    _, told, _ = await shop.chopho("list", "--account", shop.account.id, "--json")
    assert {one["device"] for one in json.loads(told)["sessions"]} == {"Firefox · Linux", "Zalo · Android"}
    assert not any(ticket.split(".")[1] in shown + told for ticket in tickets)


async def test_one_session_is_revoked_by_its_handle(shop: Shop) -> None:
    lost, kept = await shop.log_in("Zalo · Android"), await shop.log_in("Firefox · Linux")
    devices = await shop.sessions.devices(user_of(shop.account.id))
    (handle,) = (device.handle for device in devices if device.device == "Zalo · Android")
    code, said, _ = await shop.chopho("revoke", "ánh@chopho.example", "--handle", handle)
    assert (code, "1 session ended" in said) == (0, True)
    assert [await shop.lives(ticket) for ticket in (lost, kept)] == [False, True]
    code, _, complaint = await shop.chopho("revoke", "ánh@chopho.example", "--handle", handle)
    assert (code, complaint.count("\n")) == (1, 1)


async def test_all_sessions_are_revoked_in_both_stores_and_the_end_is_kept(shop: Shop) -> None:
    here, other = await shop.log_in("Firefox · Linux"), await shop.log_in("Edge", user="user:other")
    record = await shop.sessions.stores[1].create(Draft(fields={}, user=user_of(shop.account.id)))
    code, told, _ = await shop.chopho("revoke", "--account", shop.account.id, "--all", "--json")
    assert (code, json.loads(told)) == (0, {"email": "Ánh@chopho.example", "ended": 2})
    assert [await shop.lives(ticket) for ticket in (here, record.ticket, other)] == [False, False, True]
    kept = await SqlRevocations(database=shop.database).recent(shop.sessions.config.absolute_timeout)
    assert list(kept) == [shop.account.id]


async def test_the_count_says_when_the_old_store_is_empty(shop: Shop) -> None:
    await shop.log_in("Firefox · Linux")
    last = await shop.sessions.stores[1].create(Draft(fields={"a": b"1"}))
    _, told, _ = await shop.chopho("count", "--json")
    assert [(one["role"], one["sessions"]) for one in json.loads(told)["stores"]] == [
        ("main", 1),
        ("also accepted", 1),
    ]
    assert json.loads(told)["old_is_empty"] is False
    await shop.sessions.stores[1].end(last.ticket)
    code, shown, _ = await shop.chopho("count")
    assert (code, "the old store is empty" in shown) == (0, True)


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("list",), 2, "name one account"),
        (("list", "ánh@chopho.example", "--account", "x"), 2, "name one account"),
        (("list", "nobody@chopho.example"), 2, "there is no account nobody@chopho.example"),
        (("list", "--account", "1'; DROP"), 2, "there is no account"),
        (("revoke", "ánh@chopho.example"), 2, "--handle H for one session, or --all"),
        (
            ("revoke", "ánh@chopho.example", "--all", "--handle", "x"),
            2,
            "--handle H for one session, or --all",
        ),
    ],
)
async def test_what_is_meant_is_asked_in_one_line(
    shop: Shop, words: tuple[str, ...], code: int, says: str
) -> None:
    ended, _, complaint = await shop.chopho(*words)
    assert (ended, complaint.count("\n")) == (code, 1)
    assert says in complaint


async def test_a_store_that_is_away_is_one_line_and_nothing_is_kept_as_ended(shop: Shop) -> None:
    directory = StateDirectory(shop.state)
    record = FleetRecord.load(directory.record)
    assert record is not None
    record.session_url = f"redis://:secret@127.0.0.1:{free_port()}"
    record.save(directory.record)
    for words in (("list",), ("revoke", "--all"), ("count",)):
        named = () if words == ("count",) else ("--account", shop.account.id)
        code, _, complaint = await shop.chopho(*words, *named)
        assert (code, complaint.count("\n"), "secret" in complaint) == (1, 1, False)
    assert await SqlRevocations(database=shop.database).recent(shop.sessions.config.absolute_timeout) == {}
