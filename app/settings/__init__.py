"""The only reader of the environment: checked once at the start, handed out as typed values."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from app.settings.errors import SettingsError

if TYPE_CHECKING:
    from app.settings.environment import read
    from app.settings.fields import PREFIX, Duration
    from app.settings.fleet import FleetSettings
    from app.settings.services import (
        PaymentsServiceSettings,
        RecommendationsServiceSettings,
        ReviewsServiceSettings,
        ServiceSettings,
    )
    from app.settings.shop import MigrationSettings, Settings
    from app.settings.systemd import service_manager

_WHERE = {
    "PREFIX": "fields",
    "Duration": "fields",
    "FleetSettings": "fleet",
    "MigrationSettings": "shop",
    "PaymentsServiceSettings": "services",
    "RecommendationsServiceSettings": "services",
    "ReviewsServiceSettings": "services",
    "ServiceSettings": "services",
    "Settings": "shop",
    "read": "environment",
    "service_manager": "systemd",
}


def __getattr__(name: str) -> object:
    """Imported by who asks for it: most commands only want to know what a `SettingsError` is."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)


__all__ = [
    "PREFIX",
    "Duration",
    "FleetSettings",
    "MigrationSettings",
    "PaymentsServiceSettings",
    "RecommendationsServiceSettings",
    "ReviewsServiceSettings",
    "ServiceSettings",
    "Settings",
    "SettingsError",
    "read",
    "service_manager",
]
