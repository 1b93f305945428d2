from __future__ import annotations

from datetime import timedelta

from pyreqwest.client import ClientBuilder


class Client:
    """pyreqwest (Rust's reqwest), with its pool as large as asked for."""

    def __init__(self, pool: int) -> None:
        limit = timedelta(seconds=10)
        self._client = (
            ClientBuilder()
            .max_connections(pool)
            .pool_max_idle_per_host(pool)
            .pool_timeout(limit)
            .timeout(limit)
            .http1_only()
            .no_proxy()
            .build()
        )

    async def get(self, url: str) -> bytes:
        answer = await self._client.get(url).build().send()
        return bytes(await answer.bytes())

    async def post(self, url: str, body: bytes) -> bytes:
        answer = await self._client.post(url).body_bytes(body).build().send()
        return bytes(await answer.bytes())

    async def close(self) -> None:
        await self._client.close()
