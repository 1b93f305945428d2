"""`chopho schedule` and `chopho autoscale`: what the fleet does by itself."""

from __future__ import annotations

import json as jsonlib
import re
import sys
from datetime import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from app.cli.exits import EPILOG
from app.cli.root import DEFAULT_STATE, State, state_directory
from app.cli.times import duration
from app.fleet.runtime import SLOTS

if TYPE_CHECKING:
    from app.fleet.plan import AutoscaleLine, ScheduleLine

schedule = typer.Typer(
    help="Replicas by the clock, Vietnam time: there before the sale begins, drained after it.",
    no_args_is_help=True,
    epilog=EPILOG,
)

_CLOCK: Final = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)", re.ASCII)

# Window, least and most.
_AUTOSCALE: Final = ("3m", 2, 8)

Json = Annotated[bool, typer.Option("--json", help="For machines.")]


@schedule.command("add", epilog=EPILOG)
def add(
    start: Annotated[str, typer.Argument(metavar="HH:MM", help="From when, every day.")],
    replicas: Annotated[int, typer.Option(min=1, max=SLOTS, help="So many replicas at least.")],
    until: Annotated[str, typer.Option(metavar="HH:MM", help="Until when; over midnight too.")],
    state: State = DEFAULT_STATE,
) -> None:
    """Have at least so many replicas from one time of the day until another. Also while no fleet runs."""
    from app.fleet.plan import Plan
    from app.planning.schedule import Entry

    try:
        entry = Entry(start=_time("HH:MM", start), until=_time("--until", until), replicas=replicas)
    except ValueError as unusable:
        raise typer.BadParameter(str(unusable)) from unusable
    with Plan.changing(_made(state)) as plan:
        line = plan.add(entry)
    sys.stdout.write(f"{line.id}  {entry}\n")


@schedule.command("list", epilog=EPILOG)
def show(state: State = DEFAULT_STATE, json: Json = False) -> None:
    """Show the schedule, with the number each entry is removed by."""
    from app.fleet.plan import Plan

    lines = Plan.load(state_directory(state).plan).schedule
    if json:
        found = [line.model_dump(mode="json") for line in lines]
        sys.stdout.write(jsonlib.dumps(found, indent=2) + "\n")
        return
    sys.stdout.write("".join(_line(line) for line in lines) or "nothing is scheduled\n")


@schedule.command("remove", epilog=EPILOG)
def remove(
    number: Annotated[int, typer.Argument(help="As `schedule list` shows it.")], state: State = DEFAULT_STATE
) -> None:
    """Take an entry out of the schedule; replicas that nobody wants any more drain."""
    from app.fleet.plan import Plan

    with Plan.changing(_made(state)) as plan:
        gone = plan.remove(number)
        there = ", ".join(str(line.id) for line in plan.schedule) or "none"
    if gone is None:
        raise typer.BadParameter(f"no entry has the number {number}; there are: {there}")
    sys.stdout.write(f"removed  {_line(gone)}")


def autoscale(
    cpu: Annotated[
        float | None, typer.Option(help="Percent of a core that a replica should compute.", min=1, max=100)
    ] = None,
    window: Annotated[
        str, typer.Option(metavar="TIME", help="How long it is watched before anything changes.")
    ] = _AUTOSCALE[0],
    least: Annotated[int, typer.Option("--min", min=1, max=SLOTS, help="Never fewer.")] = _AUTOSCALE[1],
    most: Annotated[int, typer.Option("--max", min=1, max=SLOTS, help="Never more.")] = _AUTOSCALE[2],
    off: Annotated[
        bool, typer.Option("--off", help="Leave the number to the operator and the schedule.")
    ] = False,
    state: State = DEFAULT_STATE,
    json: Json = False,
) -> None:
    """Have as many replicas as the load needs: up after a whole window, down one at a time, never below the schedule.

    Without --cpu and --off it shows what is set.
    """
    from app.fleet.plan import AutoscaleLine, Plan

    if cpu is None and (window, least, most) != _AUTOSCALE:
        raise typer.BadParameter("--window, --min and --max say how to follow a load; say --cpu too")
    if off or cpu is not None:
        line = None
        if cpu is not None and not off:
            window_s = duration("--window", window).total_seconds()
            line = AutoscaleLine(cpu_percent=cpu, window_s=window_s, least=least, most=most)
            _checked(line)
        with Plan.changing(_made(state)) as plan:
            plan.autoscale = line
    now = Plan.load(state_directory(state).plan).autoscale
    if json:
        sys.stdout.write(jsonlib.dumps(now.model_dump() if now else None) + "\n")
        return
    sys.stdout.write("autoscaling is off\n" if now is None else f"autoscaling: {_told(now)}\n")


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.add_typer(schedule, name="schedule")
    cli.command(epilog=EPILOG)(autoscale)


def _checked(line: AutoscaleLine) -> None:
    try:
        line.policy()
    except ValueError as unusable:
        raise typer.BadParameter(str(unusable)) from unusable


def _told(line: AutoscaleLine) -> str:
    return f"{line.cpu_percent:g} % of a core over {line.window_s:g} s, {line.least} to {line.most} replicas"


def _line(line: ScheduleLine) -> str:
    return f"{line.id}  {line.entry()}\n"


def _time(option: str, given: str) -> time:
    found = _CLOCK.fullmatch(given)
    if found is None:
        raise typer.BadParameter(f"{option} is {given!r}; wants a time of the day such as 19:45")
    return time(int(found[1]), int(found[2]))


def _made(state: Path) -> Path:
    """The file to change; its directory becomes a state directory."""
    directory = state_directory(state)
    directory.make()
    return directory.plan
