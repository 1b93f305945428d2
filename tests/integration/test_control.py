"""What an operator wants is obeyed by every replica, ends, is remembered, and never hurts."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
import redis

from app.control import ControlBoard, ControlUnavailable, Obedience, UnknownBreaker, UnusableWish
from app.control.board import AUDIT_LENGTH
from app.control.obedience import POLL_S
from app.fleet.programs import Programs
from app.fleet.redis import RedisServer
from app.lifecycle import Lifecycle
from app.observability.background import in_background
from app.resilience import Breaker, State
from tests.conftest import free_port, listening, running, wait_until

MINUTE = timedelta(minutes=1)
WISHES = "{chopho:control}:breakers"
AUDIT = "{chopho:control}:audit"


@dataclass
class Clock:
    """A clock that stands still until it is told."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class OwnRedis:
    """A Redis that a test may break."""

    url: str
    process: subprocess.Popen[bytes]

    def stop(self) -> None:
        """Hang it: it accepts connections and answers nothing."""
        os.kill(self.process.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        os.kill(self.process.pid, signal.SIGCONT)


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[OwnRedis]:
    server = RedisServer(program=Programs().find_redis_server(), data=tmp_path / "data", port=free_port())
    with running(server.argv(), tmp_path / "log") as process:
        wait_until(lambda: listening(server.port), what="Redis")
        own = OwnRedis(server.url, process)
        yield own
        own.go_on()


@asynccontextmanager
async def board_at(url: str) -> AsyncIterator[ControlBoard]:
    board = ControlBoard(url)
    try:
        yield board
    finally:
        await board.close()


@dataclass
class Replica:
    """A replica's breakers and how it obeys; `clock` is theirs."""

    name: str
    board: ControlBoard
    clock: Clock
    payments: Breaker
    reviews: Breaker
    lifecycle: Lifecycle
    obedience: Obedience


def state(breaker: Breaker) -> State:
    return breaker.state


def replica(name: str, board: ControlBoard) -> Replica:
    clock = Clock()
    payments, reviews = (Breaker(one, clock=clock) for one in ("payments", "reviews"))
    lifecycle = Lifecycle()
    lifecycle.ready()
    obedience = Obedience(board, [payments, reviews], lifecycle, replica=name)
    return Replica(name, board, clock, payments, reviews, lifecycle, obedience)


async def test_a_drained_replica_alone_says_not_ready_until_it_is_wanted_back(redis_url: str) -> None:
    async with board_at(redis_url) as board:
        one, other = replica("app1", board), replica("app2", board)
        await board.drain("app1", by="vân", reason="đĩa hỏng")
        for each in (one, other):
            await each.obedience.ask()
        assert (one.lifecycle.is_ready, other.lifecycle.is_ready) == (False, True)
        assert (await board.standing()).drains["app1"].reason == "đĩa hỏng"

        restarted = replica("app1", board)
        await restarted.obedience.ask()
        assert not restarted.lifecycle.is_ready

        await board.undrain("app1", by="vân", reason="đã thay")
        for each in (one, restarted):
            await each.obedience.ask()
        assert [each.lifecycle.word for each in (one, restarted)] == ["ready", "ready"]
        assert [entry.state for entry in await board.history()] == ["SERVING", "DRAINED"]


async def test_an_emptied_board_is_no_wish_to_be_back(redis_url: str) -> None:
    async with board_at(redis_url) as board:
        one = replica("app1", board)
        await board.drain("app1", by="a", reason="b")
        await one.obedience.ask()
        with redis.Redis.from_url(redis_url) as client:
            client.flushall()
        await one.obedience.ask()
    assert not one.lifecycle.is_ready


async def test_what_nobody_of_ours_wrote_drains_nobody(redis_url: str) -> None:
    async with board_at(redis_url) as board:
        one = replica("app1", board)
        with redis.Redis.from_url(redis_url) as client:
            for stored in ("{", "[]", "7", '{"state": "GONE", "since_ms": 1, "by": "a", "reason": "b"}'):
                client.hset("{chopho:control}:drains", "app1", stored)
                await one.obedience.ask()
    assert one.lifecycle.is_ready


async def test_every_replica_obeys_and_the_board_shows_it(redis_url: str) -> None:
    async with board_at(redis_url) as board:
        replicas = [replica(name, board) for name in ("app1", "app2", "app3")]
        for one in replicas:
            await one.obedience.ask()

        await board.wish("payments", "forced-open", lasting=MINUTE, by="vân", reason="bảo trì")
        for one in replicas:
            await one.obedience.ask()

        assert [state(one.payments) for one in replicas] == [State.FORCED_OPEN] * 3
        assert [state(one.reviews) for one in replicas] == [State.CLOSED] * 3
        standing = await board.standing()
        told = {"payments": "FORCED_OPEN", "reviews": "CLOSED"}
        assert standing.replicas == {"app1": told, "app2": told, "app3": told}
        assert standing.wishes["payments"].reason == "bảo trì"


async def test_replicas_ask_by_themselves_often_enough_to_obey_within_two_seconds(redis_url: str) -> None:
    async with board_at(redis_url) as board:
        one = replica("app1", board)
        async with in_background(one.obedience.run()):
            await _until(lambda: one.obedience.is_heard)
            await board.wish("payments", "DISABLED", lasting=MINUTE, by="a", reason="b")
            await _until(lambda: state(one.payments) is State.DISABLED)

    assert POLL_S + 2 * board.timeout_s <= 2  # a whole round, connecting and asking at their slowest


async def test_a_wish_ends_by_itself_also_on_the_board(redis_url: str) -> None:
    async with board_at(redis_url) as board:
        one = replica("app1", board)
        await one.obedience.ask()
        await board.wish("payments", "METRICS_ONLY", lasting=timedelta(seconds=1), by="a", reason="b")
        await one.obedience.ask()
        assert state(one.payments) is State.METRICS_ONLY

        one.clock.now += 1.0
        assert state(one.payments) is State.CLOSED
        await _until_empty(board)
        await one.obedience.ask()
        assert state(one.payments) is State.CLOSED


async def test_a_renewed_wish_lasts_anew(redis_url: str) -> None:
    async with board_at(redis_url) as board:
        one = replica("app1", board)
        await one.obedience.ask()
        for _ in range(2):
            await board.wish("payments", "FORCED_OPEN", lasting=MINUTE, by="a", reason="b")
            await one.obedience.ask()
            one.clock.now += 40

        assert state(one.payments) is State.FORCED_OPEN


async def test_automatic_withdraws_a_wish(redis_url: str) -> None:
    async with board_at(redis_url) as board:
        one = replica("app1", board)
        await one.obedience.ask()
        for wanted in ("DISABLED", "AUTOMATIC"):
            await board.wish("payments", wanted, lasting=MINUTE, by="a", reason="b")
            await one.obedience.ask()

        assert state(one.payments) is State.CLOSED


async def test_a_replica_that_starts_later_obeys_too_and_for_the_rest_of_the_time(redis_url: str) -> None:
    async with board_at(redis_url) as board:
        await replica("app1", board).obedience.ask()
        await board.wish("payments", "FORCED_OPEN", lasting=MINUTE, by="a", reason="b")
        late = replica("app2", board)
        await late.obedience.ask()

        left_s = late.payments.snapshot().until_s
        assert state(late.payments) is State.FORCED_OPEN
        assert left_s is not None
        assert 0 < left_s <= 60


async def test_unknown_names_and_states_are_refused_and_change_nothing(redis_url: str) -> None:
    async with board_at(redis_url) as board:
        with pytest.raises(UnknownBreaker, match="is one running"):
            await board.wish("payments", "DISABLED", lasting=MINUTE, by="a", reason="b")
        await replica("app1", board).obedience.ask()
        with pytest.raises(UnknownBreaker, match="did you mean payments"):
            await board.wish("payment", "DISABLED", lasting=MINUTE, by="a", reason="b")
        with pytest.raises(UnusableWish, match="CLOSED"):
            await board.wish("payments", "CLOSED", lasting=MINUTE, by="a", reason="b")

        assert (await board.standing()).wishes == {}
        assert await board.history() == []


async def test_each_wish_is_audited_and_the_audit_is_bounded(redis_url: str) -> None:
    async with board_at(redis_url) as board:
        await replica("app1", board).obedience.ask()
        with redis.Redis.from_url(redis_url) as raw:
            for number in range(2 * AUDIT_LENGTH):
                fields = {"breaker": "old", "state": "x", "until_ms": number, "by": "a", "reason": "b"}
                raw.xadd(AUDIT, dict(fields))
            await board.wish("payments", "DISABLED", lasting=MINUTE, by="vân", reason="thử tải")
            await board.wish("payments", "AUTOMATIC", lasting=MINUTE, by="vân", reason="xong")
            length = raw.xlen(AUDIT)

        last, first, *_ = await board.history()
        assert (last.state, last.reason) == ("AUTOMATIC", "xong")
        assert (first.breaker, first.state, first.by, first.reason) == (
            "payments",
            "DISABLED",
            "vân",
            "thử tải",
        )
        assert length < AUDIT_LENGTH + 200


async def test_nothing_on_the_board_stays_for_ever(redis_url: str) -> None:
    async with board_at(redis_url) as board:
        await replica("app1", board).obedience.ask()
        await board.wish("payments", "DISABLED", lasting=timedelta(hours=24), by="a", reason="b")
    with redis.Redis.from_url(redis_url) as raw:
        left_ms = {key: raw.pttl(key) for key in raw.scan_iter("*")}

    assert len(left_ms) == 3
    assert all(left_ms[key] > 0 for key in left_ms)
    assert left_ms[WISHES.encode()] > timedelta(hours=23) // timedelta(milliseconds=1)


async def test_what_others_wrote_on_the_board_is_ignored_and_swept(redis_url: str) -> None:
    async with board_at(redis_url) as board:
        one = replica("app1", board)
        await one.obedience.ask()
        with redis.Redis.from_url(redis_url) as raw:
            for name, junk in {"payments": "\x00", "reviews": '{"state": "OPEN"}', "x": "5"}.items():
                raw.hset(WISHES, name, junk)
            await one.obedience.ask()
            assert state(one.payments) is state(one.reviews) is State.CLOSED

            await board.wish("payments", "DISABLED", lasting=MINUTE, by="a", reason="b")
            assert raw.hkeys(WISHES) == [b"payments"]


async def test_a_hung_redis_leaves_the_last_wish_until_it_expires_and_delays_nobody(
    own_redis: OwnRedis,
) -> None:
    async with board_at(own_redis.url) as board:
        one = replica("app1", board)
        await one.obedience.ask()
        await board.wish("payments", "FORCED_OPEN", lasting=MINUTE, by="a", reason="b")
        await one.obedience.ask()

        own_redis.stop()
        async with asyncio.timeout(5):  # a hung server is given up, not waited for
            await one.obedience.ask()
        assert not one.obedience.is_heard
        assert state(one.payments) is State.FORCED_OPEN
        with pytest.raises(ControlUnavailable):
            await board.wish("payments", "AUTOMATIC", lasting=MINUTE, by="a", reason="b")

        one.clock.now += 60
        assert state(one.payments) is not State.FORCED_OPEN

        own_redis.go_on()
        await _until_heard(one)


async def test_an_emptied_redis_withdraws_nothing(redis_url: str) -> None:
    async with board_at(redis_url) as board:
        one = replica("app1", board)
        await one.obedience.ask()
        await board.wish("payments", "FORCED_OPEN", lasting=MINUTE, by="a", reason="b")
        await one.obedience.ask()
        with redis.Redis.from_url(redis_url) as raw:
            raw.flushall()
        await one.obedience.ask()

        assert state(one.payments) is State.FORCED_OPEN


async def test_a_redis_that_is_not_there_harms_nobody() -> None:
    async with board_at(f"redis://127.0.0.1:{free_port()}/0") as board:
        one = replica("app1", board)
        await one.obedience.ask()

        assert state(one.payments) is State.CLOSED
        with pytest.raises(ControlUnavailable, match="cannot answer"):
            await board.standing()


async def test_a_replica_that_is_gone_is_forgotten(redis_url: str) -> None:
    async with board_at(redis_url) as board:
        await replica("app1", board).obedience.ask()
        with redis.Redis.from_url(redis_url) as raw:
            raw.hset("{chopho:control}:replicas", "app9", f"1 {json.dumps({'payments': 'CLOSED'})}")

        assert list((await board.standing()).replicas) == ["app1"]


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110 -- a breaker tells nobody, so we look
            await asyncio.sleep(0.02)


async def _until_empty(board: ControlBoard) -> None:
    async with asyncio.timeout(10):
        while (await board.standing()).wishes:  # noqa: ASYNC110 -- likewise
            await asyncio.sleep(0.05)


async def _until_heard(one: Replica) -> None:
    async with asyncio.timeout(10):
        while not one.obedience.is_heard:
            await one.obedience.ask()
