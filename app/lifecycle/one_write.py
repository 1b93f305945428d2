"""A transport that sends what belongs together as one packet."""

from __future__ import annotations

import asyncio
from typing import Any, Final

_MOST: Final = 64 * 1024
"""Bytes that are kept; more goes out at once, so that whoever streams is still told to wait."""


class OneWrite:
    """Keeps what is written until `flush`, at the latest until the end of this turn of the event loop.

    uvicorn writes the head of an answer and then its body, and uvloop sends each of them at once: two system
    calls, two packets, and a client that wakes up twice.
    """

    __slots__ = ("_kept", "_loop", "_size", "_transport")

    def __init__(self, transport: asyncio.BaseTransport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport: Any = transport  # whatever a loop has: uvloop's are not of asyncio's classes
        self._loop = loop
        self._kept: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> None:
        """Keep it."""
        if not self._kept:
            self._loop.call_soon(self.flush)
        self._kept.append(data)
        self._size += len(data)
        if self._size > _MOST:
            self.flush()

    def flush(self) -> None:
        """Send what is kept."""
        if self._kept:
            data, self._kept, self._size = b"".join(self._kept), [], 0
            self._transport.write(data)

    def close(self) -> None:
        """Send what is kept, then close."""
        self.flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- whatever else a transport can do
        return getattr(self._transport, name)
