"""One Redis server by its URL: connected when needed, reconnected when lost, never waited for too long."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, Protocol

import hiredis
from redis.asyncio.connection import RedisSSLContext, SSLConnection, parse_url

from .errors import StoreUnavailable
from .redis_link import Link, Reply, ReplyError

Address = tuple[str, int] | str
"""Host and port, or the path of a unix socket."""

_HANDSHAKE_ERRORS: Final = (OSError, ReplyError, StoreUnavailable)


class Wire(Protocol):
    """A way to the servers: each command goes to where its key lives."""

    @property
    def dialled(self) -> int:
        """How many connections were made so far: a restart or a failover costs one."""

    @property
    def redirected(self) -> int:
        """How many commands so far were sent on to where their key had moved."""

    def call(self, *commands: tuple[bytes, bytes]) -> Awaitable[list[Reply]]:
        """The replies to one or more (key, packed command) in order; `StoreUnavailable` for what is no answer."""

    async def count(self, pattern: str) -> int:
        """How many keys match, on every server."""

    async def open(self) -> None:
        """Begin to connect; does not wait."""

    async def close(self) -> None:
        """Hang up."""


def pack(*words: str | bytes | int) -> bytes:
    """One command as it goes over the wire."""
    packed: bytes = hiredis.pack_command(words)  # type: ignore[arg-type]  # its stub means a tuple of any length
    return packed


class Options:
    """How to connect, from a URL; raises `ValueError` for one that cannot be meant."""

    def __init__(self, url: str) -> None:
        parsed: dict[str, Any] = dict(parse_url(url))
        self.address: Address = parsed.get("path") or (
            parsed.get("host", "localhost"),
            parsed.get("port", 6379),
        )
        self._tls = _tls(parsed) if parsed.get("connection_class") is SSLConnection else None
        self._greeting = _greeting(parsed)

    async def dial(self, address: Address, timeout_s: float, *, role: bytes | None = None) -> Link:
        """A connection that is logged in, on the right database and, if asked for, to a server of that role."""
        loop = asyncio.get_running_loop()
        if isinstance(address, str):
            _, link = await loop.create_unix_connection(lambda: Link(timeout_s), address)
        else:
            transport, link = await loop.create_connection(lambda: Link(timeout_s), *address, ssl=self._tls)
            _keep_alive(transport.get_extra_info("socket"))
        try:
            await self._greet(link, role)
        except BaseException:
            # Also when cancelled: a half-greeted connection must not stay behind.
            link.abort("not greeted")
            raise
        return link

    async def _greet(self, link: Link, role: bytes | None) -> None:
        words = [*self._greeting, pack("ROLE")] if role else self._greeting
        replies = await link.send(b"".join(words), len(words))
        for reply in replies:
            if isinstance(reply, ReplyError):
                raise reply
        if role and replies[-1][0] != role:
            raise StoreUnavailable(f"the server is a {replies[-1][0].decode()}")


class Server:
    """One server. All callers share one connection; a lost one is made anew by the next caller."""

    def __init__(
        self,
        options: Options,
        timeout_s: float,
        *,
        address: Address | None = None,
        find: Callable[[], Awaitable[Address]] | None = None,
        role: bytes | None = None,
    ) -> None:
        self._options = options
        self._timeout_s = timeout_s
        self._address = address or options.address
        self._find = find
        self._role = role
        self._link: Link | None = None
        self._connecting: asyncio.Task[Link] | None = None
        self.dialled = 0
        self.redirected = 0

    async def open(self) -> None:
        """Begin to connect; a server that is away is nobody's error yet."""
        self._connect().add_done_callback(_retrieved)

    async def close(self) -> None:
        """Hang up and wait until the connection is gone."""
        if self._connecting is not None:
            self._connecting.cancel()
            await asyncio.wait({self._connecting})
            self._connecting = None
        link, self._link = self._link, None
        if link is not None:
            link.abort("closed")
            await link.closed

    def call(self, *commands: tuple[bytes, bytes]) -> Awaitable[list[Reply]]:
        """The replies; the commands are under way when this returns, if there is a connection."""
        packed = b"".join([packed for _, packed in commands])
        link = self._link
        if link is None or not link.usable:
            return self._sent(packed, len(commands))
        return link.send(packed, len(commands))

    async def count(self, pattern: str) -> int:
        """How many keys match; the server is asked for a thousand at a time."""
        found, cursor = 0, b"0"
        while True:
            (reply,) = await self.call((b"", pack("SCAN", cursor, "MATCH", pattern, "COUNT", 1000)))
            if isinstance(reply, ReplyError):
                raise StoreUnavailable(f"the server answers {reply.code}")
            cursor, keys = reply
            found += len(keys)
            if cursor == b"0":
                return found

    async def _sent(self, packed: bytes, wanted: int) -> list[Reply]:
        return await (await self._linked()).send(packed, wanted)

    async def _linked(self) -> Link:
        connecting = self._connect()
        done, _ = await asyncio.wait({connecting}, timeout=self._timeout_s)
        if not done:
            raise StoreUnavailable("no connection in time")
        try:
            return connecting.result()
        except _HANDSHAKE_ERRORS as failed:
            raise StoreUnavailable(f"no connection: {failed}") from failed

    def _connect(self) -> asyncio.Task[Link]:
        if self._connecting is None or self._connecting.done():
            self._connecting = asyncio.create_task(self._dial())
            self._connecting.add_done_callback(_retrieved)
        return self._connecting

    async def _dial(self) -> Link:
        try:
            async with asyncio.timeout(self._timeout_s):
                address = await self._find() if self._find else self._address
                link = await self._options.dial(address, self._timeout_s, role=self._role)
        except TimeoutError as late:
            raise StoreUnavailable("no connection in time") from late
        self._link = link
        self.dialled += 1
        return link


def _retrieved(task: asyncio.Task[Link]) -> None:
    if not task.cancelled():
        task.exception()


def _greeting(parsed: dict[str, Any]) -> Sequence[bytes]:
    words: list[bytes] = []
    if parsed.get("password"):
        user = [parsed["username"]] if parsed.get("username") else []
        words.append(pack("AUTH", *user, parsed["password"]))
    if parsed.get("db"):
        words.append(pack("SELECT", int(parsed["db"])))
    # A loading or locked server answers this with an error, so the connection is not taken for good.
    words.append(pack("PING"))
    return words


def _tls(parsed: dict[str, Any]) -> Any:  # noqa: ANN401 - redis-py's own context type is not exported
    return RedisSSLContext(
        keyfile=parsed.get("ssl_keyfile"),
        certfile=parsed.get("ssl_certfile"),
        cert_reqs=parsed.get("ssl_cert_reqs", "required"),
        ca_certs=parsed.get("ssl_ca_certs"),
        ca_path=parsed.get("ssl_ca_path"),
        check_hostname=parsed.get("ssl_check_hostname", True),
    ).get()


def _keep_alive(sock: Any) -> None:  # noqa: ANN401 - asyncio hands out its own socket type
    if sock is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
