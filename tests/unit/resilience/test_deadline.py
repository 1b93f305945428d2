from __future__ import annotations

import asyncio

import pytest

from app.resilience import BudgetSpent, DeadlineExceeded, TimedOut, deadline

from .conftest import Clock


def test_without_a_budget_nobody_waits() -> None:
    assert deadline.left_s() is None
    assert deadline.headers() == {}


def test_a_budget_runs_down_and_ends_with_its_block() -> None:
    clock = Clock()
    with deadline.budget(2.0, clock=clock):
        clock.sleep(0.75)
        assert deadline.left_s() == pytest.approx(1.25)
        assert deadline.headers() == {"X-Request-Deadline-Ms": "1250"}
        clock.sleep(5)
        assert deadline.headers() == {"X-Request-Deadline-Ms": "0"}
    assert deadline.left_s() is None


def test_an_inner_budget_is_never_longer_than_the_outer() -> None:
    clock = Clock()
    with deadline.budget(2.0, clock=clock):
        with deadline.budget(10.0, clock=clock):
            assert deadline.left_s() == pytest.approx(2)
        with deadline.budget(1.0, clock=clock):
            assert deadline.left_s() == pytest.approx(1)
        assert deadline.left_s() == pytest.approx(2)


@pytest.mark.parametrize(
    ("value", "seconds"), [("1500", 1.5), ("0", 0.0), ("00000007", 0.007), ("99999999", 99999.999)]
)
def test_a_header_of_milliseconds_is_read(value: str, seconds: float) -> None:
    assert deadline.parse(value) == seconds


@pytest.mark.parametrize(
    "value", [None, "", "-1", "+1", "1.5", " 1", "1_000", "１２", "1e3", "123456789", "soon"]
)
def test_anything_else_is_no_deadline(value: str | None) -> None:
    assert deadline.parse(value) is None


async def test_a_call_that_takes_its_whole_time_has_timed_out() -> None:
    with pytest.raises(TimedOut) as late:
        async with deadline.spend(0.01):
            await asyncio.Event().wait()
    assert late.value.allowed_s == pytest.approx(0.01)
    assert isinstance(late.value, TimeoutError)
    assert str(late.value) == "no answer within 0.010 s"


async def test_a_call_cut_short_by_the_budget_says_so() -> None:
    with deadline.budget(0.01), pytest.raises(BudgetSpent) as late:
        async with deadline.spend(60):
            await asyncio.Event().wait()
    assert 0 < late.value.allowed_s <= 0.01


async def test_the_dependencys_own_time_counts_within_a_longer_budget() -> None:
    with deadline.budget(60), pytest.raises(TimedOut):
        async with deadline.spend(0.01):
            await asyncio.Event().wait()


async def test_a_budget_that_is_spent_starts_no_call() -> None:
    started = False
    with deadline.budget(0), pytest.raises(BudgetSpent) as late:
        async with deadline.spend(1):
            started = True
    assert not started
    assert late.value.allowed_s == 0


async def test_the_call_sees_its_own_end_and_the_caller_its_own_again() -> None:
    with deadline.budget(60):
        async with deadline.spend(5):
            assert 4 < (deadline.left_s() or 0) <= 5
            assert 4000 < int(deadline.headers()[deadline.HEADER]) <= 5000
        assert (deadline.left_s() or 0) > 50
    async with deadline.spend(5):
        assert deadline.left_s() is not None
    assert deadline.left_s() is None


async def test_errors_and_foreign_timeouts_pass_unchanged() -> None:
    for error in (KeyError("x"), TimeoutError("theirs")):
        with pytest.raises(type(error)) as raised:
            async with deadline.spend(60):
                raise error
        assert raised.value is error
        assert deadline.left_s() is None


async def test_cancellation_passes_unchanged() -> None:
    async def call() -> None:
        async with deadline.spend(60):
            await asyncio.Event().wait()

    task = asyncio.create_task(call())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_client_that_dresses_our_cut_off_as_its_own_error_does_not_hide_it() -> None:
    async def client() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ConnectionError("connection lost") from None

    with pytest.raises(TimedOut) as late:
        async with deadline.spend(0.01):
            await client()
    assert isinstance(late.value.__cause__, ConnectionError)
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_tasks_started_in_a_budget_spend_from_it() -> None:
    async def child() -> float | None:
        return deadline.left_s()

    with deadline.budget(60):
        assert await asyncio.create_task(child()) is not None


def test_both_kinds_are_one_kind_to_who_does_not_care() -> None:
    assert issubclass(TimedOut, DeadlineExceeded)
    assert issubclass(BudgetSpent, DeadlineExceeded)
