"""A process that would rather end than hang, and what systemd hears of it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from app.lifecycle import Notifier
from tests.conftest import free_port, listening, wait_until

ROOT = Path(__file__).parents[2]


class Watched:
    """One process of `tests.apps.lifecycle_app` with a watchdog."""

    def __init__(self, port: int, errors: Path, process: subprocess.Popen[bytes]) -> None:
        self.url, self.process = f"http://127.0.0.1:{port}", process
        self._errors = errors

    @property
    def complaint(self) -> str:
        return self._errors.read_text()

    def asked_and_forgotten(self, path: str) -> None:
        def ask() -> None:
            with suppress(httpx.HTTPError):
                httpx.get(f"{self.url}{path}", timeout=30)

        threading.Thread(target=ask, daemon=True).start()

    def answers(self, path: str = "/health/readiness") -> int:
        with suppress(httpx.HTTPError):
            return httpx.get(f"{self.url}{path}", timeout=30).status_code
        return 0


@contextmanager
def watched(folder: Path, *options: str, **environment: str) -> Iterator[Watched]:
    port = free_port()
    argv = [sys.executable, "-m", "tests.apps.lifecycle_app", str(port), *options]
    errors = folder / "errors"
    with (
        errors.open("wb") as err,
        subprocess.Popen(
            argv, cwd=ROOT, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=err
        ) as process,
    ):
        try:
            wait_until(lambda: listening(port), within_s=60, what="the process")
            yield Watched(port, errors, process)
        finally:
            process.kill()


def test_a_wedged_loop_ends_the_process_with_the_stack_that_wedged_it(tmp_path: Path) -> None:
    with watched(tmp_path, "--loop-limit", "1") as process:
        process.asked_and_forgotten("/block?s=60")
        assert process.process.wait(timeout=30) == 4
    assert "the event loop stands still" in process.complaint
    assert "in block" in process.complaint


def test_a_block_within_the_limit_is_survived(tmp_path: Path) -> None:
    with watched(tmp_path, "--loop-limit", "20") as process:
        assert process.answers("/block?s=1.5") == 200
        assert process.answers() == 200


def test_a_process_that_was_stopped_as_a_whole_is_not_wedged(tmp_path: Path) -> None:
    with watched(tmp_path, "--loop-limit", "3") as process:
        process.process.send_signal(signal.SIGSTOP)
        time.sleep(4)
        process.process.send_signal(signal.SIGCONT)
        # Long enough for the thread to have looked again.
        time.sleep(1.5)
        assert process.answers() == 200
        assert process.process.poll() is None


def test_memory_past_its_limit_drains_and_ends_the_process(tmp_path: Path) -> None:
    with watched(tmp_path, "--memory-limit", str(150 * 1024 * 1024), "--delay", "1.5") as process:
        assert process.answers("/eat?mb=1") == 200
        assert process.answers("/eat?mb=250") == 200
        wait_until(lambda: process.answers() == 503, within_s=60, what="readiness 503")
        assert process.answers("/") == 200
        assert process.process.wait(timeout=30) == 5
    assert "memory passed its limit" in process.complaint


def test_sigabrt_leaves_the_stacks(tmp_path: Path) -> None:
    with watched(tmp_path) as process:
        process.asked_and_forgotten("/block?s=60")
        wait_until(lambda: not _answers_soon(process), within_s=60, what="the block")
        process.process.send_signal(signal.SIGABRT)
        assert process.process.wait(timeout=30) == -signal.SIGABRT
    assert "in block" in process.complaint


def _answers_soon(process: Watched) -> bool:
    try:
        return httpx.get(f"{process.url}/", timeout=0.3).status_code == 200
    except httpx.HTTPError:
        return False


class TestSystemd:
    """Heard on a real datagram socket."""

    @staticmethod
    @contextmanager
    def manager(address: str) -> Iterator[socket.socket]:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
            heard.bind(address)
            heard.settimeout(30)
            yield heard

    def test_hears_ready_signs_of_life_and_stopping_in_that_order(self, tmp_path: Path) -> None:
        with self.manager(str(tmp_path / "notify")) as heard:
            environment = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "600000"}
            with watched(tmp_path, "--delay", "1", **environment) as process:
                words = [heard.recv(4096).decode() for _ in range(4)]
                process.process.terminate()
                while not words[-1].startswith("STOPPING=1"):
                    words.append(heard.recv(4096).decode())
                # It still serves, so it still gives signs of life.
                assert heard.recv(4096) == b"WATCHDOG=1"
                assert process.process.wait(timeout=30) == 0
        ready = [word for word in words if word.startswith("READY=1\nSTATUS=serving on 127.0.0.1:")]
        assert len(ready) == 1
        assert words.count("WATCHDOG=1") >= 2
        assert words[-1] == "STOPPING=1\nSTATUS=draining, 0 in flight"

    def test_hears_nothing_from_a_wedged_loop(self, tmp_path: Path) -> None:
        with self.manager(str(tmp_path / "notify")) as heard:
            environment = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "300000"}
            with watched(tmp_path, **environment) as process:
                process.asked_and_forgotten("/block?s=30")
                wait_until(lambda: not _answers_soon(process), within_s=60, what="the block")
                heard.settimeout(0.0)
                with suppress(BlockingIOError):
                    while heard.recv(4096):
                        pass
                heard.settimeout(1.5)
                with pytest.raises(TimeoutError):
                    heard.recv(4096)

    def test_an_abstract_socket_is_spoken_to(self) -> None:
        address = f"chopho-test-{os.getpid()}"
        with self.manager(f"\0{address}") as heard:
            Notifier.asked_for({"NOTIFY_SOCKET": f"@{address}"}).alive()
            assert heard.recv(64) == b"WATCHDOG=1"

    def test_a_manager_that_is_not_there_disturbs_nobody(self, tmp_path: Path) -> None:
        Notifier.asked_for({"NOTIFY_SOCKET": str(tmp_path / "gone")}).ready("serving")
        Notifier.asked_for({}).ready("serving")

    def test_a_watchdog_that_is_meant_for_another_process_is_not_ours(self) -> None:
        asked = {"NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}
        assert Notifier.asked_for(asked).alive_within is None
        assert Notifier.asked_for({**asked, "WATCHDOG_PID": str(os.getpid())}).alive_within is not None
        assert Notifier.asked_for({"WATCHDOG_USEC": "soon"}).alive_within is None
