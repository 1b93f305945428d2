"""Carts of accounts, on real sessions and PostgreSQL: several devices, any order, nothing lost or doubled."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import delete, func, select

from app.sessions import Session, SessionConfig, SessionEnded, Sessions
from app.shop.accounts import Account
from app.shop.cart import LINES_LIMIT, Cart, CartLines
from app.shop.errors import CartLimit, KeyReused, LoginNeeded, Unavailable
from app.shop.revocations import user_of
from app.stores.cart_copy import CartCopy
from app.stores.carts import SqlCarts
from app.stores.database import Database
from app.stores.shopper_cart import AccountCarts
from app.stores.snapshot import Snapshot
from app.stores.tables import accounts as accounts_table
from app.stores.tables_carts import cart_merges

GUEST_ID = "a guest's cart"


every_backend = pytest.mark.parametrize("sessions", ["redis", "jwt", "memory"], indirect=True)


@pytest.fixture
async def sessions(request: pytest.FixtureRequest, redis_url: str) -> AsyncIterator[Sessions]:
    """In Redis, unless the test asks for another backend."""
    urls = {"redis": redis_url, "jwt": f"jwt+{redis_url}", "memory": "memory://"}
    sessions = Sessions.from_url(
        urls[getattr(request, "param", "redis")],
        keys=[secrets.token_hex(32)],
        config=SessionConfig(cookie_secure=False, timeout=timedelta(seconds=10)),
    )
    await sessions.open()
    yield sessions
    await sessions.close()


class Clock:
    """Stands still, so that what was looked up stays as it is until time is let go on."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Device:
    """A browser, whose requests come one after the other or at once, each to a replica of its own memory."""

    def __init__(self, sessions: Sessions, carts: AccountCarts) -> None:
        self._sessions = sessions
        self.carts = carts
        self._cookie = b""

    def request(self) -> Session:
        headers = [(b"cookie", self._cookie)] if self._cookie else []
        return Session(self._sessions, {"type": "http", "headers": headers, "client": ("203.0.113.7", 1)})

    async def does(self, work: Callable[[Cart], Any]) -> Any:
        """One request with what it answers; its cookie, if it set one, is the browser's then."""
        session = self.request()
        answer = await work(self.carts(session))
        await self._take(session)
        return answer

    async def log_in(self, account: Account) -> None:
        session = self.request()
        await session.login(user_of(account.id))
        await self._take(session)

    async def log_out(self) -> None:
        session = self.request()
        await session.logout()
        await self._take(session)

    async def add(self, sku: str, quantity: int = 1, *, at_most: int = 99, once: str | None = None) -> int:
        answer: int = await self.does(lambda cart: cart.add(sku, quantity, at_most=at_most, once=once))
        return answer

    async def lines(self) -> CartLines:
        answer: CartLines = await self.does(lambda cart: cart.read())
        return answer

    async def quantities(self) -> Mapping[str, int]:
        return (await self.lines()).quantities

    async def _take(self, session: Session) -> None:
        sealed = await session.seal()
        if sealed is not None:
            self._cookie = sealed.split(b";")[0]


NewDevice = Callable[..., Device]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def new_device(sessions: Sessions, database: Database, catalog: Any, clock: Clock) -> NewDevice:
    carts = SqlCarts(database=database)

    def new_device(**options: Any) -> Device:
        kinds = AccountCarts(
            carts=carts, versions=Snapshot(carts.versions, clock=clock), offers=catalog.offers, **options
        )
        return Device(sessions, kinds)

    return new_device


async def test_a_cart_outlives_its_session_and_is_there_on_every_device(
    new_device: NewDevice, new_account: Any, sell: Any, clock: Clock
) -> None:
    await sell("A")
    account, phone, laptop = await new_account(), new_device(), new_device()
    await phone.log_in(account)
    await phone.add("A", 2)
    await phone.log_out()
    assert await phone.quantities() == {}
    await laptop.log_in(account)
    assert await laptop.quantities() == {"A": 2}
    await phone.log_in(account)
    assert await phone.quantities() == {"A": 2}
    await laptop.add("B")
    clock.now += 2.1
    assert await phone.quantities() == await laptop.quantities() == {"A": 2, "B": 1}


