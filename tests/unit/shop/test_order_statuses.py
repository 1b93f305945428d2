"""The steps of an order are those that are written down, and no others."""

from __future__ import annotations

from itertools import product

import pytest

from app.shop.errors import WrongStatus
from app.shop.fulfilment import BY_HAND
from app.shop.orders import LISTED, NEXT, STATUSES, OrderStatus, check_step
from app.shop.orders.ledger import WISHES
from app.shop.orders.statuses import CUSTOMER_CANCELS, HOLDS_STOCK, RESERVES_STOCK


@pytest.mark.parametrize(("before", "after"), [*product(STATUSES, STATUSES)])
def test_a_step_exists_or_is_refused_by_the_status_it_starts_from(
    before: OrderStatus, after: OrderStatus
) -> None:
    if after in NEXT[before]:
        check_step(before, after)
        return
    with pytest.raises(WrongStatus) as refused:
        check_step(before, after)
    assert refused.value.order_status == before


def test_every_order_comes_to_an_end_and_none_comes_back() -> None:
    def ends(status: OrderStatus, seen: frozenset[OrderStatus] = frozenset()) -> bool:
        assert status not in seen, "a circle"
        return all(ends(after, seen | {status}) for after in NEXT[status])

    assert all(ends(status) for status in STATUSES)
    assert {status for status in STATUSES if not NEXT[status]} == {"cancelled", "refunded", "failed"}


def test_what_may_be_cancelled_knows_where_its_units_are() -> None:
    cancellable = {status for status in STATUSES if "cancelled" in NEXT[status]}
    assert cancellable <= HOLDS_STOCK | RESERVES_STOCK
    assert cancellable > CUSTOMER_CANCELS
    assert {status for status in STATUSES if "failed" in NEXT[status]} == RESERVES_STOCK


def test_a_status_that_ends_an_order_gives_its_money_back() -> None:
    assert {status for status, wish in WISHES.items() if wish == "back"} == {
        status for status in STATUSES if not NEXT[status]
    }
    assert set(LISTED) >= BY_HAND
