"""A served process from its first probe to its exit code, each a real process on a real port."""

from __future__ import annotations

import asyncio
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.conftest import free_port, listening, wait_until

ROOT = Path(__file__).parents[2]


class Replica:
    """One process of `tests.apps.lifecycle_app`, and the words it has said so far."""

    def __init__(self, port: int, words: Path, process: subprocess.Popen[bytes]) -> None:
        self.port, self.process = port, process
        self._words = words
        self.url = f"http://127.0.0.1:{port}"

    def said(self, word: str) -> bool:
        return word in self._words.read_text().splitlines()

    def hears(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def readiness(self) -> int:
        return httpx.get(f"{self.url}/health/readiness").status_code

    def exit_code(self, within_s: float = 20) -> int:
        return self.process.wait(timeout=within_s)


@contextmanager
def replica_process(folder: Path, *options: str) -> Iterator[Replica]:
    port = free_port()
    words = folder / "words"
    argv = [sys.executable, "-m", "tests.apps.lifecycle_app", str(port), *options]
    with (
        words.open("wb") as out,
        (folder / "log").open("wb") as log,
        subprocess.Popen(argv, stdout=out, stderr=log, cwd=ROOT) as process,
    ):
        try:
            yield Replica(port, words, process)
        finally:
            process.kill()


Start = Callable[..., Replica]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts one replica with the given options and waits until it listens."""
    with ExitStack() as running:

        def starting(*options: str, wait: bool = True) -> Replica:
            replica = running.enter_context(replica_process(tmp_path, *options))
            if wait:
                wait_until(lambda: listening(replica.port), what="the replica")
            return replica

        yield starting


@asynccontextmanager
async def client_of(replica: Replica) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=replica.url, timeout=20) as client:
        yield client


def test_the_listener_opens_only_once_the_application_is_ready(start: Start) -> None:
    replica = start("--start", "0.7", wait=False)
    wait_until(lambda: replica.said("starting"))
    assert not listening(replica.port)
    wait_until(lambda: listening(replica.port))
    assert replica.readiness() == 200


def test_answers_carry_no_noise(start: Start) -> None:
    answer = httpx.get(start().url)
    assert "server" not in answer.headers
    assert "date" not in answer.headers


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_drains_while_everyone_is_served(start: Start, number: signal.Signals) -> None:
    replica = start("--delay", "1.5")
    with httpx.Client(base_url=replica.url) as client:
        assert "connection" not in client.get("/").headers
        replica.hears(number)
        wait_until(lambda: replica.readiness() == 503)
        for _ in range(5):
            answer = client.get("/")
            assert (answer.status_code, answer.headers["connection"]) == (200, "close")
        assert client.get("/health/liveness").status_code == 200
    assert replica.exit_code() == 0
    assert replica.said("cleaned")


def test_sigquit_skips_the_delay_and_still_finishes_what_is_in_flight(start: Start) -> None:
    replica = start("--delay", "60")

    async def scenario() -> httpx.Response:
        async with client_of(replica) as client:
            asked = asyncio.create_task(client.get("/slow?s=0.8"))
            await asyncio.to_thread(wait_until, lambda: replica.said("began"))
            replica.hears(signal.SIGQUIT)
            return await asked

    answer = asyncio.run(scenario())
    assert (answer.status_code, answer.text, answer.headers["connection"]) == (200, "done", "close")
    assert replica.exit_code() == 0


def test_in_flight_requests_and_background_work_finish_after_the_listener_closed(start: Start) -> None:
    replica = start()

    async def scenario() -> tuple[httpx.Response, httpx.Response]:
        async with client_of(replica) as client:
            asked = asyncio.create_task(client.get("/slow?s=1"))
            accepted = await client.get("/later?s=1")
            await asyncio.to_thread(wait_until, lambda: replica.said("began"))
            replica.hears(signal.SIGTERM)
            await asyncio.to_thread(wait_until, lambda: not listening(replica.port))
            return await asked, accepted

    answer, accepted = asyncio.run(scenario())
    assert (answer.text, accepted.text) == ("done", "accepted")
    assert replica.exit_code() == 0
    assert replica.said("worked")
    assert replica.said("cleaned")


def test_a_request_that_outlives_the_grace_gets_a_503_and_the_lifespan_still_ends(start: Start) -> None:
    replica = start("--grace", "0.3")

    async def scenario() -> httpx.Response:
        async with client_of(replica) as client:
            asked = asyncio.create_task(client.get("/slow?s=30"))
            await asyncio.to_thread(wait_until, lambda: replica.said("began"))
            replica.hears(signal.SIGTERM)
            return await asked

    answer = asyncio.run(scenario())
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert replica.exit_code() == 0
    assert replica.said("cut")
    assert replica.said("cleaned")


def test_event_streams_end_with_the_drain(start: Start) -> None:
    replica = start("--delay", "60")
    with httpx.stream("GET", f"{replica.url}/events", timeout=20) as answer:
        lines = answer.iter_lines()
        assert next(lines) == "data: hello"
        replica.hears(signal.SIGTERM)
        assert "data: bye" in list(lines)


def test_a_request_head_that_never_ends_does_not_hold_the_exit(start: Start) -> None:
    replica = start("--grace", "60")
    with socket.create_connection(("127.0.0.1", replica.port)) as loris:
        loris.sendall(b"GET / HTTP/1.1\r\nHost: shop")
        assert replica.readiness() == 200
        replica.hears(signal.SIGTERM)
        assert replica.exit_code() == 0


def test_an_upload_that_never_ends_is_cut_with_the_grace(start: Start) -> None:
    replica = start("--grace", "0.3")
    with socket.create_connection(("127.0.0.1", replica.port)) as half:
        half.sendall(b"POST /body HTTP/1.1\r\nHost: shop\r\nContent-Length: 100\r\n\r\nonly this")
        assert replica.readiness() == 200
        replica.hears(signal.SIGTERM)
        assert replica.exit_code() == 0
    assert replica.said("cleaned")


def test_a_second_signal_forces(start: Start) -> None:
    replica = start("--delay", "60", "--grace", "60")

    async def scenario() -> httpx.Response:
        async with client_of(replica) as client:
            asked = asyncio.create_task(client.get("/slow?s=60"))
            await asyncio.to_thread(wait_until, lambda: replica.said("began"))
            replica.hears(signal.SIGTERM)
            await asyncio.to_thread(wait_until, lambda: replica.readiness() == 503)
            replica.hears(signal.SIGTERM)
            return await asked

    assert asyncio.run(scenario()).status_code == 503
    assert replica.exit_code() == 1
    assert replica.said("cleaned")


def test_a_signal_during_the_start_stops_before_anybody_is_let_in(start: Start) -> None:
    replica = start("--start", "1", "--delay", "60", wait=False)
    wait_until(lambda: replica.said("starting"))
    replica.hears(signal.SIGTERM)
    seen = []
    while replica.process.poll() is None:
        seen.append(listening(replica.port))
        time.sleep(0.01)
    assert not any(seen)
    assert replica.exit_code() == 0
    assert replica.said("cleaned")


def test_an_application_that_cannot_start_exits_3(start: Start) -> None:
    assert start("--start", "-1", wait=False).exit_code() == 3


def test_connections_that_were_reset_are_forgotten(start: Start) -> None:
    """Uvicorn keeps each for its whole keep-alive time: 75 s of every client that vanished."""
    replica = start()
    for _ in range(50):
        with socket.create_connection(("127.0.0.1", replica.port)) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: shop\r\n\r\n")
            assert client.recv(4096)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wait_until(lambda: int(httpx.get(f"{replica.url}/connections").json()["connections"]) == 1)


@pytest.mark.parametrize(
    "head",
    [
        b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\nHost: shop\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: shop\r\nX: " + b"a" * 40_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: shop\r\n" + b"X: y\r\n" * 200 + b"\r\n",
        b"GET / HTTP/1.1\r\nHost: shop\r\n" + b"X: y\r\n" * 20_000,
    ],
    ids=["long address", "long header", "many headers", "endless headers"],
)
def test_an_oversized_head_is_refused_with_431(start: Start, head: bytes) -> None:
    replica = start()
    with socket.create_connection(("127.0.0.1", replica.port), timeout=5) as client:
        client.sendall(head)
        assert client.recv(4096).startswith(b"HTTP/1.1 431 ")
    assert replica.readiness() == 200


def test_a_head_that_is_not_http_is_refused_with_400(start: Start) -> None:
    with socket.create_connection(("127.0.0.1", start().port), timeout=5) as client:
        client.sendall(b"HELLO THERE\r\n\r\n")
        assert client.recv(4096).startswith(b"HTTP/1.1 400 ")
