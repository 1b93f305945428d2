"""What the processes of all services have in common."""

from __future__ import annotations

import sys

from starlette.types import ASGIApp

from app.identity import KeyUnusable, PublicKeys, Verifier
from app.lifecycle import Lifecycle, LifecycleConfig, serve
from app.observability.logs import logging_to
from app.services.application import Surroundings
from app.settings import ServiceSettings, SettingsError, service_manager
from app.stores.database import DatabaseConfig


def database_of(settings: ServiceSettings, name: str) -> DatabaseConfig:
    """The service's connections."""
    return DatabaseConfig(
        url=settings.database_url, pool_size=settings.database_pool_size, application_name=f"chopho {name}"
    )


def surroundings_of(settings: ServiceSettings, name: str) -> Surroundings:
    """What the service called `name` needs besides; raises `SettingsError` for a key that cannot be used."""
    try:
        verifier = Verifier(PublicKeys.read(settings.identity_public_key), audience=name)
    except (OSError, KeyUnusable) as unusable:
        raise SettingsError(f"CHOPHO_IDENTITY_PUBLIC_KEY cannot be used: {unusable}") from unusable
    config = LifecycleConfig(drain_delay=settings.drain_delay, shutdown_grace=settings.shutdown_grace)
    return Surroundings(
        name=name, lifecycle=Lifecycle(config), verifier=verifier, faults_token=settings.faults_token
    )


def run(app: ASGIApp, settings: ServiceSettings, around: Surroundings, *, host: str, port: int) -> int:
    """Serve until a signal says stop; the exit code. Raises `OSError`."""
    with logging_to(sys.stdout.fileno(), replica=f"{around.name}@{host}:{port}"):
        return serve(
            app,
            around.lifecycle,
            host=host,
            port=port,
            watchdog=settings.watchdog(),
            notifier=service_manager(),
        )
