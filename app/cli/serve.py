"""`chopho serve`: one process of the shop or of a service, as the fleet, systemd and containers run it."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

import typer

from app.cli.exits import EPILOG
from app.cli.importing import importing
from app.fleet.errors import PortInUse


class Service(StrEnum):
    """What can be served."""

    shop = "shop"
    payments = "payments"
    reviews = "reviews"
    recommendations = "recommendations"
    inventory = "inventory"


def serve(
    service: Annotated[Service, typer.Argument(help="What to serve.")] = Service.shop,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to listen on.")] = 8000,
) -> int:
    """Serve one replica or service, configured by CHOPHO_ variables, until SIGTERM drains it.

    Exit codes of its own: 1 a second signal forced it, 3 it could not start.
    """
    try:
        with importing():
            served = _serving(service)
        return served(host, port)
    except OSError as error:
        raise PortInUse(f"cannot listen on {host}:{port}: {error.strerror}") from error


def _serving(service: Service) -> Callable[[str, int], int]:
    """What serves it; the other commands, and the other services, need not wait for it to be imported."""
    if service is Service.payments:
        from app.serving.payments import serve_payments

        return serve_payments
    if service is Service.reviews:
        from app.serving.reviews import serve_reviews

        return serve_reviews
    if service is Service.recommendations:
        from app.serving.recommendations import serve_recommendations

        return serve_recommendations
    if service is Service.inventory:
        from app.serving.inventory import serve_inventory

        return serve_inventory
    from app.main import serve_shop

    return serve_shop


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command(epilog=EPILOG)(serve)
