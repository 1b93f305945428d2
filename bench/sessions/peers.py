"""The session layers that are measured side by side, each in an environment of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.sessions.load import fetch

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ENVIRONMENTS = ROOT / ".bench"


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """One app with the same routes; `words` start it on port `{port}` from its environment's programs."""

    name: str
    lock: str | None = None
    package: str | None = None
    words: Sequence[str] = ()

    @property
    def environment(self) -> Path:
        """Where its packages are."""
        return ENVIRONMENTS / self.name

    def set_up(self) -> None:
        """Install what it needs, once."""
        if (self.environment / "ready").exists() or (self.lock is None and self.package is None):
            return
        print(f"setting up {self.name} …", file=sys.stderr, flush=True)
        if self.lock is not None:
            _run(sys.executable, "-m", "venv", str(self.environment))
            pip = str(self.environment / "bin/pip")
            _run(
                pip,
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--require-hashes",
                "-r",
                self._here(self.lock),
            )
        else:
            self.environment.mkdir(parents=True, exist_ok=True)
            for file in ("package.json", "package-lock.json", "app.js"):
                (self.environment / file).write_bytes((HERE / "apps" / str(self.package) / file).read_bytes())
            _run("npm", "ci", "--silent", "--no-audit", "--no-fund", folder=self.environment)
        (self.environment / "ready").touch()

    def _here(self, file: str) -> str:
        return str(HERE / "apps" / file)

    def command(self, port: int) -> Sequence[str]:
        """What starts it."""
        program, *words = (word.format(port=port) for word in self.words)
        folder = self.environment / "bin" if self.lock else None
        return [str(folder / program) if folder else program, *words]


_UVICORN = ("uvicorn", "--port", "{port}", "--no-access-log", "--log-level", "warning")
_GUNICORN = (
    "gunicorn",
    "--bind",
    "127.0.0.1:{port}",
    "--threads",
    "16",
    "--log-level",
    "warning",
    "--keep-alive",
    "60",
)

PEERS: Sequence[Peer] = (
    Peer(name="ours", words=(sys.executable, "-m", "bench.sessions.apps.ours")),
    Peer(name="fastify", package="fastify", words=("node", str(ENVIRONMENTS / "fastify/app.js"))),
    Peer(name="express", package="express", words=("node", str(ENVIRONMENTS / "express/app.js"))),
    Peer(name="litestar", lock="litestar.lock", words=(*_UVICORN, "litestar_peer:app")),
    Peer(name="starsessions", lock="starsessions.lock", words=(*_UVICORN, "starsessions_peer:app")),
    Peer(name="flask-session", lock="flask.lock", words=(*_GUNICORN, "flask_peer:app")),
    Peer(name="django", lock="django.lock", words=(*_GUNICORN, "django_peer:app")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A peer that answers on `port`."""

    peer: Peer
    port: int
    process: psutil.Process

    def cpu_s(self) -> float:
        """CPU seconds of it and its children until now, user and system."""
        processes = [self.process, *self.process.children(recursive=True)]
        return sum(times.user + times.system for times in (process.cpu_times() for process in processes))


@contextmanager
def running(
    peer: Peer, port: int, redis_url: str, log: Path, *, also_accept: str | None = None
) -> Iterator[Running]:
    """The peer while it is measured; ended with the block. `also_accept` is a second store, for ours."""
    environment: Mapping[str, str] = {
        **os.environ,
        "BENCH_REDIS": redis_url,
        "BENCH_PORT": str(port),
        **({"BENCH_ALSO_ACCEPT": also_accept} if also_accept else {}),
        "PYTHONPATH": str(ROOT) if peer.name == "ours" else str(HERE / "apps"),
    }
    with log.open("ab") as out:
        process = psutil.Popen(peer.command(port), cwd=ROOT, env=environment, stdout=out, stderr=out)
    try:
        _await(port, process, log)
        yield Running(peer=peer, port=port, process=process)
    finally:
        with suppress(psutil.NoSuchProcess):
            process.terminate()
        process.wait(timeout=20)


def _await(port: int, process: psutil.Popen, log: Path) -> None:
    for _ in range(400):
        try:
            fetch(port, "/me")
        except OSError:
            if process.poll() is not None:
                break
            time.sleep(0.05)
        else:
            return
    raise SystemExit(f"it does not answer: {log.read_text()[-2000:]}")


def _run(*words: str, folder: Path | None = None) -> None:
    subprocess.run(words, check=True, cwd=folder)  # noqa: S603 -- our own words
