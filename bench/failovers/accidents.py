"""What may happen to a server under load, and what has to be there before it happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.failovers.postgres import caught_up, primary_and_standby
from tests.conftest import wait_until
from tests.redis_servers import OwnRedis, info, own_redis, redis_cluster, redis_with_sentinel


@dataclass(frozen=True, kw_only=True)
class Stage:
    """The servers of one accident; None where any will do. `happen` returns at once, `mend` brings back what it can."""

    session_url: str | None = None
    database_url: str | None = None
    happen: Callable[[], None]
    mend: Callable[[], None] = lambda: None


Accident = Callable[[Path], AbstractContextManager[Stage]]


@contextmanager
def sentinel_failover(folder: Path) -> Iterator[Stage]:
    """The master of the sessions dies; a sentinel makes its replica the master."""
    with redis_with_sentinel(folder) as (url, master, _replica):

        def die() -> None:
            master.command("WAIT", 1, 1000)
            master.stop()

        yield Stage(session_url=url, happen=die)


@contextmanager
def lost_node(folder: Path) -> Iterator[Stage]:
    """One of three nodes of a cluster dies; its replica takes over its slots."""
    with redis_cluster(folder) as nodes, own_redis(folder / "spare", None, *_CLUSTERED) as spare:
        spare.command("CLUSTER", "MEET", "127.0.0.1", nodes[0].port)
        lost = nodes[0].command("CLUSTER", "MYID").decode()
        wait_until(lambda: lost in _known(spare), what="the spare node's view", within_s=60)
        wait_until(lambda: _follows(spare, lost), what="the spare node", within_s=60)
        wait_until(lambda: _sees_replica(nodes[1], spare), what="the cluster's view", within_s=60)

        def die() -> None:
            nodes[0].command("WAIT", 1, 1000)
            nodes[0].stop()

        yield Stage(session_url="redis+cluster://" + f"127.0.0.1:{nodes[1].port}", happen=die)


_CLUSTERED: Final = ("--cluster-enabled", "yes", "--cluster-node-timeout", "2000")


def _known(node: OwnRedis) -> str:
    return str(node.command("CLUSTER", "NODES"))


def _follows(spare: OwnRedis, master: str) -> bool:
    if f"slave {master}" not in _known(spare):
        spare.command("CLUSTER", "REPLICATE", master)
    return b"master_link_status:up" in info(spare)


def _sees_replica(node: OwnRedis, spare: OwnRedis) -> bool:
    return any(f":{spare.port}@" in line and "slave" in line for line in _known(node).split("\\n"))


@contextmanager
def database_restart(folder: Path) -> Iterator[Stage]:
    """The database crashes and is started again."""
    with primary_and_standby(folder) as (primary, _standby):
        yield Stage(database_url=primary.server.url(), happen=primary.kill, mend=primary.start)


@contextmanager
def primary_switch(folder: Path) -> Iterator[Stage]:
    """The primary dies and its standby is promoted; the shop knows both addresses."""
    with primary_and_standby(folder) as (primary, standby):

        def switch() -> None:
            wait_until(lambda: caught_up(primary, standby), what="the standby")
            primary.kill()
            standby.ask("SELECT pg_promote(false)")

        login = primary.server.url().partition("@")[0]
        yield Stage(database_url=f"{login}@{primary.address},{standby.address}/postgres", happen=switch)


ACCIDENTS: Final[Mapping[str, Accident]] = {
    "sentinel-failover": sentinel_failover,
    "lost-cluster-node": lost_node,
    "database-restart": database_restart,
    "primary-switch": primary_switch,
}
