"""The supervisor's socket in the state directory: one order for each connection, told of while it is carried out.

A line of JSON comes in (`Request`), a line goes out for each event (`Said`), and the last says how it ended
(`Ended`). Whoever asked may hang up: the order is carried out all the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ValidationError

from app.fleet import errors
from app.fleet.errors import FleetError, SupervisorGone
from app.fleet.events import Event
from app.fleet.orders import Ended, Request, Said

SOCKET: Final = "supervisor.sock"
_LONGEST_LINE: Final = 64 * 1024
# It says that it has begun before it does anything else; a busy machine gets some patience.
_FIRST_WORD: Final = timedelta(seconds=20)

_logger = logging.getLogger(__name__)

CarryOut = Callable[[Request], Awaitable[None]]


class Hotline:
    """Takes orders for `carry_out`, which raises `FleetError` for what it cannot do."""

    def __init__(self, socket: Path, carry_out: CarryOut) -> None:
        self._socket = socket
        self._carry_out = carry_out
        self._listeners: set[asyncio.StreamWriter] = set()
        self._orders: set[asyncio.Task[Ended]] = set()

    def tell(self, event: Event) -> None:
        """Say it to everybody who waits for an order."""
        for writer in [it for it in self._listeners if not it.is_closing()]:
            _write(writer, Said(said=str(event)))

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Listen for the block; an order under way at its end is called off, and its sender told."""
        # The lock on the state directory is ours, so a socket that is there is a dead supervisor's.
        self._socket.unlink(missing_ok=True)
        server = await asyncio.start_unix_server(self._answer, self._socket, limit=_LONGEST_LINE)
        self._socket.chmod(0o600)
        try:
            yield
        finally:
            server.close()
            for order in self._orders:
                order.cancel()
            await asyncio.gather(*self._orders, return_exceptions=True)
            # Their senders are told before the connections go.
            await asyncio.sleep(0)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = Request.model_validate_json(await reader.readline())
        except ValueError as unusable:
            reason = unusable.errors()[0]["msg"] if isinstance(unusable, ValidationError) else str(unusable)
            ended = Ended(error=f"the supervisor does not understand the order: {reason}", kind="FleetError")
        else:
            self._listeners.add(writer)
            try:
                ended = await self._carried_out(request)
            finally:
                self._listeners.discard(writer)
        _write(writer, ended)
        with contextlib.suppress(OSError):
            await writer.drain()
            writer.close()
            await writer.wait_closed()

    async def _carried_out(self, request: Request) -> Ended:
        """In a task of its own, so that it does not matter whether the sender is still there."""
        order = asyncio.create_task(self._ending(request))
        self._orders.add(order)
        order.add_done_callback(self._orders.discard)
        try:
            return await asyncio.shield(order)
        except asyncio.CancelledError:
            return Ended(error=f"{request.order} was called off: the fleet goes down", kind="FleetError")

    async def _ending(self, request: Request) -> Ended:
        try:
            await self._carry_out(request)
        except FleetError as refused:
            return Ended(error=str(refused), kind=type(refused).__name__)
        except Exception as unforeseen:
            # The top of an order: the fleet goes on, and whoever gave it must not think that the supervisor is dead.
            _logger.exception("%s failed", request.order)
            what = f"{request.order} failed in a way nobody foresaw ({type(unforeseen).__name__})"
            return Ended(error=f"{what}; see `chopho logs supervisor`", kind="FleetError")
        return Ended()


async def ask(
    socket: Path, request: Request, hear: Callable[[str], None], *, within: timedelta = _FIRST_WORD
) -> None:
    """Have the supervisor carry out an order; raises the `FleetError` it ended with, or `SupervisorGone`.

    An order may take minutes; that it was heard is said `within` a moment, or the supervisor stands still.
    """
    try:
        reader, writer = await asyncio.open_unix_connection(socket, limit=_LONGEST_LINE)
    except OSError as gone:
        raise SupervisorGone(
            f"no supervisor listens on {socket}; `chopho up` starts one and takes over what runs"
        ) from gone
    try:
        _write(writer, request)
        line = await asyncio.wait_for(reader.readline(), within.total_seconds())
        while line:
            if b'"said"' in line[:8]:
                hear(Said.model_validate_json(line).said)
                line = await reader.readline()
            else:
                _raise(Ended.model_validate_json(line))
                return
    except TimeoutError as silent:
        raise SupervisorGone(
            f"the supervisor has not answered for {within.total_seconds():g} s: it stands still, or is stopped. It may "
            f"carry out {request.order} when it goes on; see `chopho status`, or end it (kill -9) and `chopho up` again"
        ) from silent
    finally:
        writer.close()
    raise SupervisorGone(
        f"the supervisor went away while it carried out: {request.order}; see `chopho status`"
    )


def _raise(ended: Ended) -> None:
    if ended.error is not None:
        kind = getattr(errors, ended.kind, FleetError)
        raise kind(ended.error)


def _write(writer: asyncio.StreamWriter, message: BaseModel) -> None:
    with contextlib.suppress(OSError):
        writer.write(message.model_dump_json().encode() + b"\n")
