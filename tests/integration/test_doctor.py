"""Each check that asks a server, on a real one with the fault and without it."""

from __future__ import annotations

import asyncio
import json
import secrets
import ssl
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from sqlalchemy import create_engine, text

from app.doctor import Check, Finding, Severity, Subject, examine
from app.doctor.certificate import CERTIFICATE
from app.doctor.clocks import CLOCKS
from app.doctor.database_pools import DATABASE_POOLS
from app.doctor.demo_accounts import DEMO_ACCOUNTS_OPEN
from app.doctor.descriptors import DESCRIPTORS
from app.doctor.migrations import MIGRATIONS
from app.doctor.redis_eviction import REDIS_EVICTION
from app.doctor.redis_nodes import facts_of
from app.doctor.redis_persistence import REDIS_PERSISTENCE
from app.doctor.releases import RELEASES
from app.observability.about import about
from app.settings import Settings, read
from app.stores.accounts import SqlAccounts
from app.stores.database import Database, DatabaseConfig
from app.stores.migrations import migrate
from app.stores.passwords import ArgonPasswords, PasswordConfig
from app.stores.sample.accounts import load_demo_accounts
from tests.conftest import free_port
from tests.redis_servers import OwnRedis, own_redis, redis_cluster, redis_with_sentinel

pytestmark = pytest.mark.anyio

NOWHERE = "127.0.0.1:1"


def subject(*, addresses: Mapping[str, str] | None = None, replicas: int = 2, **changes: str) -> Subject:
    given = {
        "DATABASE_URL": f"postgresql+psycopg://{NOWHERE}/x",
        "SESSION_URL": f"redis://{NOWHERE}/0",
        "REDIS_URL": f"redis://{NOWHERE}/0",
        "SECRET_KEYS": secrets.token_hex(32),
        "PUBLIC_URL": "https://shop.example",
        **changes,
    }
    settings = read(Settings, {f"CHOPHO_{name}": value for name, value in given.items()})
    return Subject(settings={"app1": settings}, replicas=replicas, addresses=addresses or {})


async def found(check: Check, examined: Subject) -> list[Finding]:
    return list(await examine(examined, [check]))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnRedis]:
    with own_redis(tmp_path_factory.mktemp("doctor")) as redis:
        yield redis


@pytest.mark.parametrize("tokens", ["", "jwt+"])
async def test_a_redis_that_may_evict_sessions_is_found(server: OwnRedis, tokens: str) -> None:
    examined = subject(SESSION_URL=tokens + server.url)
    server.command("CONFIG", "SET", "maxmemory-policy", "noeviction")
    assert await found(REDIS_EVICTION, examined) == []
    server.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
    (finding,) = await found(REDIS_EVICTION, examined)
    assert finding.severity is Severity.WARNING
    server.command("CONFIG", "SET", "maxmemory", "100mb")
    (finding,) = await found(REDIS_EVICTION, examined)
    assert finding.severity is Severity.ERROR
    assert "allkeys-lru" in finding.what
    server.command("CONFIG", "SET", "maxmemory", "0")


async def test_a_redis_that_keeps_nothing_on_disk_is_found(server: OwnRedis) -> None:
    examined = subject(SESSION_URL=server.url)
    server.command("CONFIG", "SET", "appendonly", "yes")
    assert await found(REDIS_PERSISTENCE, examined) == []
    server.command("CONFIG", "SET", "appendonly", "no")
    server.command("CONFIG", "SET", "save", "60 1000")
    assert await found(REDIS_PERSISTENCE, examined) == []
    server.command("CONFIG", "SET", "save", "")
    (finding,) = await found(REDIS_PERSISTENCE, examined)
    assert finding.severity is Severity.WARNING
    assert "keeps nothing on disk" in finding.what


async def test_a_redis_that_does_not_say_what_it_saves_is_told_as_such(server: OwnRedis) -> None:
    server.command("ACL", "SETUSER", "looker", "on", ">pass", "+info", "+time", "+ping", "+hello", "+client")
    server.command("CONFIG", "SET", "appendonly", "no")
    url = server.url.replace("redis://", "redis://looker:pass@")
    (finding,) = await found(REDIS_PERSISTENCE, subject(SESSION_URL=url))
    assert "does not say whether it saves" in finding.what


@pytest.mark.parametrize(
    "check", [REDIS_EVICTION, REDIS_PERSISTENCE, MIGRATIONS, DATABASE_POOLS, DEMO_ACCOUNTS_OPEN]
)
async def test_a_server_that_does_not_answer_is_an_error_and_not_passed_over(check: Check) -> None:
    (finding,) = await found(check, subject())
    assert finding.severity is Severity.ERROR
    assert "does not answer" in finding.what


@pytest.mark.parametrize("check", [REDIS_EVICTION, REDIS_PERSISTENCE])
async def test_sessions_in_memory_have_no_server_to_look_at(check: Check) -> None:
    (finding,) = await found(check, subject(SESSION_URL="memory://"))
    assert finding.severity is Severity.NOTE


async def test_behind_a_sentinel_the_master_is_asked(tmp_path: Path) -> None:
    with redis_with_sentinel(tmp_path) as (url, master, _):
        (facts,) = await facts_of(url)
        assert facts.address == f"127.0.0.1:{master.port}"
        assert abs(facts.ahead_s) < 60


async def test_of_a_cluster_every_node_is_asked(tmp_path: Path) -> None:
    with redis_cluster(tmp_path) as nodes:
        nodes[1].command("CONFIG", "SET", "maxmemory-policy", "volatile-lru")
        nodes[1].command("CONFIG", "SET", "maxmemory", "100mb")
        url = "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in nodes)
        (finding,) = await found(REDIS_EVICTION, subject(SESSION_URL=url))
        assert str(nodes[1].port) in finding.what


