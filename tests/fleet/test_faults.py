"""Replicas, HAProxy and Redis die, hang and drain under load, and no shopper notices."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from tests.conftest import free_port, wait_until
from tests.fleet.conftest import MakeFleet, StubFleet
from tests.fleet.load import Load

pytestmark = pytest.mark.fleet


def test_a_killed_replica_costs_no_reader_anything_and_is_back_by_itself(whole_fleet: StubFleet) -> None:
    killed = whole_fleet.pid("app1")
    with Load(whole_fleet.url, per_second=50) as load:
        load.wait_for_more(50)
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: whole_fleet.pid("app1") != killed, what="another app1")
        whole_fleet.wait_until_all_up()
        load.wait_for_more(50)
    assert (load.tally.failed, set(load.tally.statuses)) == ([], {200})
    assert "app1 was killed by SIGKILL" in whole_fleet.said


def test_a_replica_told_to_stop_is_first_not_ready_and_loses_no_request(whole_fleet: StubFleet) -> None:
    stopped, probe = whole_fleet.pid("app1"), f"{whole_fleet.replica_url('app1')}/health/readiness"
    with Load(whole_fleet.url, per_second=100, clients=20) as load:
        load.wait_for_more(50)
        os.kill(stopped, signal.SIGTERM)
        wait_until(lambda: httpx.get(probe).status_code == 503, what="readiness 503")
        assert httpx.get(whole_fleet.replica_url("app1")).status_code == 200
        wait_until(lambda: whole_fleet.states()["app1"] == "DOWN", what="HAProxy to notice")
        assert httpx.get(whole_fleet.replica_url("app1")).status_code == 200
        wait_until(lambda: whole_fleet.pid("app1") != stopped, within_s=40, what="another app1")
        whole_fleet.wait_until_all_up()
        load.wait_for_more(50)
    assert (load.tally.failed, load.tally.cut, set(load.tally.statuses)) == ([], 0, {200})
    assert "app1 exited with code 0" in whole_fleet.said


def test_readers_of_a_hung_replica_are_served_elsewhere_until_it_is_out(whole_fleet: StubFleet) -> None:
    hung = whole_fleet.pid("app2")
    os.kill(hung, signal.SIGSTOP)
    try:
        with Load(whole_fleet.url, per_second=40) as load:
            wait_until(lambda: whole_fleet.states()["app2"] == "DOWN", what="HAProxy to notice")
            load.wait_for_more(20)
    finally:
        os.kill(hung, signal.SIGCONT)
    assert (load.tally.failed, load.tally.cut, set(load.tally.statuses)) == ([], 0, {200})
    whole_fleet.wait_until_all_up()
    assert whole_fleet.pid("app2") == hung


def test_a_replica_that_stands_still_is_ended_and_started_again(make_fleet: MakeFleet) -> None:
    """One is stopped as a whole, later the other's event loop is blocked; nobody looks at the screen."""
    fleet = make_fleet()
    fleet.open("--replicas", "3", CHOPHO_LIVENESS_LIMIT="2s")
    stopped, blocked = fleet.pid("app1"), fleet.pid("app2")
    with Load(fleet.url, per_second=40) as load:
        load.wait_for_more(20)
        os.kill(stopped, signal.SIGSTOP)
        wait_until(lambda: stopped != fleet.pid("app1"), within_s=60, what="another app1")
        fleet.wait_until_all_up()
        with pytest.raises(httpx.HTTPError):
            httpx.get(f"{fleet.replica_url('app2')}/block?s=90", timeout=60)
        wait_until(lambda: blocked != fleet.pid("app2"), within_s=60, what="another app2")
        fleet.wait_until_all_up()
        load.wait_for_more(20)
    assert (load.tally.failed, set(load.tally.statuses)) == ([], {200})
    assert "app1 has not answered for" in fleet.said
    assert "in block" in fleet.log("app2")


def test_a_post_is_never_carried_out_twice(make_fleet: MakeFleet) -> None:
    fleet = make_fleet("state")
    counted = fleet.state / "counted"
    fleet.open("--count-in", str(counted))
    answers: list[int] = []

    async def order(client: httpx.AsyncClient) -> None:
        answers.append((await client.post(f"{fleet.url}/slow?s=2")).status_code)

    async def scenario() -> None:
        async with httpx.AsyncClient(timeout=30) as client, asyncio.TaskGroup() as group:
            for _ in range(6):
                group.create_task(order(client))
            await asyncio.to_thread(wait_until, lambda: len(_lines(counted)) == 6)
            os.kill(fleet.pid(_lines(counted)[0].split()[0]), signal.SIGKILL)

    asyncio.run(scenario())
    carried_out = [line.split()[0] for line in _lines(counted)]
    assert len(carried_out) == 6
    assert answers.count(502) == carried_out.count(carried_out[0])
    assert answers.count(200) == 6 - answers.count(502)


def test_a_killed_haproxy_is_back_with_its_replicas(whole_fleet: StubFleet) -> None:
    killed = whole_fleet.pid("haproxy")
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: whole_fleet.pid("haproxy") != killed, what="another haproxy")
    wait_until(lambda: _answers(whole_fleet.url), what="the door")
    whole_fleet.wait_until_all_up()


def test_a_killed_redis_is_back_at_its_address(whole_fleet: StubFleet) -> None:
    record = whole_fleet.record()
    assert record is not None
    killed, port = whole_fleet.pid("redis"), record.ports["redis"]
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: whole_fleet.pid("redis") != killed, what="another redis")
    again = whole_fleet.record()
    assert again is not None
    assert again.ports["redis"] == port


def test_a_slot_whose_port_is_dead_gets_no_shopper(whole_fleet: StubFleet) -> None:
    with Load(whole_fleet.url, per_second=200) as load, joined(whole_fleet, "app3", load, free_port()):
        wait_until(lambda: whole_fleet.servers()["app3"].check == "L4CON", what="a check")
        load.wait_for_more(50)
        slot = whole_fleet.servers()["app3"]
    assert (slot.state, slot.requests_total) == ("DOWN", 0)
    assert (load.tally.failed, set(load.tally.statuses)) == ([], {200})


def test_a_slot_that_listens_but_is_not_ready_gets_no_shopper(whole_fleet: StubFleet) -> None:
    with (
        not_ready() as (port, asked),
        Load(whole_fleet.url, per_second=200) as load,
        joined(whole_fleet, "app4", load, port),
    ):
        wait_until(lambda: asked.count("/health/readiness") > 1, what="two checks")
        load.wait_for_more(50)
    assert set(asked) == {"/health/readiness"}
    assert (load.tally.failed, set(load.tally.statuses)) == ([], {200})


@contextmanager
def joined(fleet: StubFleet, name: str, load: Load, port: int) -> Iterator[None]:
    """A slot that joins while shoppers are there, for the block; then as it was before."""
    load.wait_for_more(20)
    asyncio.run(fleet.runtime.join(name, port))
    try:
        yield
    finally:
        asyncio.run(fleet.runtime.leave(name))
        asyncio.run(fleet.runtime.ask(f"set server app_servers/{name} addr 127.0.0.1 port 1"))


@contextmanager
def not_ready() -> Iterator[tuple[int, list[str]]]:
    """A server that says 503 to everything; its port, and the paths it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(503)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1], asked
        finally:
            server.shutdown()
            thread.join()


def _answers(url: str) -> bool:
    try:
        return httpx.get(url).status_code == 200
    except httpx.HTTPError:
        return False


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []
