"""A service behind the gateway that misbehaves as it is asked: ``python -m tests.apps.gateway_service``.

It prints its port. The query says how to answer (``?as=gzip``); without one, it answers what it received, the head byte
for byte. ``?as=seen`` tells how many requests came and how many of their callers left before the end.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from collections import Counter
from urllib.parse import parse_qs, urlsplit

JSON = b"content-type: application/json\r\n"
LARGE = 64 * 1024 * 1024
"""More than all the buffers of the sockets between here and the reader hold."""

PART = b"x" * 65_536
SEEN: Counter[str] = Counter()


def whole(body: bytes, *, status: bytes = b"200 OK", more: bytes = JSON) -> bytes:
    return b"HTTP/1.1 %b\r\ncontent-length: %d\r\n%b\r\n%b" % (status, len(body), more, body)


FIXED: dict[str, bytes] = {
    "cookies": whole(
        b"{}",
        more=b"set-cookie: a=1\r\nSet-Cookie: chopho_session=evil\r\nserver: secret/1\r\nx-powered-by: php\r\n",
    ),
    "closed": whole(
        b"{}",
        more=b"connection: x-private\r\nx-private: 1\r\nkeep-alive: timeout=5\r\nproxy-authenticate: Basic\r\n"
        b"x-internal-debug: 1\r\nx-user-id: 7\r\naccess-control-allow-origin: *\r\nlocation: http://10.0.0.1/\r\n"
        b'content-security-policy: script-src *\r\nx-kept: yes\r\nx_odd: 1\r\netag: "1"\r\n',
    ),
    "gzip": whole(
        gzip.compress(b"xin chao" * 100), more=b"content-encoding: gzip\r\nvary: accept-encoding\r\n"
    ),
    "chunked": b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n3\r\nxin\r\n5\r\n chao\r\n0\r\nx-sum: 1\r\n\r\n",
    "204": b"HTTP/1.1 204 No Content\r\n\r\n",
    "304": b'HTTP/1.1 304 Not Modified\r\ncontent-length: 500\r\netag: "1"\r\n\r\n',
    "500": whole(b'{"code": "boom"}', status=b"500 Oops"),
    "422": whole(b'{"code": "invalid"}', status=b"422 No"),
    "201": whole(b"{}", status=b"201 Created", more=b"location: /reviews/1\r\n"),
    "redirect": whole(b"", status=b"302 Found", more=b"location: http://127.0.0.1:1/metrics\r\n"),
    "early": b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n" + whole(b"{}"),
    "garbage": b"\x00\x01 no http at all\r\n\r\n",
    "twice": whole(b"{}") + whole(b'{"stolen": true}'),
    "framed twice": b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}",
    "huge head": b"HTTP/1.1 200 OK\r\nx-big: " + b"x" * 100_000 + b"\r\ncontent-length: 0\r\n\r\n",
    "many headers": b"HTTP/1.1 200 OK\r\n" + b"x-a: 1\r\n" * 500 + b"content-length: 0\r\n\r\n",
    "split": b"HTTP/1.1 200 OK\r\nx-a: 1\rset-cookie: a=1\r\ncontent-length: 0\r\n\r\n",
    "999": whole(b"", status=b"999 Odd"),
    "switch": b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
}
CUT: dict[str, bytes] = {
    "cut": b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n" + b"x" * 5000,
    "cut chunked": b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nxin c\r\n",
    "cut head": b"HTTP/1.1 200 OK\r\ncontent-le",
    "until close": b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\nxin chao",
    "nothing": b"",
}


async def body_of(reader: asyncio.StreamReader, head: bytes) -> tuple[bytes, int]:
    """How it begins, and its size."""
    lines = [line.partition(b":") for line in head.split(b"\r\n")[1:]]
    headers = {name.lower(): value.strip() for name, _, value in lines}
    if headers.get(b"transfer-encoding") == b"chunked":
        begin, size = b"", 0
        while length := int(await reader.readline(), 16):
            begin, size = (begin + await reader.readexactly(length))[:64], size + length
            await reader.readexactly(2)
        await reader.readline()
        return begin, size
    length = int(headers.get(b"content-length", b"0"))
    body = await reader.readexactly(length)
    return body[:64], length


async def answer(  # noqa: C901 -- a way of answering is a line
    way: str, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """One answer; the connection is kept unless the way is to cut it."""
    if way == "large":
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % LARGE)
        for _ in range(LARGE // len(PART)):
            writer.write(PART)
            SEEN["written"] += len(PART)
            await writer.drain()
    elif way in ("events", "endless"):
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        while way == "endless" or SEEN["told"] < 3:
            SEEN["told"] += 1
            writer.write(b"%x\r\n%b\r\n" % (len(event := b"data: %d\n\n" % SEEN["told"]), event))
            await writer.drain()
            await asyncio.sleep(0.2)
        writer.write(b"0\r\n\r\n")
    elif way == "events with a pause":
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        writer.write(b"9\r\ndata: 1\n\n\r\n")
        await writer.drain()
        await asyncio.sleep(4)  # longer than the balancer waits for a page
        writer.write(b"9\r\ndata: 2\n\n\r\n0\r\n\r\n")
    elif way == "twice later":
        writer.write(whole(b"{}"))
        await writer.drain()
        await asyncio.sleep(0.2)
        writer.write(whole(b'{"stolen": true}'))
    elif way == "hang":
        await reader.read()
        raise ConnectionResetError
    elif way == "refuses bodies":
        writer.write(whole(b'{"code": "enough"}', status=b"413 Enough", more=JSON + b"connection: close\r\n"))
        await writer.drain()
        await asyncio.sleep(1)
        raise ConnectionAbortedError
    elif way in CUT:
        writer.write(CUT[way])
        await writer.drain()
        raise ConnectionAbortedError
    elif way == "seen":
        writer.write(whole(json.dumps(SEEN).encode()))
    elif way in FIXED:
        is_head = head.startswith(b"HEAD ")
        writer.write(FIXED[way].partition(b"\r\n\r\n")[0] + b"\r\n\r\n" if is_head else FIXED[way])
    else:
        begin, size = await body_of(reader, head)
        told = {"head": head.decode("latin-1"), "begin": begin.decode("latin-1"), "size": size}
        writer.write(whole(b"" if head.startswith(b"HEAD ") else json.dumps(told).encode()))
    await writer.drain()


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection."""
    SEEN["connections"] += 1
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            target = head.split(b" ", 2)[1].decode()
            way = parse_qs(urlsplit(target).query).get("as", [""])[0]
            SEEN["requests"] += way != "seen" and target.startswith("/echo")
            await answer(way, head, reader, writer)
    except asyncio.IncompleteReadError as ended:
        SEEN["broken off"] += bool(ended.partial)
    except ConnectionAbortedError:
        pass
    except ConnectionError:
        SEEN["left"] += 1
    finally:
        writer.close()


async def main() -> None:
    """Serve until killed."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)  # noqa: T201 -- whoever started it reads it
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
