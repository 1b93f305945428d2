"""The peer: a small HTTP/1.1 server of its own process, which counts what reaches it.

``/fast`` answers at once · ``/wait/MS`` later · ``/close/MS`` later, and closes · ``/id/N/MS`` answers N
``/big`` answers 1 MB · ``POST /echo`` answers the body · ``/counts`` answers what was counted
``--idle-ms`` closes a connection that was idle for so long.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import dataclass

import uvloop

BIG = b"x" * 1_000_000


@dataclass
class Counts:
    """Connections open now and at most, and requests by method."""

    open: int = 0
    most: int = 0
    gets: int = 0
    posts: int = 0


async def answer(path: str, body: bytes, counts: Counts) -> tuple[bytes, bool]:
    """The answer's body, and whether the connection is to be closed."""
    what, _, rest = path.strip("/").partition("/")
    match what:
        case "wait" | "close":
            await asyncio.sleep(int(rest) / 1000)
            return b"done", what == "close"
        case "id":
            number, _, wait_ms = rest.partition("/")
            await asyncio.sleep(int(wait_ms) / 1000)
            return number.encode(), False
        case "big":
            return BIG, False
        case "echo":
            return body, False
        case "counts":
            return json.dumps(vars(counts)).encode(), False
    return b'{"ok": true}', False


async def serve(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, counts: Counts, idle_s: float | None
) -> None:
    """One connection until somebody closes it."""
    counts.open += 1
    counts.most = max(counts.most, counts.open)
    try:
        while True:
            async with asyncio.timeout(idle_s):
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            method, path, _ = head.split(" ", 2)
            counts.gets += method == "GET"
            counts.posts += method == "POST"
            lines = [line.partition(":") for line in head.split("\r\n")[1:]]
            length = next((int(value) for name, _, value in lines if name.lower() == "content-length"), 0)
            body, closing = await answer(path, await reader.readexactly(length), counts)
            connection = "close" if closing else "keep-alive"
            writer.write(
                f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\nconnection: {connection}\r\n\r\n".encode()
            )
            writer.write(body)
            await writer.drain()
            if closing:
                return
    except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
        return
    finally:
        counts.open -= 1
        writer.close()


async def main() -> None:
    """Serve until the parent ends this process; say the port on standard output."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--idle-ms", type=int)
    options = parser.parse_args()
    counts = Counts()
    idle_s = None if options.idle_ms is None else options.idle_ms / 1000
    server = await asyncio.start_server(
        lambda reader, writer: serve(reader, writer, counts, idle_s), "127.0.0.1", options.port, limit=2**22
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
