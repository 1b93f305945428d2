"""Replicas by Vietnam's clock."""

from __future__ import annotations

from datetime import UTC, datetime, time

import pytest

from app.planning.schedule import VIETNAM, Entry, scheduled

SALE = Entry(start=time(19, 45), until=time(22), replicas=4)
NIGHT = Entry(start=time(23), until=time(1, 30), replicas=6)


@pytest.mark.parametrize(
    ("at", "holds"),
    [((19, 44), False), ((19, 45), True), ((21, 59), True), ((22, 0), False), ((3, 0), False)],
)
def test_an_entry_holds_from_its_start_until_just_before_its_end(at: tuple[int, int], holds: bool) -> None:  # noqa: FBT001
    assert SALE.holds(datetime(2026, 5, 6, *at, tzinfo=VIETNAM)) is holds


@pytest.mark.parametrize(
    ("at", "holds"), [((22, 59), False), ((23, 0), True), ((1, 29), True), ((1, 30), False)]
)
def test_an_entry_may_go_over_midnight(at: tuple[int, int], holds: bool) -> None:  # noqa: FBT001
    assert NIGHT.holds(datetime(2026, 5, 6, *at, tzinfo=VIETNAM)) is holds


def test_the_time_zone_of_the_machine_does_not_matter() -> None:
    assert SALE.holds(datetime(2026, 5, 6, 12, 45, tzinfo=UTC))
    assert not SALE.holds(datetime(2026, 5, 6, 19, 45, tzinfo=UTC))


def test_of_several_entries_the_one_that_wants_most_counts() -> None:
    more = Entry(start=time(20), until=time(21), replicas=8)
    assert scheduled([SALE, more], datetime(2026, 5, 6, 20, 30, tzinfo=VIETNAM)) == more
    assert scheduled([SALE, more], datetime(2026, 5, 6, 21, 30, tzinfo=VIETNAM)) == SALE
    assert scheduled([SALE, more], datetime(2026, 5, 6, 9, tzinfo=VIETNAM)) is None


def test_an_entry_that_cannot_be_meant_is_refused() -> None:
    with pytest.raises(ValueError, match="begins when it ends"):
        Entry(start=time(8), until=time(8), replicas=2)
    with pytest.raises(ValueError, match="wants no replica"):
        Entry(start=time(8), until=time(9), replicas=0)
