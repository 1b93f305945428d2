"""Random interleavings against a model of the breaker that is written from the promise, not from the code."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from app.resilience import Breaker, BreakerConfig, NotPermitted, State
from app.resilience.announcer import Verdict
from app.resilience.breaker import Ticket
from app.resilience.held import HeldName

from .conftest import Clock

SLOW_S, WAIT_S, GROWTH, LONGEST_S, LOST_S = 5.0, 10.0, 2.0, 35.0, 20.0


@dataclass
class Out:
    """A call under way, and the epoch of the model it was let go in."""

    ticket: Ticket
    epoch: int
    at: float


@dataclass
class Model:
    """What the breaker promises, kept as plain lists."""

    config: BreakerConfig
    now: float
    state: str = "CLOSED"
    epoch: int = 0
    kept: list[tuple[bool, bool, float]] = field(default_factory=list)
    until: float | None = None
    wait: float = WAIT_S
    probes: list[float] = field(default_factory=list)

    def go(self, state: str, *, until: float | None = None) -> None:
        if state != "OPEN":
            self.kept = []
        self.state, self.until, self.probes = state, until, []
        self.epoch += 1

    def look(self) -> None:
        """What time alone has changed."""
        if self.state == "HALF_OPEN":
            if self.probes and self.now >= min(self.probes) + LOST_S:
                self.reopen()
        elif self.until is not None and self.now >= self.until:
            probing = self.state in ("OPEN", "FORCED_OPEN")
            if self.state == "FORCED_OPEN":
                self.wait = WAIT_S
            self.go("HALF_OPEN" if probing else "CLOSED")

    def reopen(self) -> None:
        self.wait = min(self.wait * GROWTH, LONGEST_S)
        self.go("OPEN", until=self.now + self.wait)

    def lets_go(self) -> bool:
        if self.state == "HALF_OPEN":
            permitted = self.config.permitted_number_of_calls_in_half_open_state
            return len(self.probes) + len(self.kept) < permitted
        return self.state not in ("OPEN", "FORCED_OPEN")

    def window(self) -> list[tuple[bool, bool, float]]:
        size = self.config.sliding_window_size
        if self.state == "HALF_OPEN":
            return self.kept
        if self.config.sliding_window_type == "count":
            return self.kept[-size:]
        return [one for one in self.kept if int(one[2]) > int(self.now) - size]

    def reached(self, whole: int) -> bool:
        window = self.window()
        failed = sum(one[0] for one in window) / whole * 100
        slow = sum(one[1] for one in window) / whole * 100
        return failed >= self.config.failure_rate_threshold or slow >= self.config.slow_call_rate_threshold

    def learn(self, *, failed: bool, slow: bool) -> None:
        if self.state == "DISABLED":
            return
        self.kept.append((failed, slow, self.now))
        seen = len(self.window())
        if self.state == "CLOSED" and seen >= self.config.minimum_number_of_calls and self.reached(seen):
            self.wait = WAIT_S
            self.go("OPEN", until=self.now + WAIT_S)
        elif self.state == "HALF_OPEN":
            permitted = self.config.permitted_number_of_calls_in_half_open_state
            if self.reached(permitted):
                self.reopen()
            elif len(self.kept) == permitted:
                self.go("CLOSED")


class Interleavings(RuleBasedStateMachine):
    """Calls begin and end in any order, time passes in any steps, and an operator interferes."""

    HELD: ClassVar[list[HeldName]] = [State.FORCED_OPEN, State.DISABLED, State.METRICS_ONLY]

    @initialize(
        kind=st.sampled_from(["count", "time"]),
        size=st.integers(2, 6),
        least=st.integers(1, 2),
        permitted=st.integers(1, 4),
        failure=st.sampled_from([20.0, 50.0, 100.0]),
        slow=st.sampled_from([30.0, 100.0]),
    )
    def begin(self, kind: str, size: int, least: int, permitted: int, failure: float, slow: float) -> None:
        self.clock = Clock(now=1000.0)
        config = BreakerConfig(
            failure_rate_threshold=failure,
            slow_call_rate_threshold=slow,
            slow_call_duration_threshold_s=SLOW_S,
            minimum_number_of_calls=least,
            sliding_window_type="count" if kind == "count" else "time",
            sliding_window_size=size,
            permitted_number_of_calls_in_half_open_state=permitted,
            max_wait_duration_in_half_open_state_s=LOST_S,
            wait_duration_in_open_state_s=WAIT_S,
            wait_growth=GROWTH,
            longest_wait_in_open_state_s=LONGEST_S,
        )
        self.breaker = Breaker("model", config, clock=self.clock, chance=lambda: 0.5)
        self.model = Model(config, self.clock.now)
        self.out: list[Out] = []

    @rule()
    def call_begins(self) -> None:
        self.model.look()
        if not self.model.lets_go():
            with pytest.raises(NotPermitted) as refused:
                self.breaker.admit()
            assert refused.value.retry_after_s > 0
            return
        if self.model.state == "HALF_OPEN":
            self.model.probes.append(self.clock.now)
        self.out.append(Out(self.breaker.admit(), self.model.epoch, self.clock.now))

    @precondition(lambda self: self.out)
    @rule(data=st.data(), verdict=st.sampled_from(["successful", "failed", "failed", "ignored"]))
    def call_ends(self, data: st.DataObject, verdict: Verdict) -> None:
        call = self.out.pop(data.draw(st.integers(0, len(self.out) - 1)))
        self.model.look()
        self.breaker.settle(call.ticket, verdict)
        if call.epoch != self.model.epoch:
            return
        if self.model.state == "HALF_OPEN":
            self.model.probes.remove(call.at)
        if verdict != "ignored":
            self.model.learn(failed=verdict == "failed", slow=self.clock.now - call.at >= SLOW_S)

    @rule(seconds=st.sampled_from([0.3, 1.0, 5.0, 10.0, 20.0, 35.0]))
    def time_passes(self, seconds: float) -> None:
        self.clock.sleep(seconds)
        self.model.now = self.clock.now

    @rule(name=st.sampled_from(HELD), for_s=st.sampled_from([None, 5.0, 20.0]))
    def operator_holds(self, name: HeldName, for_s: float | None) -> None:
        self.breaker.hold(name, for_s=for_s)
        self.model.look()
        until = None if for_s is None else self.clock.now + for_s
        if self.model.state == name:
            self.model.until = until
        else:
            self.model.go(name, until=until)

    @rule()
    def operator_releases(self) -> None:
        self.model.look()
        assert self.breaker.state == self.model.state
        self.breaker.release()
        if self.model.state in self.HELD:
            self.model.wait = WAIT_S
            self.model.go("HALF_OPEN" if self.model.state == "FORCED_OPEN" else "CLOSED")

    @rule()
    def operator_resets(self) -> None:
        self.breaker.reset()
        self.model.go("CLOSED")

    @invariant()
    def they_agree(self) -> None:
        self.model.look()
        seen = self.breaker.snapshot()
        assert seen.state == self.model.state
        if self.model.state in ("CLOSED", "HALF_OPEN", "METRICS_ONLY"):
            window = self.model.window()
            assert seen.window[:3] == (
                len(window),
                sum(one[0] for one in window),
                sum(one[1] for one in window),
            )
        left = None if self.model.until is None else self.model.until - self.clock.now
        assert seen.until_s == (None if left is None else pytest.approx(left))

    @invariant()
    def probes_are_bounded(self) -> None:
        permitted = self.model.config.permitted_number_of_calls_in_half_open_state
        if self.model.state == "HALF_OPEN":
            assert sum(call.epoch == self.model.epoch for call in self.out) <= permitted


TestInterleavings = Interleavings.TestCase
TestInterleavings.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
