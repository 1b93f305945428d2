"""The inventory."""

from __future__ import annotations

from app.services.inventory.app import create_app
from app.serving.process import around, database_of, run
from app.settings import ServiceSettings, read

_NAME = "inventory"


def serve_inventory(host: str, port: int) -> int:
    """Run it until a signal says stop; its exit code. Raises `SettingsError`, `OSError`."""
    settings = read(ServiceSettings)
    surroundings = around(settings, _NAME)
    app = create_app(database_of(settings, _NAME), surroundings)
    return run(app, surroundings, _NAME, host=host, port=port)
