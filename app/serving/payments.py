"""The sandbox acquirer."""

from __future__ import annotations

from app.services.payments.app import create_app
from app.services.payments.config import AcquirerConfig, DeliveryConfig
from app.serving.process import database_of, run, surroundings_of
from app.settings import PaymentsServiceSettings, read

_NAME = "payments"


def serve_payments(host: str, port: int) -> int:
    """Run it until a signal says stop; its exit code. Raises `SettingsError`, `OSError`."""
    settings = read(PaymentsServiceSettings)
    around = surroundings_of(settings, _NAME)
    config = AcquirerConfig(
        public_url=settings.payments_public_url or f"http://{host}:{port}",
        slow=settings.payments_slow,
        consumers=settings.consumers(),
        delivery=DeliveryConfig(timeout=settings.webhook_timeout),
    )
    app = create_app(config, database_of(settings, _NAME), around)
    return run(app, settings, around, host=host, port=port)
