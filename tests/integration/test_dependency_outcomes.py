"""However a call of a service ends, it is booked exactly once, and in the right column."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from pydantic import BaseModel

from app.clients.dependency import Dependency, DependencyConfig, Question
from app.resilience import BreakerConfig, State, deadline
from app.shop.errors import Invalid, NotFound, Unavailable
from tests.conftest import free_port

GZIP = b"content-encoding: gzip\r\n"
RESET = b""


class Shape(BaseModel):
    a: int


def said(status: int, body: bytes = b'{"a": 1}', more: bytes = b"") -> bytes:
    return b"HTTP/1.1 %d X\r\ncontent-length: %d\r\n%b\r\n%b" % (status, len(body), more, body)


@asynccontextmanager
async def dependency(answer: bytes | None) -> AsyncIterator[Dependency]:
    """One whose service says these bytes and closes; None: it says nothing and stays."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            if answer is None:
                await reader.read()
            writer.write(answer or b"")
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    found = at(server.sockets[0].getsockname()[1])
    try:
        yield found
    finally:
        await found.close()
        server.close()


def at(port: int) -> Dependency:
    config = DependencyConfig(
        url=f"http://127.0.0.1:{port}",
        pool_size=1,
        timeout=timedelta(seconds=5),
        breaker=BreakerConfig(slow_call_duration_threshold_s=60),
    )
    return Dependency("x", config, endpoints=("one",), listeners=())


def ask(service: Dependency) -> Awaitable[Shape]:
    return service.ask("one", Question(method="GET", path="/"), Shape)


def booked(service: Dependency) -> dict[str, int]:
    """The columns with something in them; whatever came, all places are back."""
    assert service.slots.snapshot().in_use == 0
    assert service.connections.places.in_use == 0
    return {name: n for name, n in service.guards["one"].breaker.snapshot().calls.items() if n}


@pytest.mark.parametrize(
    ("answer", "error", "column"),
    [
        (said(200), None, "successful"),
        (said(404), NotFound, "successful"),
        (said(422), Invalid, "successful"),
        *((said(status), Unavailable, "successful") for status in (400, 401, 403, 409, 418)),
        (said(429, more=b"retry-after: 7\r\n"), Unavailable, "ignored"),
        *((said(status), Unavailable, "failed") for status in (302, 500, 502, 503, 599)),
        (said(204, b""), Unavailable, "failed"),
        (said(200, b"<html>"), Unavailable, "failed"),
        (said(200, b'{"a": "x"}'), Unavailable, "failed"),
        (said(200, b"\xff\xfe"), Unavailable, "failed"),
        (said(200, b"no gzip", GZIP), Unavailable, "failed"),
        (said(200, b" " * (1024 * 1024 + 1)), Unavailable, "failed"),
        (b"HTTP/1.1 200 X\r\ncontent-length: 100\r\n\r\n{", Unavailable, "failed"),
        (b"HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", Unavailable, "failed"),
        (b"HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{", Unavailable, "failed"),
        (b"HTTP/1.1 200 X\r\ncontent-length: many\r\n\r\n", Unavailable, "failed"),
        (b"HTTP/1.1 200 X\r\nx: " + b"y" * 100_000 + b"\r\n\r\n", Unavailable, "failed"),
        (b"HTTP/1.1 200 X\r\nconte", Unavailable, "failed"),
        (b"\x00\x01 no http\r\n\r\n", Unavailable, "failed"),
        (RESET, Unavailable, "failed"),
    ],
    ids=lambda case: repr(case[:50]) if isinstance(case, bytes) else "",
)
async def test_an_answer_is_booked_once_and_as_what_it_is(
    answer: bytes, error: type[Exception] | None, column: str
) -> None:
    async with dependency(answer) as service:
        if error is None:
            assert (await ask(service)).a == 1
        else:
            with pytest.raises(error):
                await ask(service)
        assert booked(service) == {column: 1}


async def test_a_door_that_nobody_opens_is_a_failure() -> None:
    service = at(free_port())
    with pytest.raises(Unavailable):
        await ask(service)
    assert booked(service) == {"failed": 1}
    await service.close()


async def _leaves(service: Dependency) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await ask(service)


async def _has_no_time_left(service: Dependency) -> None:
    with deadline.budget(0), pytest.raises(Unavailable):
        await ask(service)


async def _has_little_time_left(service: Dependency) -> None:
    with deadline.budget(0.05), pytest.raises(Unavailable):
        await ask(service)


@pytest.mark.parametrize("caller", [_leaves, _has_no_time_left, _has_little_time_left])
async def test_what_the_caller_did_is_no_failure_of_a_silent_service(
    caller: Callable[[Dependency], Awaitable[None]],
) -> None:
    async with dependency(None) as service:
        await caller(service)
        assert booked(service) == {"ignored": 1}


async def test_what_was_not_asked_is_not_booked_as_an_outcome() -> None:
    async with dependency(None) as service:
        first = asyncio.ensure_future(ask(service))
        await asyncio.sleep(0)  # it holds the one slot now
        with pytest.raises(Unavailable):
            await ask(service)  # full
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        assert booked(service) == {"ignored": 1}
        service.guards["one"].breaker.hold(State.FORCED_OPEN)
        with pytest.raises(Unavailable):
            await ask(service)
        assert booked(service) == {"ignored": 1, "not_permitted": 1}
