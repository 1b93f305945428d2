"""The processes of a measurement: a downstream that does as its path says, and the program in front of it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import socket
from typing import Final
from urllib.error import URLError
from urllib.request import urlopen

ROOT: Final = Path(__file__).parents[2]


@contextmanager
def downstream() -> Iterator[str]:
    """The stub of the client benchmark: ``/wait/MS`` answers so much later. Its URL."""
    argv = [sys.executable, str(ROOT / "bench/http_clients/stub.py")]
    with _process(argv, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None  # noqa: S101 -- asked for just above
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"


@contextmanager
def front(wiring: str, behind: str) -> Iterator[str]:
    """The program under test; its URL, once it is ready."""
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    argv = [sys.executable, "-m", "bench.compartments.front", wiring]
    with _process([*argv, "--port", str(port), "--downstream", behind], stdout=subprocess.DEVNULL):
        url = f"http://127.0.0.1:{port}"
        while not _is_ready(url):
            time.sleep(0.05)
        yield url


@contextmanager
def _process(argv: list[str], *, stdout: int) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(argv, cwd=ROOT, stdout=stdout, text=True) as process:  # noqa: S603 -- our own programs
        try:
            yield process
        finally:
            process.kill()


def _is_ready(url: str) -> bool:
    try:
        with urlopen(f"{url}/health/readiness", timeout=1) as answer:  # noqa: S310 -- a URL that we made
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False
