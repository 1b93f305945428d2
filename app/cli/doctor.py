"""`chopho doctor`: what is wrong with a running shop or a configuration, before a shopper finds it."""

from __future__ import annotations

import asyncio
import json as jsonlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import Console

from app.cli.exits import EPILOG, SICK
from app.cli.root import DEFAULT_STATE, State, state_directory
from app.fleet.errors import FleetError

if TYPE_CHECKING:
    from app.doctor import Finding

_COLOURS: Final = {"ERROR": "red", "WARNING": "yellow", "NOTE": "cyan"}


def doctor(  # noqa: PLR0913 -- a flag each
    *,
    state: State = DEFAULT_STATE,
    env: Annotated[
        Path | None,
        typer.Option(help="A file of CHOPHO_ and LB_ variables to examine instead of a running fleet."),
    ] = None,
    haproxy: Annotated[Path | None, typer.Option(help="The haproxy.cfg; default: the shop's own.")] = None,
    socket: Annotated[Path | None, typer.Option(help="HAProxy's runtime socket.")] = None,
    replica: Annotated[
        list[str] | None,
        typer.Option(help="Where a running replica answers, such as http://127.0.0.1:8000; repeat."),
    ] = None,
    replicas: Annotated[int | None, typer.Option(min=1, help="How many there will be.")] = None,
    stop_timeout: Annotated[
        float | None, typer.Option(help="Seconds that whoever stops a replica waits before it kills.")
    ] = None,
    only: Annotated[list[str] | None, typer.Option(help="Only this check; repeat.")] = None,
    json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> int:
    """Examine the fleet of the state directory, or the configuration that --env or the environment gives.

    Each finding says what is wrong, why it matters and what mends it. The exit code is that of the worst one.
    """
    from app.doctor import CHECKS, examine
    from app.doctor.admission import Patient, admit

    unknown = sorted(set(only or ()) - {check.name for check in CHECKS})
    if unknown:
        raise FleetError(
            f"no check is called {unknown[0]!r}; there are: {', '.join(check.name for check in CHECKS)}"
        )
    subject = admit(
        Patient(
            state=state_directory(state),
            env=env,
            haproxy=haproxy,
            socket=socket,
            replicas=replicas,
            addresses=tuple(replica or ()),
            stop_timeout_s=stop_timeout,
        ),
        os.environ,
    )
    checks = [check for check in CHECKS if not only or check.name in only]
    findings = asyncio.run(examine(subject, checks))
    if json:
        sys.stdout.write(
            jsonlib.dumps({"checks": len(checks), "findings": [_row(one) for one in findings]}, indent=2)
        )
        sys.stdout.write("\n")
    else:
        _show(findings, len(checks), Console())
    return SICK[max((finding.severity.name for finding in findings), key=list(SICK).index, default="NOTE")]


def _row(finding: Finding) -> dict[str, str]:
    return {
        "check": finding.check,
        "severity": finding.severity.name.lower(),
        "what": finding.what,
        "why": finding.why,
        "mend": finding.mend,
    }


def _show(findings: Sequence[Finding], checks: int, console: Console) -> None:
    for finding in findings:
        name = finding.severity.name
        console.print(
            f"[{_COLOURS[name]}]{name.lower()}[/]  [bold]{finding.check}[/]: {finding.what}", highlight=False
        )
        console.print(f"  why:  {finding.why}", highlight=False)
        console.print(f"  mend: {finding.mend}", highlight=False)
    told = f"{len(findings)} findings" if len(findings) != 1 else "1 finding"
    console.print(f"{checks} checks, {told if findings else 'nothing found'}", highlight=False)


def register(cli: typer.Typer) -> None:
    """Add the command."""
    sick = ", ".join(
        f"{code} the worst is {'an' if name == 'ERROR' else 'a'} {name.lower()}"
        for name, code in SICK.items()
        if code
    )
    cli.command(epilog=f"{EPILOG} Of doctor: {sick}; 0 nothing, or notes alone.")(doctor)
