from __future__ import annotations

import httpx2


class Client:
    """httpx2, with its pool as large as asked for."""

    def __init__(self, pool: int) -> None:
        limits = httpx2.Limits(max_connections=pool, max_keepalive_connections=pool)
        self._client = httpx2.AsyncClient(limits=limits, timeout=10, trust_env=False)

    async def get(self, url: str) -> bytes:
        return (await self._client.get(url)).content

    async def post(self, url: str, body: bytes) -> bytes:
        return (await self._client.post(url, content=body)).content

    async def close(self) -> None:
        await self._client.aclose()
