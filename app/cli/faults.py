"""`chopho faults`: let a service of the local fleet fail on purpose, for a while."""

from __future__ import annotations

import json as jsonlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypeAlias

import typer
from rich.console import Console
from rich.table import Table

from app.cli.exits import EPILOG
from app.cli.root import DEFAULT_STATE, State, state_directory
from app.cli.times import duration
from app.clients.faults import FaultsError, FaultSwitches
from app.fleet.errors import FleetError
from app.fleet.status import running_record

faults = typer.Typer(
    help="Fault switches of the services: latency, errors, silence and garbage on purpose, for a while.",
    no_args_is_help=True,
    epilog=EPILOG,
)

Switches: TypeAlias = Sequence[Mapping[str, Any]]

Service = Annotated[str, typer.Argument(metavar="SERVICE", help="As `chopho status` names it.")]
AnyService = Annotated[str | None, typer.Argument(metavar="[SERVICE]", help="Default: all of them.")]
Json = Annotated[bool, typer.Option("--json", help="For machines.")]

_COLUMNS = ("service", "endpoint", "fault", "left")


@faults.command("set", epilog=EPILOG)
def turn_on(  # noqa: PLR0913, PLR0917 -- each option of the command is an argument
    service: Service,
    latency: Annotated[
        str | None, typer.Option(metavar="TIME", help="Answer so much later, e.g. 3s.")
    ] = None,
    jitter: Annotated[str | None, typer.Option(metavar="TIME", help="Spread the latency by ± this.")] = None,
    error_rate: Annotated[
        float, typer.Option(min=0, max=1, help="This share of the requests fails and is not done.")
    ] = 0,
    error_status: Annotated[int, typer.Option(min=400, max=599, help="How they are answered.")] = 500,
    hang: Annotated[bool, typer.Option("--hang", help="Never answer.")] = False,
    refuse: Annotated[bool, typer.Option("--refuse", help="Close the connection without a word.")] = False,
    garbage: Annotated[bool, typer.Option("--garbage", help="Answer 200 with what nobody can read.")] = False,
    slow_body: Annotated[bool, typer.Option("--slow-body", help="Let the answer trickle for 30 s.")] = False,
    partial_body: Annotated[
        bool, typer.Option("--partial-body", help="Do what is asked, and cut the answer in the middle.")
    ] = False,
    endpoint: Annotated[
        str, typer.Option(help="A path or `METHOD path`, * for anything; the longest that fits counts.")
    ] = "*",
    lasting: Annotated[str, typer.Option("--for", metavar="TIME", help="30s, 10m; at most 1h.")] = "60s",
    state: State = DEFAULT_STATE,
    json: Json = False,
) -> None:
    """Let a service fail at an endpoint for a while; it replaces what was set there before.

    A delay comes first, then the errors, then the mode, of which there may be one.
    """
    modes = {
        "hang": hang,
        "refuse": refuse,
        "garbage": garbage,
        "slow_body": slow_body,
        "partial_body": partial_body,
    }
    fault = {
        "endpoint": endpoint,
        "latency_s": _seconds("--latency", latency),
        "jitter_s": _seconds("--jitter", jitter),
        "error_rate": error_rate,
        "error_status": error_status,
        "mode": _mode(modes),
        "for_s": _seconds("--for", lasting),
    }
    if not any(fault[name] for name in ("latency_s", "jitter_s", "error_rate", "mode")):
        raise typer.BadParameter("no fault is named: give --latency, --error-rate, --hang or another")
    _tell(_at_each(state, service, lambda switches: switches.turn_on(fault)), json=json)


@faults.command("clear", epilog=EPILOG)
def turn_off(
    service: AnyService = None,
    endpoint: Annotated[
        str | None, typer.Option(help="Only what was set at this endpoint; default: everything.")
    ] = None,
    state: State = DEFAULT_STATE,
    json: Json = False,
) -> None:
    """Let services work again."""
    _tell(_at_each(state, service, lambda switches: switches.turn_off(endpoint)), json=json)


@faults.command("list", epilog=EPILOG)
def show(service: AnyService = None, state: State = DEFAULT_STATE, json: Json = False) -> None:
    """Show the faults that are on."""
    _tell(_at_each(state, service, lambda switches: switches.on()), json=json)


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.add_typer(faults, name="faults")


def _seconds(option: str, given: str | None) -> float:
    return 0 if given is None else duration(option, given).total_seconds()


def _mode(modes: Mapping[str, bool]) -> str | None:
    chosen = [name for name, wanted in modes.items() if wanted]
    if len(chosen) > 1:
        raise typer.BadParameter(f"{' and '.join(chosen)} exclude each other")
    return next(iter(chosen), None)


def _at_each(
    path: State, only: str | None, act: Callable[[FaultSwitches], Switches]
) -> Mapping[str, Switches]:
    """What is on at that service, or at all of them, after acting."""
    state = state_directory(path)
    record = running_record(state)
    if only is not None and only not in record.services:
        raise FleetError(f"no service is called {only!r}; there are: {', '.join(record.services) or 'none'}")
    token = state.secrets().faults_token
    try:
        return {
            name: act(FaultSwitches(url=record.service_url(name), token=token))
            for name in ([only] if only is not None else record.services)
        }
    except FaultsError as failed:
        raise FleetError(str(failed)) from failed


def _tell(found: Mapping[str, Switches], *, json: bool) -> None:
    if json:
        sys.stdout.write(jsonlib.dumps({"services": found}, indent=2) + "\n")
        return
    table = Table(*_COLUMNS, box=None, pad_edge=False)
    for service, switches in found.items():
        for switch in switches:
            table.add_row(service, switch["endpoint"], _words(switch), f"{switch['left_s']:.0f} s")
        if not switches:
            table.add_row(service, "", "none", "")
    Console(markup=False).print(table)


def _words(switch: Mapping[str, Any]) -> str:
    words = []
    if switch["latency_s"] or switch["jitter_s"]:
        words.append(f"{switch['latency_s']:g} ± {switch['jitter_s']:g} s later")
    if switch["error_rate"]:
        words.append(f"{switch['error_rate']:.0%} answer {switch['error_status']}")
    if switch["mode"]:
        words.append(switch["mode"].replace("_", " "))
    return ", ".join(words)