async def test_a_database_without_its_migrations_is_found(empty_database_url: str) -> None:
    examined = subject(DATABASE_URL=empty_database_url)
    (finding,) = await found(MIGRATIONS, examined)
    assert finding.severity is Severity.ERROR
    assert finding.mend == "run chopho migrate"
    await asyncio.to_thread(migrate, empty_database_url)
    assert await found(MIGRATIONS, examined) == []
    _run(empty_database_url, "UPDATE alembic_version SET version_num = 'later'")
    (finding,) = await found(MIGRATIONS, examined)
    assert finding.severity is Severity.WARNING
    assert "does not know" in finding.what


def _run(url: str, statement: str) -> None:
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text(statement))
    engine.dispose()


async def test_pools_larger_than_the_database_allows_are_found(empty_database_url: str) -> None:
    assert await found(DATABASE_POOLS, subject(DATABASE_URL=empty_database_url)) == []
    examined = subject(DATABASE_URL=empty_database_url, DATABASE_POOL_SIZE="100", replicas=8)
    (finding,) = await found(DATABASE_POOLS, examined)
    assert "8 replicas may open" in finding.what


async def test_demo_accounts_on_an_open_address_are_found(empty_database_url: str) -> None:
    await asyncio.to_thread(migrate, empty_database_url)
    examined = subject(DATABASE_URL=empty_database_url)
    assert await found(DEMO_ACCOUNTS_OPEN, examined) == []
    database = Database(DatabaseConfig(url=empty_database_url))
    await load_demo_accounts(SqlAccounts(database=database), ArgonPasswords(PasswordConfig()))
    await database.close()
    (finding,) = await found(DEMO_ACCOUNTS_OPEN, examined)
    assert finding.severity is Severity.ERROR
    assert "chu@chopho.example" in finding.what
    local = subject(DATABASE_URL=empty_database_url, PUBLIC_URL="http://127.0.0.1:8080")
    assert await found(DEMO_ACCOUNTS_OPEN, local) == []


def _certificate(folder: Path, *, days: int) -> ssl.SSLContext:
    """A server's context with a certificate that ends so many days from now."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=90))
        .not_valid_after(now + timedelta(days=days))
        .sign(key, hashes.SHA256())
    )
    file = folder / "shop.pem"
    file.write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


@pytest.mark.parametrize(("days", "severity"), [(90, None), (5, Severity.WARNING), (-1, Severity.ERROR)])
async def test_a_certificate_that_ends_is_found(tmp_path: Path, days: int, severity: Severity | None) -> None:
    with answering({}, tls=_certificate(tmp_path, days=days)) as port:
        findings = await found(CERTIFICATE, subject(PUBLIC_URL=f"https://127.0.0.1:{port}"))
    assert [finding.severity for finding in findings] == ([severity] if severity else [])


async def test_a_door_without_a_certificate_is_an_error() -> None:
    (finding,) = await found(CERTIFICATE, subject(PUBLIC_URL=f"https://127.0.0.1:{free_port()}"))
    assert finding.severity is Severity.ERROR


@contextmanager
def answering(
    told: Mapping[str, Any], *, ahead_s: float = 0, tls: ssl.SSLContext | None = None
) -> Iterator[int]:
    """A replica that says this of itself, beside what is true of this process; its port."""

    class Replica(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            true = about()
            self.wfile.write(json.dumps({**true, "clock": true["clock"] + ahead_s, **told}).encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Replica)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


async def beside_a_sound_one(
    check: Check, told: Mapping[str, Any], *, ahead_s: float = 0, session_url: str = f"redis://{NOWHERE}/0"
) -> Sequence[Finding]:
    """What the check finds of app2, which says this of itself."""
    with answering({}) as one, answering(told, ahead_s=ahead_s) as other:
        addresses = {"app1": f"http://127.0.0.1:{one}", "app2": f"http://127.0.0.1:{other}"}
        return await found(check, subject(addresses=addresses, SESSION_URL=session_url))


async def test_replicas_of_different_releases_are_found() -> None:
    assert await beside_a_sound_one(RELEASES, {}) == []
    (finding,) = await beside_a_sound_one(RELEASES, {"release": "0.0.9+old"})
    assert "0.0.9+old: app2" in finding.what


async def test_a_replica_whose_clock_is_off_is_found(server: OwnRedis) -> None:
    assert await beside_a_sound_one(CLOCKS, {}, session_url=server.url) == []
    (finding,) = await beside_a_sound_one(CLOCKS, {}, ahead_s=-30, session_url=server.url)
    assert "app2" in finding.what
    assert finding.severity is Severity.ERROR


async def test_a_replica_that_can_open_too_few_files_is_found() -> None:
    assert await beside_a_sound_one(DESCRIPTORS, {"open_files_limit": 65536}) == []
    (finding,) = await beside_a_sound_one(DESCRIPTORS, {"open_files_limit": 256})
    assert finding.severity is Severity.WARNING
    (finding,) = await beside_a_sound_one(DESCRIPTORS, {"open_files_limit": 65536, "open_files": 60000})
    assert finding.severity is Severity.ERROR


@pytest.mark.parametrize("check", [RELEASES, CLOCKS, DESCRIPTORS])
async def test_replicas_that_do_not_tell_are_an_error_and_none_at_all_a_note(check: Check) -> None:
    (finding,) = await found(check, subject(addresses={"app1": f"http://127.0.0.1:{free_port()}"}))
    assert finding.severity is Severity.ERROR
    (finding,) = await found(check, subject())
    assert finding.severity is Severity.NOTE
