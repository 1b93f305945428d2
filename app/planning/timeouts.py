"""Times that must fit together: what the balancer, the replicas and their supervisor wait for one another.

Each is sensible alone; requests are lost where two of them disagree. Seconds throughout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

OVERDUE_S: Final = 10.0
"""The balancer's server timeout: an unsafe request older than it was already answered 504."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckTimes:
    """How the balancer checks a replica."""

    inter: float
    fast_inter: float
    fall: int
    timeout: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BalancerTimes:
    """What the balancer waits: `server` for an unsafe request's answer, `get` for a safe one's."""

    check: CheckTimes
    queue: float
    client: float
    server: float
    get: float
    client_keep_alive: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaTimes:
    """What a replica waits. `stop` is how long whoever stops it waits before it kills."""

    drain_delay: float
    shutdown_grace: float
    stop: float
    keep_alive: float
    overdue: float
    database: float
    longest_call: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """Two times that disagree, and what to do about it."""

    what: str
    mend: str


def notice_s(check: CheckTimes) -> float:
    """The longest a replica that says no stays in rotation: fall × inter, and a second for the answers."""
    return check.fall * check.inter + 1


def detection_s(check: CheckTimes) -> float:
    """The longest a replica that hangs stays in rotation: a full interval, then quick checks that time out."""
    return check.inter + check.timeout + (check.fall - 1) * (check.fast_inter + check.timeout)


def mismatches(balancer: BalancerTimes, replica: ReplicaTimes) -> Sequence[Mismatch]:
    """Every pair that disagrees."""
    notice = notice_s(balancer.check)
    ending = replica.drain_delay + replica.shutdown_grace
    rules = (
        (
            replica.drain_delay >= notice,
            f"DRAIN_DELAY is {replica.drain_delay:g} s, and the balancer may need {notice:g} s to notice a drain",
            f"set CHOPHO_DRAIN_DELAY to {notice:g}s or more",
        ),
        (
            replica.stop > ending,
            f"whoever stops a replica waits {replica.stop:g} s, and it may need {ending:g} s to drain and finish",
            f"let the supervisor wait more than {ending:g} s (stop_grace_period, TimeoutStopSec)",
        ),
        (
            replica.keep_alive > balancer.client_keep_alive,
            (
                f"a replica closes idle connections after {replica.keep_alive:g} s, "
                f"and the balancer may use them for {balancer.client_keep_alive:g} s"
            ),
            "keep the app's keep-alive above the balancer's `timeout http-keep-alive`",
        ),
        (
            replica.overdue <= balancer.server,
            (
                f"a replica carries out unsafe requests up to {replica.overdue:g} s old, "
                f"and the balancer answers 504 after {balancer.server:g} s"
            ),
            f"give `timeout server` {replica.overdue:g} s or more",
        ),
        (
            replica.database < balancer.get,
            f"a page may wait {replica.database:g} s for the database, and the balancer gives a GET {balancer.get:g} s",
            "give a GET more time than the database's own bound",
        ),
        (
            replica.longest_call < balancer.server,
            (
                f"a call to a service may take {replica.longest_call:g} s, "
                f"and the balancer gives the whole request {balancer.server:g} s"
            ),
            "shorten the timeouts of the services or raise `timeout server`",
        ),
        (
            replica.shutdown_grace >= balancer.server,
            f"SHUTDOWN_GRACE is {replica.shutdown_grace:g} s, and a request may run for {balancer.server:g} s",
            f"set CHOPHO_SHUTDOWN_GRACE to {balancer.server:g}s or more",
        ),
        (
            balancer.queue + balancer.server <= balancer.client,
            (
                f"the balancer hears nothing from a client for {balancer.client:g} s before it hangs up, "
                f"and queue and answer may take {balancer.queue + balancer.server:g} s"
            ),
            "give `timeout client` more than `timeout queue` and `timeout server` together",
        ),
        (
            balancer.check.timeout <= balancer.check.inter,
            f"a check may take {balancer.check.timeout:g} s and the next is due after {balancer.check.inter:g} s",
            "keep `timeout check` at or below `inter`",
        ),
    )
    return [Mismatch(what=what, mend=mend) for holds, what, mend in rules if not holds]
