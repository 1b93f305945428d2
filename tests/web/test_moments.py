"""Days are Vietnam's: an order late in the evening of UTC belongs to the next day."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.shop.money import written
from app.shop.orders import order_number
from app.web.templating import vietnam_time

LATE = datetime(2026, 4, 29, 17, 30, tzinfo=UTC)


def test_half_past_five_in_the_evening_utc_is_the_next_day_in_vietnam() -> None:
    assert vietnam_time(LATE) == "00:30 30/04/2026"
    assert vietnam_time(LATE.replace(hour=16, minute=59)) == "23:59 29/04/2026"


def test_the_number_of_an_order_has_the_day_that_its_page_shows() -> None:
    assert "260430" in order_number(LATE, 7).replace("-", "")


@pytest.mark.parametrize(
    ("amount", "shown"),
    [(0, "0 ₫"), (999, "999 ₫"), (1_234_568, "1.234.568 ₫"), (10**12, "1.000.000.000.000 ₫")],
)
def test_an_amount_is_written_with_points_and_no_decimals(amount: int, shown: str) -> None:
    assert written(amount) == shown.replace(" ", "\u00a0")
