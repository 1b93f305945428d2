"""The body of a request on its way to the service, as fast as both sides can and no faster."""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from app.clients.http import HttpError
from app.clients.wire import Exchange
from app.resilience import TimedOut
from app.web.errors import BodyTooLarge, BodyTooSlow

PATIENCE_S: Final = 30.0
"""For the whole body: no client may hold a slot of a service for longer by sending slowly."""

WATCH_AFTER_S: Final = 0.05
"""Most answers are there by then, and whether their client still is need not be asked."""


class Upload:
    """Sends the rest of a body and then watches whether the client stays; what goes wrong fails the exchange.

    The service's time for an answer begins when the body has been sent.
    """

    def __init__(self, receive: Receive, exchange: Exchange, *, timeout_s: float) -> None:
        self._receive = receive
        self._exchange = exchange
        self._timeout_s = timeout_s
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def watch(self) -> None:
        """There is no more to send: from now on the service has its time for an answer."""
        # One timer for both: most calls are over before it ends.
        after_s = min(WATCH_AFTER_S, self._timeout_s)
        self._timer = self._loop.call_later(after_s, self._start_watching, after_s)

    def send(self, first: bytes, *, is_chunked: bool) -> None:
        """Send what came first and what follows."""
        self._task = asyncio.create_task(self._send(first, is_chunked=is_chunked))

    def stop(self) -> None:
        """Whatever it still does is not needed any more."""
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    def _start_watching(self, passed_s: float) -> None:
        self._exchange.expect_within(self._timeout_s, passed_s=passed_s)
        self._task = asyncio.create_task(self._until_gone())

    async def _until_gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._exchange.fail(ClientDisconnect())

    async def _send(self, first: bytes, *, is_chunked: bool) -> None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._send_all(first, is_chunked=is_chunked)
        except TimeoutError:
            is_theirs = self._exchange.connection.is_blocked
            self._exchange.fail(TimedOut(allowed_s=PATIENCE_S) if is_theirs else BodyTooSlow())
        except (BodyTooLarge, ClientDisconnect) as ended:
            self._exchange.fail(ended)
        except HttpError:
            return  # whoever waits for the answer learns of it there
        else:
            self._exchange.connection.sent()
            self._exchange.expect_within(self._timeout_s)
            await self._until_gone()

    async def _send_all(self, first: bytes, *, is_chunked: bool) -> None:
        data, more = first, True
        while True:
            if data:
                await self._exchange.connection.send(
                    b"%x\r\n%b\r\n" % (len(data), data) if is_chunked else data
                )
            if not more:
                break
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            data, more = message.get("body", b""), message.get("more_body", False)
        if is_chunked:
            await self._exchange.connection.send(b"0\r\n\r\n")
