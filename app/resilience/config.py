"""The breaker's configuration: resilience4j's options and defaults, with a cool-down that grows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from .errors import Misconfigured

WindowType = Literal["count", "time"]


def demand(name: str, value: object, wants: str, *, holds: bool) -> None:
    """Raise `Misconfigured` in one line unless it holds."""
    if not holds:
        raise Misconfigured(f"{name} is {value!r}, must be {wants}")


def demand_whole(name: str, value: object, *, at_least: int) -> None:
    """Demand a whole number."""
    holds = isinstance(value, int) and not isinstance(value, bool) and value >= at_least
    demand(name, value, f"a whole number of at least {at_least}", holds=holds)


def demand_seconds(name: str, value: object) -> None:
    """Demand a finite time that passes."""
    holds = isinstance(value, int | float) and math.isfinite(value) and value > 0
    demand(name, value, "a number of seconds above 0", holds=holds)


def _demand_percent(name: str, value: object) -> None:
    holds = isinstance(value, int | float) and 0 < value <= 100
    demand(name, value, "a percentage above 0 and at most 100", holds=holds)


def every_error(_error: Exception) -> bool:
    """All errors count."""
    return True


def no_error(_error: Exception) -> bool:
    """No error is ignored."""
    return False


def no_result(_result: object) -> bool:
    """Whatever is returned is a success."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerConfig:
    """When to stop asking, and how to begin again. Rates in percent, reached at ``>=``.

    `sliding_window_size` is calls or whole seconds, by `sliding_window_type`. The first cool-down is
    `wait_duration_in_open_state_s`; each one after a failed round is `wait_growth` times longer, up to
    `longest_wait_in_open_state_s`, and each is spread by ± `wait_jitter` (a fraction), so that replicas
    do not come back together. `ignore` wins over `record`; an error that is neither is a success.
    `record_result` says which returned values of `Breaker.run` are failures.
    """

    failure_rate_threshold: float = 50.0
    slow_call_rate_threshold: float = 100.0
    slow_call_duration_threshold_s: float = 60.0
    minimum_number_of_calls: int = 100
    sliding_window_type: WindowType = "count"
    sliding_window_size: int = 100
    permitted_number_of_calls_in_half_open_state: int = 10
    max_wait_duration_in_half_open_state_s: float = 60.0
    wait_duration_in_open_state_s: float = 60.0
    wait_growth: float = 2.0
    longest_wait_in_open_state_s: float = 600.0
    wait_jitter: float = 0.2
    record: Callable[[Exception], bool] = every_error
    ignore: Callable[[Exception], bool] = no_error
    record_result: Callable[[object], bool] = no_result

    def __post_init__(self) -> None:
        """Refuse what could never open, never close, or never end."""
        _demand_percent("failure_rate_threshold", self.failure_rate_threshold)
        _demand_percent("slow_call_rate_threshold", self.slow_call_rate_threshold)
        demand_seconds("slow_call_duration_threshold_s", self.slow_call_duration_threshold_s)
        self._check_window()
        permitted = self.permitted_number_of_calls_in_half_open_state
        demand_whole("permitted_number_of_calls_in_half_open_state", permitted, at_least=1)
        demand_seconds("max_wait_duration_in_half_open_state_s", self.max_wait_duration_in_half_open_state_s)
        self._check_wait()

    def _check_window(self) -> None:
        kind, size, least = self.sliding_window_type, self.sliding_window_size, self.minimum_number_of_calls
        demand("sliding_window_type", kind, "'count' or 'time'", holds=kind in ("count", "time"))
        demand_whole("sliding_window_size", size, at_least=1)
        demand_whole("minimum_number_of_calls", least, at_least=1)
        demand(
            "minimum_number_of_calls",
            least,
            f"at most sliding_window_size={size}, or the breaker could never open",
            holds=kind == "time" or least <= size,
        )

    def _check_wait(self) -> None:
        first, longest = self.wait_duration_in_open_state_s, self.longest_wait_in_open_state_s
        demand_seconds("wait_duration_in_open_state_s", first)
        demand_seconds("longest_wait_in_open_state_s", longest)
        wants = f"at least wait_duration_in_open_state_s={first}"
        demand("longest_wait_in_open_state_s", longest, wants, holds=longest >= first)
        growth, jitter = self.wait_growth, self.wait_jitter
        demand("wait_growth", growth, "a finite factor of at least 1", holds=1 <= growth < math.inf)
        demand("wait_jitter", jitter, "a fraction from 0 and below 1", holds=0 <= jitter < 1)
