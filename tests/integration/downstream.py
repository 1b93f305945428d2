"""A downstream on a real socket that answers as it is told, and counts what reaches it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Downstream:
    """Answers 200 at once until told otherwise."""

    def __init__(self) -> None:
        self.requests = 0
        self.url = ""
        self._status, self._body, self._after_s, self._closes = 200, b"{}", 0.0, False
        self._hangs = False
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()

    def answer(self, status: int, body: bytes, *, after_s: float = 0, closes: bool = False) -> None:
        """From now on; what was asked before gets the answer of before. `closes`: one answer a connection."""
        self._status, self._body, self._after_s, self._closes = status, body, after_s, closes
        self._hangs = False

    def hang(self) -> None:
        """Never answer."""
        self._hangs = True

    async def start(self) -> None:
        """Listen on a port of its own."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def stop(self) -> None:
        """Close the door and every connection."""
        if self._server is not None:
            self._server.close()
        for writer in list(self._open):
            writer.transport.abort()
        while self._open:  # noqa: ASYNC110 -- each ends its own task
            await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            while True:
                await reader.readuntil(b"\r\n\r\n")
                self.requests += 1
                if self._hangs:
                    await reader.read()  # until the caller leaves
                    return
                status, body = self._status, self._body
                await asyncio.sleep(self._after_s)
                writer.write(b"HTTP/1.1 %d x\r\ncontent-length: %d\r\n\r\n%b" % (status, len(body), body))
                await writer.drain()
                if self._closes:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._open.discard(writer)
            writer.close()


@asynccontextmanager
async def downstream() -> AsyncIterator[Downstream]:
    """One for the block."""
    stub = Downstream()
    await stub.start()
    try:
        yield stub
    finally:
        await stub.stop()
