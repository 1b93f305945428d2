"""The inventory."""

from __future__ import annotations

from app.services.inventory.app import create_app
from app.serving.process import database_of, run, surroundings_of
from app.settings import ServiceSettings, read

_NAME = "inventory"


def serve_inventory(host: str, port: int) -> int:
    """Run it until a signal says stop; its exit code. Raises `SettingsError`, `OSError`."""
    settings = read(ServiceSettings)
    around = surroundings_of(settings, _NAME)
    app = create_app(database_of(settings, _NAME), around)
    return run(app, settings, around, host=host, port=port)
