"""An order's number is for people in Vietnam."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.shop.orders import OrderLine, order_number


@pytest.mark.parametrize(
    ("placed_at", "number"),
    [
        (datetime(2026, 1, 31, 16, 59, 59, tzinfo=UTC), "260131-000042"),
        (datetime(2026, 1, 31, 17, 30, tzinfo=UTC), "260201-000042"),
        (datetime(2026, 12, 31, 17, 0, tzinfo=UTC), "270101-000042"),
    ],
)
def test_the_day_is_the_one_in_vietnam(placed_at: datetime, number: str) -> None:
    assert order_number(placed_at, 42) == number


def test_a_number_grows_past_a_million_orders() -> None:
    assert order_number(datetime(2026, 1, 1, tzinfo=UTC), 1_234_567) == "260101-1234567"


def test_a_line_costs_its_units() -> None:
    assert OrderLine(sku="A", name="A", quantity=3, unit_price=25_000).total == 75_000
