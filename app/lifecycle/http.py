"""One HTTP connection: uvicorn's on httptools, with limits, and without its leak."""

from __future__ import annotations

import asyncio
from typing import Final, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .one_write import OneWrite

# A little more than HAProxy lets through (16 KB, 101 headers), so that the balancer is the one that refuses.
MAX_HEAD_BYTES: Final = 32 * 1024
MAX_HEADERS: Final = 128


class HeadTooLarge(Exception):
    """The request's line and headers are larger than anybody needs."""


class HttpConnection(HttpToolsProtocol):
    """Refuses an oversized head with 431, and lets go of a connection that was reset."""

    _head_bytes = 0
    _too_large = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send each answer as one packet."""
        self._out = OneWrite(transport, self.loop)
        super().connection_made(cast("asyncio.Transport", self._out))

    def on_response_complete(self) -> None:
        """An answer that is complete need not wait."""
        self._out.flush()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection; after a reset uvicorn keeps its timer, and so the whole of it."""
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """A new request has its own head."""
        self._head_bytes = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Count the request line."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header."""
        # Not by `_count`: a request has fifteen of these.
        self._head_bytes += len(name) + len(value)
        if self._head_bytes > MAX_HEAD_BYTES or len(self.headers) >= MAX_HEADERS:
            self._count(0)
        super().on_header(name, value)

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > MAX_HEAD_BYTES or len(self.headers) >= MAX_HEADERS:
            self._too_large = True
            raise HeadTooLarge

    def send_400_response(self, msg: str) -> None:
        """Say 431 where the head was too large; uvicorn calls this for whatever its parser refused."""
        if not self._too_large:
            super().send_400_response(msg)
            return
        self.transport.write(
            b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        )
        self.transport.close()
