"""What the local fleet is told."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from app.settings.fields import Environment


class FleetSettings(Environment):
    """What the local fleet may be told: the operator's own server programs."""

    haproxy: Path | None = Field(None, description="Path of a haproxy to use instead of the wheel's.")
    redis_server: Path | None = Field(
        None, description="Path of a redis-server to use instead of the wheel's."
    )
    postgres_bin: Path | None = Field(
        None, description="Folder of PostgreSQL's programs to use instead of the wheel's."
    )
