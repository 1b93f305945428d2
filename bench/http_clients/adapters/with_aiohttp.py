from __future__ import annotations

import aiohttp


class Client:
    """aiohttp, with its pool as large as asked for."""

    def __init__(self, pool: int) -> None:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=pool), timeout=aiohttp.ClientTimeout(total=10)
        )

    async def get(self, url: str) -> bytes:
        async with self._session.get(url) as answer:
            return await answer.read()

    async def post(self, url: str, body: bytes) -> bytes:
        async with self._session.post(url, data=body) as answer:
            return await answer.read()

    async def close(self) -> None:
        await self._session.close()
