from __future__ import annotations

import asyncio

from app.clients.wire import Exchange, WirePool


class Client:
    """The gateway's own wire, behind as many slots as its pool has connections; for one peer, as it is meant."""

    def __init__(self, pool: int) -> None:
        self._size = pool
        self._slots = asyncio.Semaphore(pool)
        self._pool: WirePool | None = None

    async def get(self, url: str) -> bytes:
        return await self._ask("GET", url, b"")

    async def post(self, url: str, body: bytes) -> bytes:
        return await self._ask("POST", url, body)

    async def _ask(self, method: str, url: str, body: bytes) -> bytes:
        origin, path = url[: url.index("/", 8)], url[url.index("/", 8) :]
        if self._pool is None:
            self._pool = WirePool(origin, size=self._size)
        head = b"%b %b HTTP/1.1\r\nhost: %b\r\ncontent-length: %d\r\n\r\n" % (
            method.encode(),
            path.encode(),
            self._pool.authority,
            len(body),
        )
        async with asyncio.timeout(10), self._slots, Exchange(self._pool) as exchange:
            await exchange.open(method, head, body)
            await exchange.head()
            answer = await exchange.connection.chunk()
            while not exchange.connection.has_ended:
                answer += await exchange.connection.chunk()
            return answer

    async def close(self) -> None:
        if self._pool is not None:
            self._pool.close()
