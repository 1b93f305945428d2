"""The session contract over every backend."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from app.sessions.backends import store_of
from app.sessions.config import SessionConfig
from app.sessions.contract import RevokingContract, SessionsContract, StoreContract
from app.sessions.ports import SessionStore
from app.sessions.sessions import Sessions
from tests.apps.session_fleet import back_after, shopped_through
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


def pem(private: Ed25519PrivateKey | RSAPrivateKey) -> bytes:
    """The key as openssl writes it."""
    return private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


BACKENDS = ["memory", "valkey", "unix", "redis-6.2", "sentinel", "cluster"]


@pytest.fixture(params=BACKENDS)
def session_url(request: pytest.FixtureRequest, servers: Servers) -> str:
    """A backend of each kind; every test has a namespace of its own."""
    return servers.url(request.param)


class Opened:
    """The backend and the layer on it, open."""

    @pytest.fixture
    async def store(self, session_url: str, config: SessionConfig) -> AsyncIterator[SessionStore]:
        store = store_of(session_url, config, KEYS)
        await store.open()
        yield store
        await store.close()

    @pytest.fixture
    async def sessions(self, session_url: str, config: SessionConfig) -> AsyncIterator[Sessions]:
        sessions = Sessions.from_url(session_url, keys=KEYS, config=config)
        await sessions.open()
        yield sessions
        await sessions.close()


CHANGES = [
    ("valkey", "cluster"), ("cluster", "sentinel"), ("sentinel", "redis-6.2"), ("jwt+cluster", "sentinel"),
    ("sentinel", "jwt+cluster"), ("jwt+sentinel", "jwt+cluster"),
]  # fmt: skip


@pytest.fixture(params=CHANGES, ids="→".join)
def change(request: pytest.FixtureRequest, servers: Servers) -> Sequence[str]:
    """The backend that replicas move from, and the one they move to."""
    names = [
        (f"{jwt}+" if jwt else "", name) for jwt, _, name in (one.rpartition("+") for one in request.param)
    ]
    return [prefix + servers.url(name) for prefix, name in names]


async def test_a_change_from_and_to_many_servers_logs_nobody_out_and_loses_no_line(
    change: Sequence[str],
) -> None:
    added = await shopped_through(*change, replicas=2)
    assert all(number > 0 for number in added)


async def test_nobody_who_was_logged_out_comes_back_with_a_change_of_servers(change: Sequence[str]) -> None:
    assert not any(await back_after(*change))


class TestStore(Opened, StoreContract, RevokingContract):
    pass


class TestSessions(Opened, SessionsContract):
    pass


class InTokens(Opened):
    """JWT: a token lives 15 minutes at most, so that is its idle limit."""

    @pytest.fixture(params=["HS256", "EdDSA", "RS256"])
    def session_url(self, request: pytest.FixtureRequest, servers: Servers, tmp_path: Path) -> str:
        url = f"jwt+{servers.url('valkey')}"
        if request.param == "HS256":
            return url
        private = (
            Ed25519PrivateKey.generate() if request.param == "EdDSA" else generate_private_key(65537, 2048)
        )
        (tmp_path / "key.pem").write_bytes(pem(private))
        return f"{url}?key_files={tmp_path / 'key.pem'}"

    @pytest.fixture
    def idle_timeout(self) -> timedelta:
        return timedelta(minutes=15)


class TestJwtStore(InTokens, StoreContract, RevokingContract):
    pass


class TestJwtSessions(InTokens, SessionsContract):
    pass
