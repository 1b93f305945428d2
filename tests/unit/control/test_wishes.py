from __future__ import annotations

from datetime import timedelta

import pytest

from app.control.errors import UnknownBreaker, UnusableWish
from app.control.wishes import checked_time, checked_words, read_wish, wanted


@pytest.mark.parametrize("given", ["FORCED_OPEN", "forced-open", " Forced_Open "])
def test_a_state_is_known_in_any_spelling(given: str) -> None:
    assert wanted(given) == "FORCED_OPEN"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("CLOSED", "CLOSED is where a breaker goes by itself"),
        ("half-open", "HALF_OPEN is where a breaker goes by itself"),
        ("SHUT", "'SHUT' is not a state .* FORCED_OPEN, DISABLED, METRICS_ONLY, AUTOMATIC"),
        ("\x1b[31m", r"'\\x1b\[31m' is not a state"),
    ],
)
def test_another_state_is_refused_and_the_right_ones_are_named(given: str, says: str) -> None:
    with pytest.raises(UnusableWish, match=says):
        wanted(given)


@pytest.mark.parametrize("given", [timedelta(0), timedelta(seconds=-5), timedelta(days=2)])
def test_a_wish_that_never_begins_or_is_forgotten_is_refused(given: timedelta) -> None:
    with pytest.raises(UnusableWish, match="from 1 s to 24 h"):
        checked_time(given)


@pytest.mark.parametrize("given", ["", "  \n ", "red\x1b[31m", "x" * 201])
def test_a_reason_is_a_line_of_text(given: str) -> None:
    with pytest.raises(UnusableWish, match="reason"):
        checked_words("reason", given)


def test_a_reason_is_kept_as_one_line() -> None:
    assert checked_words("reason", " bảo trì\n cổng thanh toán ") == "bảo trì cổng thanh toán"


@pytest.mark.parametrize(
    "stored", ["", "null", "[]", "5", "{}", '{"state": "OPEN"}', '{"state": 5, "since_ms": "x"}', "\x00"]
)
def test_what_nobody_of_ours_wrote_is_no_wish(stored: str) -> None:
    assert read_wish("payments", stored) is None


def test_an_unknown_breaker_is_told_its_nearest_name() -> None:
    assert "did you mean payments?" in str(UnknownBreaker("paymnets", ["payments", "reviews"]))
    assert "there are: payments, reviews" in str(UnknownBreaker("zzz", ["reviews", "payments"]))
    assert "is one running?" in str(UnknownBreaker("zzz", []))
