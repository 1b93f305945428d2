"""What the fleet needs of a service and no work: ``python -m tests.apps.service_stub --host H --port P``.

It serves under `app.lifecycle.serve` with the settings the fleet gives it, as the services do.
"""

from __future__ import annotations

import argparse

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from app.identity import PublicKeys
from app.lifecycle import Lifecycle, LifecycleConfig, Probes, serve
from app.settings import PaymentsServiceSettings, read


async def hello(_: Request) -> Response:
    """Say something."""
    return PlainTextResponse("xin chào")


def main() -> int:
    """Serve one."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    given = parser.parse_args()
    settings = read(PaymentsServiceSettings)
    PublicKeys.read(settings.identity_public_key)
    config = LifecycleConfig(drain_delay=settings.drain_delay, shutdown_grace=settings.shutdown_grace)
    lifecycle = Lifecycle(config)
    app = Probes(Starlette(routes=[Route("/", hello)]), lifecycle=lifecycle)
    return serve(app, lifecycle, host=given.host, port=given.port)


if __name__ == "__main__":
    raise SystemExit(main())
