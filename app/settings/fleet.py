"""What the local fleet is told."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from pydantic import ByteSize, Field

from app.settings.fields import Duration, Environment


class FleetSettings(Environment):
    """What the local fleet may be told: its own limits, and the operator's server programs."""

    liveness_limit: Duration = Field(
        timedelta(seconds=20),
        gt=timedelta(0),
        description="A replica or service that does not answer for so long is ended and started again.",
    )
    log_max_size: ByteSize = Field(
        ByteSize(10 * 1024 * 1024), gt=0, description="A log that is larger is put aside, such as 10MiB."
    )
    log_keep: int = Field(1, ge=0, le=100, description="So many logs put aside stay, of each process.")
    disk_reserve: ByteSize = Field(
        ByteSize(512 * 1024 * 1024),
        ge=0,
        description="Less free space than this where the fleet keeps its state is told.",
    )
    haproxy: Path | None = Field(None, description="Path of a haproxy to use instead of the wheel's.")
    redis_server: Path | None = Field(
        None, description="Path of a redis-server to use instead of the wheel's."
    )
    postgres_bin: Path | None = Field(
        None, description="Folder of PostgreSQL's programs to use instead of the wheel's."
    )
