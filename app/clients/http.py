"""One downstream's connections: a bounded pool, whole answers, and two errors that mean different things.

HttpError
├── NotSent    nobody answered the door; the downstream heard nothing
└── Lost       it was asked, and no usable answer came back
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

import aiohttp
from yarl import URL

from app.clients.pool import CountingConnector, Places

BODY_MOST: Final = 1024 * 1024
"""Bytes of an answer; a downstream that sends more is out of order."""

KEEP_ALIVE_S: Final = 30
"""Well below the 75 s that our services keep an idle connection, so that none closes under a request."""


class HttpError(Exception):
    """There is no answer."""


class NotSent(HttpError):
    """Nobody answered the door; the downstream heard nothing."""


class Lost(HttpError):
    """It was asked, and no usable answer came back; it may have done what it was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back, whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Connections:
    """At most `pool_size` connections to `url`. Built without I/O; redirects are answers, nothing is retried.

    Time is the caller's business: a guard around `send` ends it, and gives the connection back.
    """

    def __init__(self, url: str, *, pool_size: int) -> None:
        self._url = url
        self.places = Places(pool_size)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def send(
        self, method: str, path: str, *, headers: Mapping[str, str], body: bytes | None = None
    ) -> Answer:
        """The answer, whatever its status; raises `NotSent`, `Lost`."""
        url = URL(self._url + path, encoded=True)
        try:
            async with self._open().request(
                method, url, headers=headers, data=body, allow_redirects=False
            ) as answer:
                return Answer(status=answer.status, headers=answer.headers, body=await _whole(answer))
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as refused:
            raise NotSent(f"{type(refused).__name__}: {refused}") from refused
        except aiohttp.ClientError as failed:
            raise Lost(f"{type(failed).__name__}: {failed}") from failed

    async def close(self) -> None:
        """Close every connection."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _open(self) -> aiohttp.ClientSession:
        """The session, made in the event loop it belongs to."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=CountingConnector(self.places, keepalive_timeout=KEEP_ALIVE_S),
                timeout=aiohttp.ClientTimeout(),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session


async def _whole(answer: aiohttp.ClientResponse) -> bytes:
    body = b""
    async for chunk in answer.content.iter_any():
        body += chunk
        if len(body) > BODY_MOST:
            raise Lost(f"the answer is longer than {BODY_MOST} bytes")
    return body