@every_backend
async def test_what_a_device_wrote_it_reads_at_once_whatever_is_remembered_of_versions(
    new_device: NewDevice, new_account: Any
) -> None:
    """The clock stands still: nobody's memory of the cart's version is renewed."""
    device = new_device()
    await device.log_in(await new_account())
    assert await device.quantities() == {}
    for number in range(1, 4):
        assert await device.add("A") == number
        assert await device.quantities() == {"A": number}
    await device.does(lambda cart: cart.put("A", 7, at_most=9))
    await device.does(lambda cart: cart.put("B", 1, at_most=9))
    assert await device.quantities() == {"A": 7, "B": 1}
    await device.does(lambda cart: cart.put("A", 0, at_most=9))
    assert await device.quantities() == {"B": 1}


@every_backend
async def test_parallel_adds_of_one_session_all_count_and_are_all_read(
    new_device: NewDevice, new_account: Any
) -> None:
    device = new_device()
    await device.log_in(await new_account())
    await asyncio.gather(*(device.add("A") for _ in range(20)), *(device.add(f"S{n}") for n in range(10)))
    assert await device.quantities() == {"A": 20, **{f"S{n}": 1 for n in range(10)}}


async def test_an_older_copy_never_takes_the_place_of_a_newer_one(
    new_device: NewDevice, new_account: Any, database: Database
) -> None:
    """Two requests of one session; the one that wrote first tells the session last."""
    account, device, carts = await new_account(), new_device(), SqlCarts(database=database)
    await device.log_in(account)
    early, late = device.request(), device.request()
    seen = [await request.items("cart") for request in (early, late)]
    older, newer = [await carts.add(account.id, "A", 1, at_most=9) for _ in range(2)]
    assert await CartCopy(late, seen[1]).renew(newer)
    assert not await CartCopy(early, seen[0]).renew(older)
    assert await device.quantities() == {"A": 2}


async def test_a_write_that_another_ones_copy_lacks_is_read_all_the_same(
    new_device: NewDevice, new_account: Any
) -> None:
    """A request sees the session, another one writes and copies, then the first one writes."""
    device = new_device()
    await device.log_in(await new_account())
    await device.add("A")
    slow = device.request()
    cart = device.carts(slow)
    assert (await cart.read()).quantities == {"A": 1}
    await device.add("A")
    assert await cart.add("A", 1, at_most=9) == 3
    assert (await cart.read()).quantities == {"A": 3}
    assert await device.quantities() == {"A": 3}


async def test_two_devices_that_add_at_once_lose_nothing(
    new_device: NewDevice, new_account: Any, clock: Clock
) -> None:
    account, devices = await new_account(), [new_device() for _ in range(3)]
    for device in devices:
        await device.log_in(account)
    await asyncio.gather(*(device.add("A") for device in devices for _ in range(8)))
    clock.now += 2.1
    for device in devices:
        assert await device.quantities() == {"A": 24}


async def test_an_add_that_is_sent_again_counts_once_on_whichever_device(
    new_device: NewDevice, new_account: Any
) -> None:
    account, phone, laptop = await new_account(), new_device(), new_device()
    await phone.log_in(account)
    await laptop.log_in(account)
    at_once = await asyncio.gather(
        *(device.add("A", 2, once="key") for device in (phone, laptop) for _ in range(6))
    )
    assert set(at_once) == {2}
    assert await phone.add("A", 2, once="another") == 4
    for sku, quantity in (("A", 3), ("B", 2)):
        with pytest.raises(KeyReused):
            await phone.add(sku, quantity, once="key")
    assert await phone.quantities() == {"A": 4}


