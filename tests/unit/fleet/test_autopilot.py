"""What the fleet does by itself, with clocks and loads of the test's choice."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, time

from app.fleet.autopilot import Autopilot, Instruments
from app.fleet.errors import Busy, CannotStart, FleetError
from app.fleet.events import Event
from app.fleet.load import CpuMeter
from app.fleet.plan import AutoscaleLine, Plan
from app.planning.scaling import Decision
from app.planning.schedule import Entry

DAY = datetime(2026, 5, 6, 3, 0, tzinfo=UTC)  # 10:00 in Vietnam
EVENING = datetime(2026, 5, 6, 13, 0, tzinfo=UTC)  # 20:00
SALE = Entry(start=time(19, 45), until=time(22), replicas=4)


@dataclass
class Cockpit:
    """A fleet of numbers."""

    plan: Plan = field(default_factory=Plan)
    wanted: int = 2
    replicas: int = 2
    cpu: float | None = None
    clock: float = 0.0
    now: datetime = DAY
    failure: FleetError | None = None
    scaled: list[Decision] = field(default_factory=list)
    told: list[Event] = field(default_factory=list)

    def autopilot(self) -> Autopilot:
        return Autopilot(
            Instruments(
                plan=lambda: self.plan,
                wanted=lambda: self.wanted,
                replicas=lambda: self.replicas,
                cpu_percent=lambda: self.cpu,
                scale=self.scale,
                report=self.told.append,
                clock=lambda: self.clock,
                now=lambda: self.now,
            )
        )

    async def scale(self, decision: Decision) -> None:
        self.scaled.append(decision)
        if self.failure is not None:
            raise self.failure
        self.replicas = decision.replicas

    async def fly(self, autopilot: Autopilot, *, seconds: int) -> None:
        for _ in range(0, seconds, 2):
            self.clock += 2
            await autopilot.look()


async def test_the_schedule_brings_replicas_and_takes_them_away_again() -> None:
    cockpit = Cockpit()
    cockpit.plan.add(SALE)
    autopilot = cockpit.autopilot()
    await autopilot.look()
    assert cockpit.scaled == []
    cockpit.now = EVENING
    await autopilot.look()
    assert cockpit.scaled == [Decision(replicas=4, why="the schedule says 19:45 to 22:00: 4")]
    await autopilot.look()
    cockpit.now = DAY
    await autopilot.look()
    assert [decision.replicas for decision in cockpit.scaled] == [4, 2]


async def test_the_schedule_never_takes_what_the_operator_wants() -> None:
    cockpit = Cockpit(wanted=6, replicas=6, now=EVENING)
    cockpit.plan.add(SALE)
    await cockpit.autopilot().look()
    assert cockpit.scaled == []


async def test_a_load_over_a_whole_window_brings_replicas_and_its_end_takes_them_one_by_one() -> None:
    cockpit = Cockpit(cpu=90)
    cockpit.plan.autoscale = AutoscaleLine(cpu_percent=60, window_s=60, least=2, most=8)
    autopilot = cockpit.autopilot()
    await cockpit.fly(autopilot, seconds=50)
    assert cockpit.scaled == []
    await cockpit.fly(autopilot, seconds=20)
    assert [decision.replicas for decision in cockpit.scaled] == [3]
    cockpit.cpu = 5
    await cockpit.fly(autopilot, seconds=40)
    assert cockpit.replicas == 3
    await cockpit.fly(autopilot, seconds=200)
    assert [decision.replicas for decision in cockpit.scaled] == [3, 2]


async def test_an_order_that_is_under_way_is_waited_for() -> None:
    cockpit = Cockpit(now=EVENING, failure=Busy("a restart"))
    cockpit.plan.add(SALE)
    autopilot = cockpit.autopilot()
    await autopilot.look()
    cockpit.failure = None
    await autopilot.look()
    assert (cockpit.replicas, cockpit.told) == (4, [])


async def test_a_failure_is_told_once_and_tried_again_a_minute_later() -> None:
    cockpit = Cockpit(now=EVENING, failure=CannotStart("app3 cannot start"))
    cockpit.plan.add(SALE)
    autopilot = cockpit.autopilot()
    await cockpit.fly(autopilot, seconds=100)
    assert (len(cockpit.scaled), len(cockpit.told)) == (2, 1)


def test_load_is_what_was_computed_between_two_readings() -> None:
    clock = [0.0]
    meter = CpuMeter(list, clock=lambda: clock[0])
    clock[0] = 2
    assert meter.read() is None
