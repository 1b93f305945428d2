"""What the service manager wants to hear; the variables are its own, without our prefix."""

from __future__ import annotations

import os
from collections.abc import Mapping

from app.lifecycle import Notifier


def service_manager(environment: Mapping[str, str] | None = None) -> Notifier:
    """Whom to tell of the process's life, as systemd asks."""
    return Notifier.asked_for(os.environ if environment is None else environment)
