from __future__ import annotations

import math

import pytest

from app.resilience import BreakerConfig, BulkheadConfig, LimiterConfig, Misconfigured, RetryConfig


def test_the_defaults_are_resilience4js() -> None:
    config = BreakerConfig()
    assert config.failure_rate_threshold == 50
    assert config.slow_call_rate_threshold == 100
    assert config.slow_call_duration_threshold_s == 60
    assert config.minimum_number_of_calls == 100
    assert (config.sliding_window_type, config.sliding_window_size) == ("count", 100)
    assert config.permitted_number_of_calls_in_half_open_state == 10
    assert config.wait_duration_in_open_state_s == 60


def test_ours_are_a_round_that_ends_and_a_cool_down_that_grows_and_is_spread() -> None:
    config = BreakerConfig()
    assert config.max_wait_duration_in_half_open_state_s == 60
    assert (config.wait_growth, config.longest_wait_in_open_state_s, config.wait_jitter) == (2, 600, 0.2)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            {"failure_rate_threshold": 0},
            "failure_rate_threshold is 0, must be a percentage above 0 and at most 100",
        ),
        ({"failure_rate_threshold": -1}, "failure_rate_threshold is -1, must be"),
        ({"failure_rate_threshold": 100.5}, "failure_rate_threshold is 100.5, must be"),
        ({"failure_rate_threshold": math.nan}, "failure_rate_threshold is nan, must be"),
        ({"failure_rate_threshold": "50"}, "failure_rate_threshold is '50', must be"),
        ({"slow_call_rate_threshold": 0}, "slow_call_rate_threshold is 0, must be"),
        (
            {"slow_call_duration_threshold_s": 0},
            "slow_call_duration_threshold_s is 0, must be a number of seconds",
        ),
        ({"slow_call_duration_threshold_s": math.inf}, "slow_call_duration_threshold_s is inf, must be"),
        ({"sliding_window_type": "COUNT"}, "sliding_window_type is 'COUNT', must be 'count' or 'time'"),
        ({"sliding_window_size": 0}, "sliding_window_size is 0, must be a whole number of at least 1"),
        ({"sliding_window_size": True}, "sliding_window_size is True, must be a whole number"),
        ({"sliding_window_size": 10.5}, "sliding_window_size is 10.5, must be a whole number"),
        ({"minimum_number_of_calls": 0}, "minimum_number_of_calls is 0, must be"),
        (
            {"sliding_window_size": 10},
            "minimum_number_of_calls is 100, must be at most sliding_window_size=10",
        ),
        (
            {"permitted_number_of_calls_in_half_open_state": 0},
            "permitted_number_of_calls_in_half_open_state is 0",
        ),
        ({"max_wait_duration_in_half_open_state_s": 0}, "max_wait_duration_in_half_open_state_s is 0"),
        ({"wait_duration_in_open_state_s": -1}, "wait_duration_in_open_state_s is -1, must be"),
        ({"wait_duration_in_open_state_s": 700}, "longest_wait_in_open_state_s is 600.0, must be at least"),
        ({"longest_wait_in_open_state_s": math.inf}, "longest_wait_in_open_state_s is inf, must be"),
        ({"wait_growth": 0.9}, "wait_growth is 0.9, must be a finite factor of at least 1"),
        ({"wait_growth": math.nan}, "wait_growth is nan, must be"),
        ({"wait_growth": float("inf")}, "wait_growth is inf, must be"),
        ({"wait_jitter": 1}, "wait_jitter is 1, must be a fraction from 0 and below 1"),
        ({"wait_jitter": 1.5}, "wait_jitter is 1.5, must be"),
        ({"wait_jitter": -0.1}, "wait_jitter is -0.1, must be"),
    ],
)
def test_a_breaker_that_could_not_work_is_refused_in_one_line(options: dict[str, object], says: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        BreakerConfig(**options)  # type: ignore[arg-type]  # that is the point
    assert str(refused.value).startswith(says)
    assert "\n" not in str(refused.value)


def test_the_edges_of_what_works_are_accepted() -> None:
    BreakerConfig(
        failure_rate_threshold=100,
        slow_call_rate_threshold=0.1,
        sliding_window_size=1,
        minimum_number_of_calls=1,
        permitted_number_of_calls_in_half_open_state=1,
        wait_duration_in_open_state_s=600,
        wait_growth=1,
        wait_jitter=0,
    )
    BreakerConfig(wait_jitter=0.99, minimum_number_of_calls=100, sliding_window_size=100)


def test_a_time_window_may_ask_for_more_calls_than_it_has_seconds() -> None:
    assert BreakerConfig(sliding_window_type="time", sliding_window_size=10).minimum_number_of_calls == 100


@pytest.mark.parametrize(
    ("kind", "options", "says"),
    [
        (BulkheadConfig, {"max_concurrent_calls": 0}, "max_concurrent_calls is 0"),
        (
            BulkheadConfig,
            {"max_waiting": 2},
            "max_wait_duration_s is 0.0, must be a number of seconds above 0",
        ),
        (BulkheadConfig, {"max_waiting": -1}, "max_waiting is -1"),
        (
            BulkheadConfig,
            {"max_wait_duration_s": 1.0},
            "max_wait_duration_s is 1.0, must be 0 without max_waiting",
        ),
        (BulkheadConfig, {"retry_after_s": 0}, "retry_after_s is 0"),
        (LimiterConfig, {"max_threads": 0}, "max_threads is 0"),
        (LimiterConfig, {"queue_capacity": -1}, "queue_capacity is -1"),
        (LimiterConfig, {"retry_after_s": -1}, "retry_after_s is -1"),
        (RetryConfig, {"max_attempts": 1}, "max_attempts is 1, must be a whole number of at least 2"),
        (RetryConfig, {"first_wait_s": 0}, "first_wait_s is 0"),
        (RetryConfig, {"longest_wait_s": 0}, "longest_wait_s is 0"),
        (RetryConfig, {"budget": 1.5}, "budget is 1.5, must be a fraction from 0 to 1"),
        (RetryConfig, {"at_least": -1}, "at_least is -1"),
    ],
)
def test_other_parts_refuse_likewise(kind: type, options: dict[str, object], says: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        kind(**options)
    assert str(refused.value).startswith(says)