async def test_a_limit_refuses_the_whole_add_and_the_number_of_lines_is_exact(
    new_device: NewDevice, new_account: Any, database: Database
) -> None:
    account, device = await new_account(), new_device()
    await device.log_in(account)
    await device.add("A", 8, at_most=9)
    for quantity in (2, 10):
        with pytest.raises(CartLimit) as refused:
            await device.add("A", quantity, at_most=9)
        assert refused.value.at_most == 9
    many = {f"S{number:03}": 1 for number in range(LINES_LIMIT - 3)}
    guest = CartLines(cart_id=GUEST_ID, quantities=many)
    await SqlCarts(database=database).merge(account.id, guest, how="sum", room=many)
    outcomes = await asyncio.gather(
        *(device.add(f"T{number}") for number in range(8)), return_exceptions=True
    )
    assert sum(isinstance(outcome, CartLimit) and outcome.at_most == 0 for outcome in outcomes) == 6
    assert len(await device.quantities()) == LINES_LIMIT
    assert (await device.quantities())["A"] == 8


@every_backend
async def test_a_guests_cart_comes_in_once_however_the_log_in_is_repeated(
    new_device: NewDevice, new_account: Any, sell: Any
) -> None:
    for sku in ("A", "B"):
        await sell(sku, stock=50)
    account, earlier, device = await new_account(), new_device(), new_device()
    await earlier.log_in(account)
    await earlier.add("A", 1)
    await device.add("A", 2)
    await device.add("B", 1)
    await device.log_in(account)
    assert await device.quantities() == {"A": 3, "B": 1}
    await device.log_in(account)
    assert await device.quantities() == {"A": 3, "B": 1}
    await device.log_out()
    await device.log_in(account)
    assert await device.quantities() == {"A": 3, "B": 1}


async def test_parallel_log_ins_bring_a_guests_cart_in_once(
    new_device: NewDevice, new_account: Any, sell: Any
) -> None:
    """Ten times; each log-in of the same visitor reads the cart after it, as many requests at once do."""
    await sell("A", stock=90)
    account = await new_account()

    async def log_in_and_look(device: Device) -> None:
        session = device.request()
        await session.login(user_of(account.id))
        cart = device.carts(session)
        await asyncio.gather(*(cart.read() for _ in range(3)))

    for number in range(1, 11):
        guest, other = new_device(), new_device()
        await guest.add("A", 2)
        outcomes = await asyncio.gather(*(log_in_and_look(guest) for _ in range(3)), return_exceptions=True)
        assert all(outcome is None or isinstance(outcome, SessionEnded) for outcome in outcomes)
        await other.log_in(account)
        assert await other.quantities() == {"A": 2 * number}


async def test_a_merge_whose_copy_was_never_written_is_not_done_again(
    new_device: NewDevice, new_account: Any, sell: Any, database: Database
) -> None:
    """As after a crash between the two stores: the database merged, the session still has the guest's cart."""
    await sell("A", stock=2)
    account, device = await new_account(), new_device()
    await device.add("A", 2)
    guest = await device.lines()
    await device.log_in(account)
    carts = SqlCarts(database=database)
    await carts.add(account.id, "A", 1, at_most=9)
    for _ in range(3):
        kept = await carts.merge(account.id, guest, how="sum", room={"A": 2})
        assert kept is not None
        assert (kept.lines.quantities, kept.lines.left_out) == ({"A": 2}, {"A": 1})
    lines = await device.lines()
    assert (lines.quantities, lines.left_out) == ({"A": 2}, {"A": 1})
    assert (await device.lines()).left_out == {"A": 1}


async def test_parallel_merges_of_one_guests_cart_count_once(new_account: Any, database: Database) -> None:
    account, carts = await new_account(), SqlCarts(database=database)
    guest = CartLines(cart_id=GUEST_ID, quantities={"A": 2, "B": 1})
    merged = await asyncio.gather(
        *(carts.merge(account.id, guest, how="sum", room={"A": 99, "B": 99}) for _ in range(12))
    )
    assert {tuple(sorted(kept.lines.quantities.items())) for kept in merged if kept} == {(("A", 2), ("B", 1))}


