"""A cart on real sessions, in the heap and in Redis: nothing is lost, nothing is settled twice."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from functools import partial

import pytest

from app.sessions import Session, SessionConfig, SessionEnded, Sessions
from app.shop.cart import LINES_LIMIT, Cart, CartLines
from app.shop.errors import CartLimit, KeyReused, Unavailable
from app.stores.session_cart import SessionCart

Browser = Callable[[], Session]
"""A new request of one browser, each time."""


@pytest.fixture(params=["memory", "redis"])
async def sessions(request: pytest.FixtureRequest) -> AsyncIterator[Sessions]:
    url = "memory://" if request.param == "memory" else request.getfixturevalue("redis_url")
    sessions = Sessions.from_url(
        url,
        keys=[secrets.token_hex(32)],
        config=SessionConfig(cookie_secure=False, timeout=timedelta(seconds=10)),
    )
    await sessions.open()
    yield sessions
    await sessions.close()


def request(sessions: Sessions, cookie: bytes = b"") -> Session:
    headers = [(b"cookie", cookie)] if cookie else []
    return Session(sessions, {"type": "http", "headers": headers, "client": ("203.0.113.7", 1)})


@pytest.fixture
async def browser(sessions: Sessions) -> Browser:
    """One that put a first thing into its cart and took it out again."""
    first = request(sessions)
    await SessionCart(first).add("FIRST", 1, at_most=9)
    await SessionCart(first).put("FIRST", 0, at_most=9)
    sealed = await first.seal()
    assert sealed is not None
    cookie = sealed.split(b";")[0]
    return lambda: request(sessions, cookie)


async def test_a_visitor_has_an_empty_cart_and_reading_it_makes_nothing(sessions: Sessions) -> None:
    visit = request(sessions)
    cart: Cart = SessionCart(visit)
    assert await cart.read() == CartLines(cart_id=None, quantities={})
    await cart.put("A", 0, at_most=9)
    assert await cart.settle(CartLines(cart_id="x", quantities={"A": 1})) is False
    assert await visit.seal() is None


async def test_the_first_thing_added_makes_the_session_and_names_the_filling(browser: Browser) -> None:
    cart = SessionCart(browser())
    before = await cart.read()
    assert before.cart_id is not None
    assert before.quantities == {}
    assert await cart.add("A", 2, at_most=9) == 2
    assert await cart.add("A", 3, at_most=9) == 5
    assert await SessionCart(browser()).read() == CartLines(cart_id=before.cart_id, quantities={"A": 5})


async def test_of_forty_requests_at_once_every_unit_is_kept(browser: Browser) -> None:
    quantities = await asyncio.gather(*(SessionCart(browser()).add("A", 1, at_most=99) for _ in range(40)))
    await asyncio.gather(*(SessionCart(browser()).add(f"S{n}", 1, at_most=99) for n in range(20)))
    lines = (await SessionCart(browser()).read()).quantities
    assert sorted(quantities) == list(range(1, 41))
    assert lines == {"A": 40, **{f"S{n}": 1 for n in range(20)}}


async def test_past_the_limit_of_a_line_nothing_changes(browser: Browser) -> None:
    cart = SessionCart(browser())
    await cart.add("A", 4, at_most=5)
    with pytest.raises(CartLimit) as refused:
        await cart.add("A", 2, at_most=5)
    assert (refused.value.sku, refused.value.at_most) == ("A", 5)
    with pytest.raises(CartLimit):
        await cart.put("A", 6, at_most=5)
    assert (await SessionCart(browser()).read()).quantities == {"A": 4}


async def test_a_line_may_be_set_lowered_and_removed(browser: Browser) -> None:
    await SessionCart(browser()).put("A", 7, at_most=9)
    await SessionCart(browser()).put("A", 2, at_most=9)
    assert (await SessionCart(browser()).read()).quantities == {"A": 2}
    await SessionCart(browser()).put("A", 0, at_most=9)
    assert (await SessionCart(browser()).read()).quantities == {}


async def test_a_full_cart_takes_no_other_line_but_more_of_its_own(browser: Browser) -> None:
    for number in range(LINES_LIMIT):
        await SessionCart(browser()).add(f"{'S' * 60}{number:04d}", 1, at_most=9)
    with pytest.raises(CartLimit) as refused:
        await SessionCart(browser()).add("ONE-MORE", 1, at_most=9)
    assert refused.value.at_most == 0
    with pytest.raises(CartLimit):
        await SessionCart(browser()).put("ONE-MORE", 1, at_most=9)
    assert await SessionCart(browser()).add(f"{'S' * 60}0000", 1, at_most=9) == 2


async def test_what_was_ordered_is_taken_out_once(browser: Browser) -> None:
    await SessionCart(browser()).add("A", 3, at_most=9)
    await SessionCart(browser()).add("B", 1, at_most=9)
    ordered = await SessionCart(browser()).read()
    outcomes = await asyncio.gather(*(SessionCart(browser()).settle(ordered) for _ in range(10)))
    assert outcomes.count(True) == 1
    after = await SessionCart(browser()).read()
    assert after.quantities == {}
    assert after.settled_id == ordered.cart_id
    assert after.cart_id != ordered.cart_id


async def test_a_refilled_cart_is_not_emptied_by_an_earlier_order(browser: Browser) -> None:
    await SessionCart(browser()).add("A", 3, at_most=9)
    first = await SessionCart(browser()).read()
    assert await SessionCart(browser()).settle(first)
    await SessionCart(browser()).add("A", 3, at_most=9)
    second = await SessionCart(browser()).read()
    assert not await SessionCart(browser()).settle(first)
    assert (await SessionCart(browser()).read()).quantities == {"A": 3}
    assert await SessionCart(browser()).settle(second)
    assert not await SessionCart(browser()).settle(first)


async def test_what_is_added_while_an_order_is_made_survives_it(browser: Browser) -> None:
    await SessionCart(browser()).add("A", 10, at_most=99)
    ordered = await SessionCart(browser()).read()
    *added, settled, again = await asyncio.gather(
        *(SessionCart(browser()).add("A", 1, at_most=99) for _ in range(20)),
        SessionCart(browser()).settle(ordered),
        SessionCart(browser()).settle(ordered),
    )
    assert len(added) == 20
    assert [settled, again].count(True) == 1
    assert (await SessionCart(browser()).read()).quantities == {"A": 20}


async def test_what_was_lowered_meanwhile_is_not_taken_twice(browser: Browser) -> None:
    await SessionCart(browser()).add("A", 5, at_most=9)
    ordered = await SessionCart(browser()).read()
    await SessionCart(browser()).put("A", 2, at_most=9)
    assert await SessionCart(browser()).settle(ordered)
    assert (await SessionCart(browser()).read()).quantities == {}


async def test_logging_in_keeps_the_cart(browser: Browser, sessions: Sessions) -> None:
    await SessionCart(browser()).add("A", 5, at_most=9)
    login = browser()
    await login.login("user:1")
    sealed = await login.seal()
    assert sealed is not None
    assert (await SessionCart(request(sessions, sealed.split(b";")[0])).read()).quantities == {"A": 5}


async def test_a_cart_whose_session_ends_meanwhile_is_not_written(browser: Browser) -> None:
    slow = browser()
    cart = SessionCart(slow)
    ordered = await cart.read()
    await browser().logout()
    with pytest.raises(SessionEnded):
        await cart.add("A", 1, at_most=9)
    assert not await SessionCart(slow).settle(ordered)


async def test_without_the_store_the_cart_is_unavailable() -> None:
    sessions = Sessions.from_url("redis://127.0.0.1:1/0", keys=[secrets.token_hex(32)])
    await sessions.open()
    with pytest.raises(Unavailable):
        await SessionCart(request(sessions)).add("A", 1, at_most=9)
    await sessions.close()


async def test_an_add_that_is_sent_again_counts_once(browser: Browser) -> None:
    assert await SessionCart(browser()).add("A", 2, at_most=9, once="key") == 2
    assert await SessionCart(browser()).add("A", 2, at_most=9, once="key") == 2
    assert await SessionCart(browser()).add("A", 2, at_most=9, once="another") == 4


async def test_a_key_that_comes_with_another_add_is_refused(browser: Browser) -> None:
    await SessionCart(browser()).add("A", 1, at_most=9, once="key")
    for sku, quantity in (("A", 2), ("B", 1)):
        with pytest.raises(KeyReused):
            await SessionCart(browser()).add(sku, quantity, at_most=9, once="key")
    assert (await SessionCart(browser()).read()).quantities == {"A": 1}


async def test_one_add_sent_ten_times_at_once_counts_once(browser: Browser) -> None:
    adds = (SessionCart(browser()).add("A", 1, at_most=99, once="key") for _ in range(10))
    assert set(await asyncio.gather(*adds)) == {1}
    assert (await SessionCart(browser()).read()).quantities == {"A": 1}


async def test_an_add_that_was_refused_may_be_tried_again(browser: Browser) -> None:
    with pytest.raises(CartLimit):
        await SessionCart(browser()).add("A", 3, at_most=2, once="key")
    assert await SessionCart(browser()).add("A", 2, at_most=2, once="key") == 2


async def test_a_session_remembers_its_latest_adds_only(browser: Browser) -> None:
    for number in range(20):
        now = float(number)
        cart = SessionCart(browser(), clock=partial(float, now))
        assert await cart.add("A", 1, at_most=99, once=f"key {number}") == number + 1
    assert len(await browser().items("cart+")) == 8
    assert await SessionCart(browser()).add("A", 1, at_most=99, once="key 19") == 20
