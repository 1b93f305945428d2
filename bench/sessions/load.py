"""A small HTTP/1.1 load: keep-alive connections, one request at a time on each, every answer checked."""

from __future__ import annotations

import asyncio
import http.client
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, cast

import uvloop

_END: Final = b"\r\n\r\n"


def fetch(port: int, path: str, cookie: str | None = None) -> tuple[bytes, str | None]:
    """One request; the body, and the cookie as it is afterwards. Raises `OSError` when nobody listens."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", path, headers={"Cookie": cookie} if cookie else {})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{path} answered {answer.status}: {body[:200]!r}")
    connection.close()
    given = answer.headers.get("Set-Cookie")
    return body, given.partition(";")[0] if given else cookie


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What a run of a fixed time saw: seconds from a request's first byte to its answer's last."""

    requests: int
    seconds: float
    latencies_s: Sequence[float]

    def percentile_ms(self, percent: float) -> float:
        """The latency that `percent` of the requests stayed within."""
        ordered = sorted(self.latencies_s)
        return 1000 * ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


@dataclass(slots=True)
class _Client(asyncio.Protocol):
    request: bytes
    body: bytes
    until: float
    done: asyncio.Future[None]
    latencies_s: list[float] = field(default_factory=list)
    _transport: asyncio.Transport | None = None
    _buffer: bytes = b""
    _sent: float = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are not of asyncio's classes.
        self._transport = cast("asyncio.Transport", transport)
        self._send()

    def _send(self) -> None:
        assert self._transport is not None  # noqa: S101 -- set when the connection was made
        self._sent = time.perf_counter()
        self._transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, end, body = self._buffer.partition(_END)
        if not end or len(body) < len(self.body):
            return
        if not head.startswith(b"HTTP/1.1 200") or body != self.body:
            self._finish(RuntimeError(f"a wrong answer: {self._buffer[:500]!r}"))
            return
        now = time.perf_counter()
        self.latencies_s.append(now - self._sent)
        self._buffer = b""
        if now < self.until:
            self._send()
        else:
            self._finish(None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._finish(exc or ConnectionError("the server closed the connection"))

    def _finish(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(error) if error else self.done.set_result(None)
        if self._transport is not None:
            self._transport.close()


def load(port: int, path: str, cookie: str | None, body: bytes, *, connections: int, seconds: float) -> Load:
    """Ask for `path` on that many connections for that long; raises when an answer is not `body`."""
    return uvloop.run(_load(port, path, cookie, body, connections=connections, seconds=seconds))


async def _load(
    port: int, path: str, cookie: str | None, body: bytes, *, connections: int, seconds: float
) -> Load:
    loop = asyncio.get_running_loop()
    lines = [
        f"GET {path} HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        *([f"Cookie: {cookie}"] if cookie else []),
        "",
        "",
    ]
    began = time.perf_counter()
    clients = [
        _Client("\r\n".join(lines).encode(), body, began + seconds, loop.create_future())
        for _ in range(connections)
    ]
    for client in clients:
        await loop.create_connection(lambda client=client: client, "127.0.0.1", port)  # type: ignore[misc]
    await asyncio.gather(*(client.done for client in clients))
    latencies = [latency for client in clients for latency in client.latencies_s]
    return Load(requests=len(latencies), seconds=time.perf_counter() - began, latencies_s=latencies)