async def test_what_was_left_out_is_told_until_the_cart_is_looked_through(
    new_device: NewDevice, new_account: Any, sell: Any
) -> None:
    await sell("A", stock=3)
    account, earlier, device = await new_account(), new_device(), new_device()
    await earlier.log_in(account)
    await earlier.add("A", 2)
    await device.add("A", 2)
    await device.log_in(account)
    lines = await device.lines()
    assert (lines.quantities, lines.left_out) == ({"A": 3}, {"A": 1})
    await device.add("B")
    assert (await device.lines()).left_out == {"A": 1}
    await device.does(lambda cart: cart.put("B", 2, at_most=9))
    assert (await device.lines()).left_out == {}


async def test_a_log_in_as_somebody_else_brings_nothing_along(
    new_device: NewDevice, new_account: Any
) -> None:
    first, second, device = await new_account(), await new_account(), new_device()
    await device.log_in(first)
    await device.add("A", 2)
    await device.log_in(second)
    assert await device.quantities() == {}
    await device.log_in(first)
    assert await device.quantities() == {"A": 2}


async def test_a_cart_is_settled_once_on_whichever_device_and_keeps_what_came_meanwhile(
    new_device: NewDevice, new_account: Any, clock: Clock
) -> None:
    account, phone, laptop = await new_account(), new_device(), new_device()
    await phone.log_in(account)
    await laptop.log_in(account)
    await phone.add("A", 2)
    ordered = await phone.lines()
    await laptop.add("A", 3)
    await laptop.add("B", 1)
    outcomes = await asyncio.gather(
        *(device.does(lambda cart: cart.settle(ordered)) for device in (phone, laptop) for _ in range(5))
    )
    assert sum(outcomes) == 1
    clock.now += 2.1
    for device in (phone, laptop):
        lines = await device.lines()
        assert lines.quantities == {"A": 3, "B": 1}
        assert lines.settled_id == ordered.cart_id != lines.cart_id
    assert not await phone.does(lambda cart: cart.settle(CartLines(cart_id=None, quantities={})))


async def test_a_line_lowered_during_the_checkout_ends_at_nothing(
    new_device: NewDevice, new_account: Any
) -> None:
    device = new_device()
    await device.log_in(await new_account())
    await device.add("A", 5)
    ordered = await device.lines()
    await device.does(lambda cart: cart.put("A", 2, at_most=9))
    assert await device.does(lambda cart: cart.settle(ordered))
    assert await device.quantities() == {}


async def test_an_account_that_is_gone_fills_no_cart(
    new_device: NewDevice, new_account: Any, database: Database
) -> None:
    account, device = await new_account(), new_device()
    await device.log_in(account)
    await database.transaction(
        lambda connection: connection.execute(delete(accounts_table).where(accounts_table.c.id == account.id))
    )
    assert await device.quantities() == {}
    with pytest.raises(LoginNeeded):
        await device.add("A")


async def test_a_database_that_is_away_leaves_the_copy_readable(
    new_device: NewDevice, new_account: Any, clock: Clock
) -> None:
    device = new_device()
    await device.log_in(await new_account())
    await device.add("A", 2)
    clock.now += 2.1

    async def away(_: object) -> Mapping[str, int]:
        raise Unavailable("the database")

    device.carts = replace(device.carts, versions=Snapshot(away))
    assert await device.quantities() == {"A": 2}


async def test_what_is_remembered_of_merges_does_not_grow_for_ever(
    new_account: Any, database: Database
) -> None:
    account, carts = await new_account(), SqlCarts(database=database)
    for number in range(3):
        guest = CartLines(cart_id=f"guest-{number}", quantities={"A": 1})
        await carts.merge(account.id, guest, how="sum", room={"A": 99})
        await database.transaction(
            lambda connection: connection.execute(
                cart_merges.update().values(merged_at=func.now() - func.make_interval(0, 0, 0, 3))
            )
        )
    left = await database.row(select(func.count()).select_from(cart_merges))
    assert left is not None
    assert left[0] == 1
