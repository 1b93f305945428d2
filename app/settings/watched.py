"""What the watchdog of every process is told."""

from __future__ import annotations

from datetime import timedelta

from pydantic import ByteSize, Field

from app.lifecycle import WatchdogConfig
from app.settings.fields import Duration, Environment


class WatchedProcess(Environment):
    """A process that would rather end than hang."""

    loop_limit: Duration = Field(
        timedelta(seconds=15),
        gt=timedelta(0),
        description="The event loop may stand still this long; then the process leaves its stacks and ends.",
    )
    memory_limit: ByteSize | None = Field(
        None,
        gt=0,
        description="Resident memory, such as 512MiB, past which the process drains and ends, to be started again.",
    )

    def watchdog(self) -> WatchdogConfig:
        """As the library takes it."""
        return WatchdogConfig(loop_limit=self.loop_limit, memory_limit=self.memory_limit)
