from __future__ import annotations

import niquests


class Client:
    """niquests (urllib3-future), with its pool as large as asked for."""

    def __init__(self, pool: int) -> None:
        self._session = niquests.AsyncSession(
            pool_connections=1, pool_maxsize=pool, disable_http2=True, disable_http3=True, timeout=10
        )
        self._session.trust_env = False

    async def get(self, url: str) -> bytes:
        return (await self._session.get(url)).content or b""

    async def post(self, url: str, body: bytes) -> bytes:
        return (await self._session.post(url, data=body)).content or b""

    async def close(self) -> None:
        await self._session.close()
