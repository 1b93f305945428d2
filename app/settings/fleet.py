"""What the local fleet is told."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from pydantic import Field

from app.settings.fields import Duration, Environment


class FleetSettings(Environment):
    """What the local fleet may be told: its own limits, and the operator's server programs."""

    liveness_limit: Duration = Field(
        timedelta(seconds=20),
        gt=timedelta(0),
        description="A replica or service that does not answer for so long is ended and started again.",
    )
    haproxy: Path | None = Field(None, description="Path of a haproxy to use instead of the wheel's.")
    redis_server: Path | None = Field(
        None, description="Path of a redis-server to use instead of the wheel's."
    )
    postgres_bin: Path | None = Field(
        None, description="Folder of PostgreSQL's programs to use instead of the wheel's."
    )
