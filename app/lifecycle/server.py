"""Serving one application from the start of its lifespan to the end."""

from __future__ import annotations

import asyncio
import faulthandler
import gc
import logging
import signal
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Final

import uvicorn
import uvloop
from starlette.types import ASGIApp
from uvicorn.lifespan.on import LifespanOn
from uvicorn.server import ServerState

from .http import HttpConnection
from .in_flight import InFlight
from .notify import Notifier
from .phase import Lifecycle
from .watchdog import EXIT_MEMORY, Watchdog, WatchdogConfig

_log = logging.getLogger(__name__)

# Above HAProxy's idle time for server connections: the side that opens a connection must be the one to close it.
KEEP_ALIVE_S: Final = 75
EXIT_STARTUP_FAILED: Final = 3
EXIT_FORCED: Final = 1
# A request that was cut gets this long to unwind before the pools it holds are closed under it.
_UNWIND: Final = timedelta(seconds=2)
# Closing pools takes milliseconds; what waits for a dead server is not worth more.
_CLOSING: Final = timedelta(seconds=10)


def serve(
    app: ASGIApp,
    lifecycle: Lifecycle,
    *,
    host: str,
    port: int,
    watchdog: WatchdogConfig | None = None,
    notifier: Notifier | None = None,
) -> int:
    """Serve until a signal says stop; the exit code of the process.

    0: stopped in order; 1: a second signal forced it; 3: the application's lifespan did not start (it has
    logged why); 4: the event loop stood still, the stacks are on standard error; 5: memory passed its limit,
    and it drained. SIGABRT leaves the stacks too. Raises `OSError` when the address cannot be bound, after the
    lifespan has ended.
    """
    faulthandler.enable()
    server = Server(app, lifecycle, host=host, port=port, watchdog=watchdog, notifier=notifier)
    return uvloop.run(server.run())


class Server:
    """uvicorn's connections and lifespan in our order: listen once READY, close only after the drain."""

    def __init__(
        self,
        app: ASGIApp,
        lifecycle: Lifecycle,
        *,
        host: str,
        port: int,
        watchdog: WatchdogConfig | None = None,
        notifier: Notifier | None = None,
    ) -> None:
        self._lifecycle = lifecycle
        self._notifier = notifier or Notifier()
        self._watchdog = Watchdog(watchdog or WatchdogConfig(), self._notifier, full=self._out_of_memory)
        self._exit_code = 0
        self._host, self._port = host, port
        self._state = ServerState()
        self._forced = asyncio.Event()
        self._delay = lifecycle.config.drain_delay
        self._uvicorn = uvicorn.Config(
            InFlight(app, lifecycle=lifecycle),
            http=HttpConnection,
            ws="none",
            interface="asgi3",
            lifespan="on",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=KEEP_ALIVE_S,
        )
        self._uvicorn.load()
        self._lifespan = LifespanOn(self._uvicorn)

    async def run(self) -> int:
        """See `serve`."""
        with self._signals():
            await self._until_forced(self._lifespan.startup())
            if self._lifespan.should_exit or self._forced.is_set():
                return EXIT_STARTUP_FAILED if self._lifespan.should_exit else EXIT_FORCED
            # What the start made lives as long as the process: the collector would look at it again and again.
            gc.collect()
            gc.freeze()
            self._lifecycle.ready()
            with self._watchdog.watching():
                try:
                    if not self._lifecycle.draining.is_set():
                        await self._serve()
                finally:
                    self._lifecycle.stop()
                    await self._close()
        return EXIT_FORCED if self._forced.is_set() else self._exit_code

    async def _close(self) -> None:
        """End the lifespan; one that hangs is left, since everybody was answered."""
        try:
            async with asyncio.timeout(_CLOSING.total_seconds()):
                await self._lifespan.shutdown()
        except TimeoutError:
            _log.error("the lifespan did not end within %g s", _CLOSING.total_seconds())

    async def _serve(self) -> None:
        """Listen, drain, close."""
        loop = asyncio.get_running_loop()
        listener = await loop.create_server(self._connection, self._host, self._port, backlog=2048)
        _log.info("ready on %s:%d", self._host, self._port)
        self._notifier.ready(f"serving on {self._host}:{self._port}")
        await self._lifecycle.draining.wait()
        self._notifier.stopping(f"draining, {self._lifecycle.in_flight} in flight")
        _log.info("draining for %g s", self._delay.total_seconds())
        await self._until_forced(asyncio.sleep(self._delay.total_seconds()))
        listener.close()
        self._finish_connections()
        await self._until_forced(self._finished(), within=self._lifecycle.config.shutdown_grace)
        await self._cut()

    def _connection(self) -> HttpConnection:
        return HttpConnection(self._uvicorn, self._state, self._lifespan.state)

    def _finish_connections(self) -> None:
        """Close idle connections, let the others answer once more."""
        _log.info("closed to new connections; %d in flight", len(self._state.tasks))
        for connection in list(self._state.connections):
            connection.shutdown()

    async def _finished(self) -> None:
        """Every answer has left, every background task is done."""
        while self._state.connections or self._state.tasks:  # noqa: ASYNC110 -- uvicorn tells nobody, so we look
            await asyncio.sleep(0.02)

    async def _cut(self) -> None:
        """End what outlived the grace, and let it unwind before the lifespan takes its pools away."""
        self._lifecycle.stop()
        if self._state.tasks:
            _log.warning("cutting %d requests that outlived the grace", len(self._state.tasks))
            for task in self._state.tasks:
                task.cancel()
            await asyncio.wait(self._state.tasks, timeout=_UNWIND.total_seconds())
        for connection in list(self._state.connections):
            connection.transport.close()

    async def _until_forced(
        self, work: Coroutine[Any, Any, None], *, within: timedelta | None = None
    ) -> None:
        """Await the work, at most that long, or until a second signal; then it is cancelled."""
        tasks = [asyncio.ensure_future(work), asyncio.ensure_future(self._forced.wait())]
        timeout = within.total_seconds() if within is not None else None
        done, pending = await asyncio.wait(tasks, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
        await asyncio.gather(*done)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        handlers = {signal.SIGTERM: self._stop, signal.SIGINT: self._stop, signal.SIGQUIT: self._stop_at_once}
        for number, handler in handlers.items():
            loop.add_signal_handler(number, handler)
        try:
            yield
        finally:
            for number in handlers:
                loop.remove_signal_handler(number)

    def _stop(self) -> None:
        if self._lifecycle.draining.is_set():
            _log.warning("a second signal: stopping at once")
            self._forced.set()
        self._lifecycle.drain()

    def _out_of_memory(self) -> None:
        _log.error("memory passed its limit: draining, to be started again")
        self._exit_code = EXIT_MEMORY
        self._lifecycle.drain()

    def _stop_at_once(self) -> None:
        """The sender has taken us out of the balancer: nobody is left to tell."""
        self._delay = timedelta(0)
        self._stop()
