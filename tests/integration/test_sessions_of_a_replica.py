"""What a replica of the shop makes of its session settings: warnings, published keys, revocations given again."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from app.stores.migrations import migrate
from tests.conftest import free_port, wait_until
from tests.integration.test_sessions_as_tokens import new_key
from tests.redis_servers import OwnRedis, own_redis

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, kw_only=True)
class Replica:
    """One process of the shop."""

    url: str
    log: Path

    def said(self, *words: str) -> bool:
        return any(all(word in line for word in words) for line in self.log.read_text().splitlines())


def _told(
    port: int, *, session_url: str, database_url: str, redis_url: str
) -> tuple[list[str], dict[str, str]]:
    """The command of a replica, and its environment."""
    told = {
        "DATABASE_URL": database_url, "SESSION_URL": session_url, "REDIS_URL": redis_url, "COOKIE_SECURE": "false",
        "SECRET_KEYS": secrets.token_urlsafe(32), "PUBLIC_URL": f"http://127.0.0.1:{port}", "DRAIN_DELAY": "0s",
    }  # fmt: skip
    words = [sys.executable, "-m", "app", "serve", "shop", "--host", "127.0.0.1", "--port", str(port)]
    environment = {**os.environ, **{f"CHOPHO_{name}": value for name, value in told.items()}}
    return words, environment


@contextmanager
def replica(folder: Path, *, session_url: str, database_url: str, redis_url: str) -> Iterator[Replica]:
    """Up and serving."""
    port = free_port()
    words, environment = _told(port, session_url=session_url, database_url=database_url, redis_url=redis_url)
    log = folder / "log"
    with (
        log.open("wb") as out,
        subprocess.Popen(words, cwd=ROOT, env=environment, stdout=out, stderr=subprocess.STDOUT) as process,
    ):
        one = Replica(url=f"http://127.0.0.1:{port}", log=log)
        try:
            wait_until(lambda: _is_ready(one.url), within_s=60, what="the replica")
            yield one
        finally:
            process.terminate()
            process.wait(timeout=30)


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health/readiness").status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture
def database_url(empty_database_url: str) -> str:
    migrate(empty_database_url)
    return empty_database_url


@pytest.fixture
def store(tmp_path: Path) -> Iterator[OwnRedis]:
    with own_redis(tmp_path / "store") as server:
        yield server


@pytest.mark.parametrize("prefix", ["", "jwt+"], ids=["redis", "jwt"])
def test_a_replica_warns_in_its_log_when_its_redis_may_evict_sessions(
    tmp_path: Path, store: OwnRedis, database_url: str, redis_url: str, prefix: str
) -> None:
    store.command("CONFIG", "SET", "maxmemory", "100mb", "maxmemory-policy", "allkeys-lru")
    url = prefix + store.url
    with replica(tmp_path, session_url=url, database_url=database_url, redis_url=redis_url) as one:
        wait_until(
            lambda: one.said("maxmemory-policy is allkeys-lru", '"level":"warning"'), what="the warning"
        )


def test_a_replica_with_tokens_publishes_the_keys_that_verify_them(
    tmp_path: Path, store: OwnRedis, database_url: str, redis_url: str
) -> None:
    key = new_key(tmp_path, "key.pem")
    url = f"jwt+{store.url}?key_files={key}"
    with replica(tmp_path, session_url=url, database_url=database_url, redis_url=redis_url) as one:
        answer = httpx.get(f"{one.url}/.well-known/jwks.json")
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/jwk-set+json")
        (published,) = answer.json()["keys"]
        assert (published["alg"], "d" in published) == ("EdDSA", False)
    with replica(tmp_path, session_url=store.url, database_url=database_url, redis_url=redis_url) as one:
        assert httpx.get(f"{one.url}/.well-known/jwks.json").status_code == 404


def test_a_key_file_that_is_none_stops_the_start_with_one_line(
    tmp_path: Path, store: OwnRedis, database_url: str, redis_url: str
) -> None:
    url = f"jwt+{store.url}?key_files={tmp_path / 'none.pem'}"
    words, environment = _told(free_port(), session_url=url, database_url=database_url, redis_url=redis_url)
    ended = subprocess.run(
        words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr.count("\n")) == (8, 1)
    assert "none.pem" in ended.stderr


def test_a_replica_gives_a_set_back_redis_the_revocations_it_lost(
    tmp_path: Path, store: OwnRedis, database_url: str, redis_url: str
) -> None:
    with (
        replica(tmp_path, session_url=store.url, database_url=database_url, redis_url=redis_url) as one,
        httpx.Client(base_url=one.url) as owner,
        httpx.Client(base_url=one.url) as thief,
    ):
        wait_until(lambda: bool(store.command("KEYS", "*:memory")), what="the mark")
        account = {"email": "anh@chopho.example", "password": "mat-khau-dai", "name": "Ánh"}
        assert owner.post("/api/v1/accounts", json=account).status_code == 201
        credentials = {"email": account["email"], "password": account["password"]}
        for browser in (owner, thief):
            assert browser.post("/api/v1/session", json=credentials).status_code == 200
        kept = [(key, store.command("DUMP", key)) for key in store.command("KEYS", "*:sessions:*")]
        change = {"current": account["password"], "new": "mat-khau-moi-hon"}
        assert owner.post("/api/v1/password", json=change).status_code == 204
        store.command("FLUSHALL")
        for key, dumped in kept:
            store.command("RESTORE", key, 60_000, dumped)
        wait_until(lambda: thief.get("/api/v1/session").json() == {"account": None}, what="the revocation")
        wait_until(lambda: one.said("ends of sessions given to the session store"), what="its line of log")
