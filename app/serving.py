"""Starting one process of a service from its settings."""

from __future__ import annotations

import sys

from app.identity import KeyUnusable, PublicKeys, Verifier
from app.lifecycle import Lifecycle, LifecycleConfig, serve
from app.observability import logging_to
from app.services.payments.app import create_app
from app.services.payments.config import AcquirerConfig, DeliveryConfig
from app.settings import PaymentsServiceSettings, ServiceSettings, SettingsError, read, service_manager
from app.stores.database import DatabaseConfig


def serve_payments(host: str, port: int) -> int:
    """Run the sandbox acquirer until a signal says stop; its exit code. Raises `SettingsError`, `OSError`."""
    settings = read(PaymentsServiceSettings)
    lifecycle = _lifecycle(settings)
    app = create_app(
        AcquirerConfig(
            public_url=settings.payments_public_url or f"http://{host}:{port}",
            slow=settings.payments_slow,
            consumers=settings.consumers(),
            delivery=DeliveryConfig(timeout=settings.webhook_timeout),
        ),
        DatabaseConfig(
            url=settings.database_url,
            pool_size=settings.database_pool_size,
            application_name="chopho payments",
        ),
        lifecycle=lifecycle,
        verifier=_verifier(settings, "payments"),
        faults_token=settings.faults_token,
    )
    with logging_to(sys.stdout.fileno(), replica=f"payments@{host}:{port}"):
        return serve(
            app,
            lifecycle,
            host=host,
            port=port,
            watchdog=settings.watchdog(),
            notifier=service_manager(),
        )


def _lifecycle(settings: ServiceSettings) -> Lifecycle:
    return Lifecycle(
        LifecycleConfig(drain_delay=settings.drain_delay, shutdown_grace=settings.shutdown_grace)
    )


def _verifier(settings: ServiceSettings, audience: str) -> Verifier:
    try:
        return Verifier(PublicKeys.read(settings.identity_public_key), audience=audience)
    except (OSError, KeyUnusable) as unusable:
        raise SettingsError(f"CHOPHO_IDENTITY_PUBLIC_KEY cannot be used: {unusable}") from unusable
