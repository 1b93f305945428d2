"""The processes of a measurement: services, a replica in front of them, and nginx beside it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.error import URLError
from urllib.request import urlopen

import psutil

from app.identity import new_key
from bench.gateway.service import BODY
from bench.sessions.servers import free_port

ROOT: Final = Path(__file__).parents[2]

_NGINX: Final = """
daemon off; master_process off; pid {folder}/pid; error_log {folder}/error crit;
events {{ worker_connections 1024; }}
http {{
  access_log off; default_type application/json; keepalive_requests 1000000000;
  {temp}
  upstream service {{ server 127.0.0.1:{service}; keepalive 64; keepalive_requests 1000000000; }}
  server {{
    listen 127.0.0.1:{port};
    location = /local {{ return 200 '{body}'; }}
    location / {{
      proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_set_header X-Request-Id $request_id;
    }}
  }}
}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A process that listens."""

    port: int
    pid: int

    def cpu_s(self) -> float:
        """What it has used so far."""
        used = psutil.Process(self.pid).cpu_times()
        return float(used.user + used.system)


@contextmanager
def service(*, body: bytes = BODY, ms: int = 0, closes: bool = False) -> Iterator[Server]:
    """A service that costs as little as one can."""
    given = ["--body", body.decode(), "--ms", str(ms), *(["--close"] if closes else [])]
    argv = [sys.executable, "-m", "bench.gateway.service", *given]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 -- our own
        assert process.stdout is not None  # noqa: S101 -- asked for just above
        try:
            yield Server(port=int(process.stdout.readline()), pid=process.pid)
        finally:
            process.kill()


@contextmanager
def replica(redis_url: str, urls: Mapping[str, str], **settings: str) -> Iterator[Server]:
    """A replica of the shop as it ships, with these services and no database."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        key = Path(folder, "key")
        key.touch(mode=0o600)
        key.write_bytes(new_key())
        given = {
            "DATABASE_URL": "postgresql+psycopg://nobody@127.0.0.1:1/none",
            "SESSION_URL": redis_url,
            "REDIS_URL": redis_url,
            "SECRET_KEYS": "a key of a benchmark that is long enough",
            "PUBLIC_URL": f"http://127.0.0.1:{port}",
            "COOKIE_SECURE": "false",
            "RATE_LIMIT": "off",
            "IDENTITY_KEY": str(key),
            "GATEWAY_ECHO": "on",
            "GATEWAY_POOL_SIZE": "128",
            **{f"{name.upper()}_URL": url for name, url in urls.items()},
            **settings,
        }
        environment = {**os.environ, **{f"CHOPHO_{name}": value for name, value in given.items()}}
        argv = [sys.executable, "-m", "app", "serve", "shop", "--host", "127.0.0.1", "--port", str(port)]
        log = Path(folder, "log")
        with log.open("wb") as out, _running(argv, environment, out.fileno()) as pid:
            _await(f"http://127.0.0.1:{port}/health/readiness")
            yield Server(port=port, pid=pid)


@contextmanager
def nginx(program: str, behind: Server) -> Iterator[Server]:
    """Nginx in one process, with a page of its own and the service behind it."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        temp = " ".join(
            f"{kind}_temp_path {folder}/{kind};"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        text = _NGINX.format(folder=folder, temp=temp, service=behind.port, port=port, body=BODY.decode())
        Path(folder, "conf").write_text(text)
        argv = [program, "-p", folder, "-e", f"{folder}/error", "-c", f"{folder}/conf"]
        with _running(argv, dict(os.environ), subprocess.DEVNULL) as pid:
            _await(f"http://127.0.0.1:{port}/local")
            yield Server(port=port, pid=pid)


def nginx_program(given: str | None) -> str | None:
    """Where it is, or None."""
    return given or shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


@contextmanager
def _running(argv: list[str], environment: dict[str, str], out: int) -> Iterator[int]:
    process = subprocess.Popen(argv, cwd=ROOT, env=environment, stdout=out, stderr=out)  # noqa: S603 -- our own words
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def _await(url: str) -> None:
    for _ in range(600):
        try:
            with urlopen(url, timeout=1) as answer:  # noqa: S310 -- a URL that we made
                if answer.status == 200:
                    return
        except (URLError, OSError):
            time.sleep(0.05)
    raise SystemExit(f"{url} did not answer")
