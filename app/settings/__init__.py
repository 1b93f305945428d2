"""The only reader of the environment: checked once at the start, handed out as typed values."""

from __future__ import annotations

from app.settings.environment import SettingsError, read
from app.settings.fields import PREFIX, Duration
from app.settings.fleet import FleetSettings
from app.settings.service_manager import service_manager
from app.settings.services import (
    PaymentsServiceSettings,
    RecommendationsServiceSettings,
    ReviewsServiceSettings,
    ServiceSettings,
)
from app.settings.shop import MigrationSettings, Settings

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
