"""HAProxy on haproxy.cfg, in front of what a test has."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.fleet.haproxy import ROOT
from app.fleet.programs import Programs
from app.fleet.runtime import RuntimeApi
from tests.conftest import free_port, running, wait_until


@dataclass(frozen=True)
class Balancer:
    """Where it listens, where it obeys, and its log."""

    url: str
    runtime: RuntimeApi
    log: Path


@contextmanager
def balanced(folder: Path, servers: Mapping[str, int], **environment: str) -> Iterator[Balancer]:
    """In front of those servers, by name and port, each of them up."""
    port, log, socket = free_port(), folder / "haproxy.log", folder / "s"
    told = {
        **{name: value for name, value in os.environ.items() if name.startswith("LB_")},
        "LB_BIND": f"127.0.0.1:{port}",
        "LB_STATS": f"127.0.0.1:{free_port()}",
        "LB_SOCKET": str(socket),
        **environment,
    }
    argv = ["env", *(f"{name}={value}" for name, value in told.items() if name.startswith("LB_"))]
    argv += [str(Programs().find_haproxy()), "-db", "-f", str(ROOT / "haproxy.cfg")]
    with running(argv, log):
        wait_until(socket.exists, within_s=60, what="HAProxy")
        runtime = RuntimeApi(socket)
        for name, at in servers.items():
            asyncio.run(runtime.join(name, at))
        wait_until(lambda: _up(runtime) == set(servers), within_s=60, what="every server")
        yield Balancer(f"http://127.0.0.1:{port}", runtime, log)


def _up(runtime: RuntimeApi) -> set[str]:
    return {name for name, server in asyncio.run(runtime.servers()).items() if server.state == "UP"}
