"""The session contract over every backend."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from app.sessions.backends import store_of
from app.sessions.config import SessionConfig
from app.sessions.contract import RevokingContract, SessionsContract, StoreContract
from app.sessions.ports import SessionStore
from app.sessions.sessions import Sessions
from app.sessions.tickets import SignedSeal
from tests.redis_servers import own_redis, redis_6_2, redis_cluster, redis_with_sentinel

KEYS = ["current key of thirty-two bytes!!", "older key of thirty-two bytes too"]


@pytest.fixture(scope="module")
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """The fleet serves on uvloop; the copied library runs the suite on asyncio's own loop."""
    return "asyncio", {"use_uvloop": True}


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """Every kind of server, started when first asked for."""
    with ExitStack() as stack:
        yield Servers(tmp_path_factory.mktemp("servers"), stack)


class Servers:
    """URLs of backends by name."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder = folder
        self._stack = stack
        self._urls = {"memory": "memory://"}

    def url(self, name: str) -> str:
        if name not in self._urls:
            self._urls[name] = self._start(name)
        return self._urls[name]

    def _start(self, name: str) -> str:
        folder, start = self._folder / name, self._stack.enter_context
        match name:
            case "valkey":
                return start(own_redis(folder)).url
            case "unix":
                path = self._folder / "socket"
                start(own_redis(folder, None, "--unixsocket", str(path)))
                return f"unix://{path}?db=1"
            case "redis-6.2":
                return start(own_redis(folder, redis_6_2(), "--requirepass", "s3cret p@ss")).url.replace(
                    "//", "//:s3cret%20p%40ss@"
                )
            case "sentinel":
                return start(redis_with_sentinel(folder))[0]
            case "cluster":
                nodes = start(redis_cluster(folder))
                return "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in nodes)
        pytest.fail(f"no server is called {name}")


BACKENDS = ["memory", "valkey", "unix", "redis-6.2", "sentinel", "cluster"]


@pytest.fixture(params=BACKENDS)
def session_url(request: pytest.FixtureRequest, servers: Servers) -> str:
    """A backend of each kind; every test has a namespace of its own."""
    return servers.url(request.param)


class TestStore(StoreContract, RevokingContract):
    @pytest.fixture
    async def store(self, session_url: str, config: SessionConfig) -> AsyncIterator[SessionStore]:
        store = store_of(session_url, config, SignedSeal(KEYS))
        await store.open()
        yield store
        await store.close()


class TestSessions(SessionsContract):
    @pytest.fixture
    async def sessions(self, session_url: str, config: SessionConfig) -> AsyncIterator[Sessions]:
        sessions = Sessions.from_url(session_url, keys=KEYS, config=config)
        await sessions.open()
        yield sessions
        await sessions.close()
