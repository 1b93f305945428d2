"""What an answer is made of leaves together, and nothing that streams is held up."""

from __future__ import annotations

import asyncio

import pytest

from app.lifecycle.one_write import OneWrite


class Wire(asyncio.Transport):
    """Notes what was written, call by call."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written.append(bytes(data))

    def close(self) -> None:
        self.written.append(b"closed")

    def is_closing(self) -> bool:
        return b"closed" in self.written


@pytest.fixture
def wire() -> Wire:
    return Wire()


@pytest.fixture
async def out(wire: Wire) -> OneWrite:
    return OneWrite(wire, asyncio.get_running_loop())


async def test_head_and_body_are_one_packet(out: OneWrite, wire: Wire) -> None:
    out.write(b"head ")
    out.write(b"body")
    out.flush()
    assert wire.written == [b"head body"]


async def test_what_nobody_flushes_leaves_before_anything_else_happens(out: OneWrite, wire: Wire) -> None:
    out.write(b"an event")
    await asyncio.sleep(0)
    assert wire.written == [b"an event"]
    out.write(b"another")
    await asyncio.sleep(0)
    assert wire.written == [b"an event", b"another"]


async def test_much_is_not_kept_so_that_the_writer_is_told_to_wait(out: OneWrite, wire: Wire) -> None:
    for _ in range(5):
        out.write(bytes(40_000))
    assert [len(data) for data in wire.written] == [80_000, 80_000]
    out.flush()
    assert sum(map(len, wire.written)) == 200_000


async def test_what_was_written_before_the_close_leaves_before_it(out: OneWrite, wire: Wire) -> None:
    out.write(b"the end")
    out.close()
    await asyncio.sleep(0)
    assert wire.written == [b"the end", b"closed"]
    assert out.is_closing()
