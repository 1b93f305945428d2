"""What systemd is told (sd_notify): one datagram for each state, to the socket it named."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from socket import AF_UNIX, SOCK_DGRAM, socket
from typing import Final

_ABSTRACT: Final = "@"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notifier:
    """Says nothing where nobody asked. `alive_within` is the longest pause between two signs of life."""

    address: str | None = None
    alive_within: timedelta | None = None

    @classmethod
    def asked_for(cls, environment: Mapping[str, str], *, pid: int | None = None) -> Notifier:
        """As systemd asks through its variables; a watchdog that is meant for another process is not ours."""
        address = environment.get("NOTIFY_SOCKET") or None
        usec = environment.get("WATCHDOG_USEC", "")
        meant_for = environment.get("WATCHDOG_PID", "")
        ours = not meant_for or meant_for == str(pid or os.getpid())
        within = timedelta(microseconds=int(usec)) if usec.isdecimal() and int(usec) and ours else None
        return cls(address=address, alive_within=within)

    def ready(self, status: str) -> None:
        """The service is up."""
        self._tell(f"READY=1\nSTATUS={status}")

    def stopping(self, status: str) -> None:
        """The service goes down in order."""
        self._tell(f"STOPPING=1\nSTATUS={status}")

    def alive(self) -> None:
        """A sign of life; without one in time systemd ends the process and starts another."""
        self._tell("WATCHDOG=1")

    def _tell(self, state: str) -> None:
        if self.address is None:
            return
        address = self.address.replace(_ABSTRACT, "\0", 1) if self.address[0] == _ABSTRACT else self.address
        # A manager that is not there, or whose queue is full, is no reason to serve nobody.
        with contextlib.suppress(OSError), socket(AF_UNIX, SOCK_DGRAM) as to_manager:
            to_manager.settimeout(0)
            to_manager.connect(address)
            to_manager.send(state.encode())
