"""An answer on its way to a client that takes nothing."""

from __future__ import annotations

import asyncio

import pytest
from starlette.requests import ClientDisconnect
from starlette.types import Message

from app.clients.wire import Connection
from app.resilience import Breaker, BreakerConfig
from app.web.gateway import relay
from app.web.gateway.relay import Relay

WHOLE = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"
BEGUN = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n"


@pytest.mark.parametrize("answer", [WHOLE, BEGUN], ids=["whole", "begun"])
@pytest.mark.parametrize("blocked", ["http.response.start", "http.response.body"])
async def test_a_client_that_takes_nothing_is_as_good_as_gone(
    answer: bytes, blocked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that asks for more and more and reads no answer would hold a slot for ever."""
    monkeypatch.setattr(relay, "READER_PATIENCE_S", 0.02)
    connection = Connection()
    connection.begin(b"", is_head=False)
    connection.data_received(answer)
    asyncio.get_running_loop().call_later(0.2, connection.data_received, b"hi" if answer == BEGUN else b"")

    async def send(message: Message) -> None:
        if message["type"] == blocked:
            await asyncio.Event().wait()

    answering = Relay(send, draining=asyncio.Event(), idle_timeout_s=10, is_private=False)
    async with asyncio.timeout(10), Breaker("a", BreakerConfig()).call() as call:
        with pytest.raises(ClientDisconnect):
            await answering.answer(connection, call)
