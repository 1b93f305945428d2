"""The settings of a running shop, as its replicas have them."""

from __future__ import annotations

import os
from pathlib import Path

from app.cli.root import state_directory
from app.fleet.status import running_record
from app.settings import PREFIX, Settings, read


def shop_settings(state: Path) -> Settings:
    """Those of the environment where it names a session backend, else the local fleet's.

    Raises `SettingsError`, `NotRunning`.
    """
    if os.environ.get(f"{PREFIX}SESSION_URL"):
        return read(Settings)
    directory = state_directory(state)
    record = running_record(directory)
    theirs = {
        "DATABASE_URL": record.database_url,
        "REDIS_URL": record.redis_url or "",
        "SESSION_URL": record.session_url,
        "SESSION_ALSO_ACCEPT": record.session_also_accept or "",
        "SECRET_KEYS": directory.secrets().session_key,
        "PUBLIC_URL": record.url,
    }
    return read(Settings, {**os.environ, **{f"{PREFIX}{name}": value for name, value in theirs.items()}})
