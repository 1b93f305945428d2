from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from app.observability.writer import LineWriter
from tests.conftest import wait_until


@contextmanager
def a_pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    try:
        yield reader, writer
    finally:
        os.close(reader)
        os.close(writer)


def test_lines_arrive_in_order_and_all_of_them_by_the_end() -> None:
    with a_pipe() as (reader, descriptor):
        writer = LineWriter(descriptor)
        writer.start()
        for number in range(100):
            writer.write(b"%d\n" % number)
        writer.close()

        assert os.read(reader, 10_000) == b"".join(b"%d\n" % number for number in range(100))


def test_a_reader_that_hangs_stops_nobody_and_is_told_what_it_missed() -> None:
    with a_pipe() as (reader, descriptor):
        writer = LineWriter(descriptor, capacity=10)
        writer.start()
        writer.write(b"x" * 1_000_000 + b"\n", urgent=True)  # more than a pipe holds: the thread hangs here
        wait_until(lambda: writer.waiting == 0, what="the writer")

        for _ in range(25):
            writer.write(b"later\n")  # would never return if it waited
        assert (writer.waiting, writer.dropped) == (10, 15)

        got = bytearray()
        closing = threading.Thread(target=writer.close)
        closing.start()
        while b"dropped" not in got:
            got += os.read(reader, 100_000)
        closing.join()
        assert got.count(b"later\n") == 10
        assert json.loads(got.splitlines()[-1])["count"] == 15


def test_a_reader_that_left_harms_nobody() -> None:
    reader, descriptor = os.pipe()
    os.close(reader)
    writer = LineWriter(descriptor)
    writer.start()
    writer.write(b"unheard\n", urgent=True)
    wait_until(lambda: writer.dropped == 1, what="the writer")

    writer.write(b"again\n")
    writer.close()

    assert writer.dropped == 2
    os.close(descriptor)
