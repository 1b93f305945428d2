"""What every service has around its own routes."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.applications import Starlette

from app.identity import Verifier
from app.lifecycle import Lifecycle, Probes
from app.resilience import DeadlineMiddleware
from app.services import echo, problems
from app.services.faults import Faults


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a service needs to know besides its work; without `faults_token` it has no fault switches."""

    name: str
    lifecycle: Lifecycle
    verifier: Verifier
    faults_token: str | None


def surround(app: Starlette, around: Surroundings) -> None:
    """Add `/echo`, problems, the caller's deadline, fault switches and, outermost, the probes."""
    app.state.verifier = around.verifier
    app.router.routes.append(echo.route())
    problems.install(app)
    app.add_middleware(DeadlineMiddleware)
    if around.faults_token is not None:
        app.add_middleware(Faults, token=around.faults_token)
    app.add_middleware(Probes, lifecycle=around.lifecycle)
