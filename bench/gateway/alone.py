"""What the gateway's own code costs for one call, without sockets: ``python -m bench.gateway.alone``. Half a minute.

A service that answers from memory, so that a busy machine disturbs less than it does `bench.gateway.run`. The least of many
batches is the figure: whatever else ran on the machine can only have added to the others.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, cast

import uvloop
from prometheus_client import CollectorRegistry

from app.clients.wire.connection import Connection
from app.observability.resilience import ResilienceWatch
from app.web.gateway import Gateway, Upstream, UpstreamConfig
from app.web.gateway.table import ECHO
from app.web.origins import Origin

BATCHES: Final = 400
CALLS: Final = 50
_ANSWER: Final = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
_HEADERS: Final = [
    (b"host", b"127.0.0.1:8080"),
    (b"user-agent", b"bench"),
    (b"accept", b"*/*"),
    (b"accept-encoding", b"gzip"),
]


class _Service(asyncio.Transport):
    """Answers whatever is written to it in the next turn of the loop."""

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection

    def write(self, data: bytes | bytearray | memoryview) -> None:  # noqa: ARG002 -- every question is the same
        asyncio.get_running_loop().call_soon(self._connection.data_received, _ANSWER)

    def is_closing(self) -> bool:
        return False

    def abort(self) -> None:
        pass


async def _connection() -> Connection:
    connection = Connection()
    connection.connection_made(_Service(connection))
    return connection


async def _call(gateway: Gateway) -> None:
    asked = asyncio.get_running_loop().create_future()
    messages = [{"type": "http.request", "body": b""}]

    async def receive() -> dict[str, Any]:
        return messages.pop() if messages else cast("dict[str, Any]", await asked)

    async def send(message: Any) -> None:  # noqa: ANN401 -- as ASGI has it
        pass

    path = "/api/services/payments/echo"
    scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b""}
    told = {"headers": _HEADERS, "client": ("127.0.0.1", 1), "state": {"request_id": "0" * 32}}
    await gateway(scope | told, receive, send)


async def _least_us(call: Callable[[], Any]) -> float:
    least = float("inf")
    for _ in range(BATCHES):
        began = time.process_time()
        for _ in range(CALLS):
            await call()
        least = min(least, (time.process_time() - began) / CALLS)
    return least * 1e6


async def main() -> None:
    """With and without listeners, which the metrics are."""
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for words, listeners in {
        "a call": [ResilienceWatch(CollectorRegistry())],
        "… that nobody counts": [],
    }.items():
        endpoint = replace(ECHO, tells_caller=False)
        config = UpstreamConfig(url="http://127.0.0.1:1")
        upstream = Upstream("payments", [endpoint], config, listeners=listeners)
        upstream.connections._connect = _connection  # type: ignore[method-assign]  # noqa: SLF001 -- no sockets
        gateway = Gateway([upstream], origin=Origin("http", "127.0.0.1", 8080), draining=asyncio.Event())
        least = await _least_us(lambda gateway=gateway: _call(gateway))  # type: ignore[misc]
        print(f"  {words:24}{least:>7.1f} µs of CPU")


if __name__ == "__main__":
    uvloop.run(main())
