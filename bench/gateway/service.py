"""A service that costs as little as one can: ``python -m bench.gateway.service``; it prints its port.

Whatever is asked, it answers `BODY` or what ``--body`` says; ``?ms=50`` or ``--ms 50`` so much later. With ``--close`` it
ends the connection after each answer.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from typing import Final, cast

import uvloop

BODY: Final = b'{"account":null}'
_MS: Final = re.compile(rb"[?&]ms=(\d+)")


class Service(asyncio.Protocol):
    """One connection; requests without bodies, one at a time."""

    def __init__(self, body: bytes, *, ms: int, closes: bool) -> None:
        self._closes = closes
        self._ms = ms
        self._transport: asyncio.Transport | None = None
        self._buffer = b""
        connection = b"connection: close\r\n" if closes else b""
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n%b\r\n"
        self._answer = head % (len(body), connection) + body

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember it; uvloop's transports are not of asyncio's classes."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Answer what is complete."""
        self._buffer += data
        if not self._buffer.endswith(b"\r\n\r\n"):
            return
        asked, self._buffer = self._buffer, b""
        found = _MS.search(asked.split(b"\r\n", 1)[0])
        ms = self._ms if found is None else int(found[1])
        if ms:
            asyncio.get_running_loop().call_later(ms / 1000, self._say)
        else:
            self._say()

    def _say(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(self._answer)
            if self._closes:
                self._transport.close()


async def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--close", action="store_true")
    parser.add_argument("--body", default=BODY.decode())
    parser.add_argument("--ms", type=int, default=0)
    given = parser.parse_args()
    body = given.body.encode()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Service(body, ms=given.ms, closes=given.close), "127.0.0.1", 0, backlog=1024
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
