"""The library is complete in itself: copied under another name, it keeps its promises."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import app.sessions

SUITE = """
import pytest
from borrowed.backends import store_of
from borrowed.contract import RevokingContract, SessionsContract, StoreContract
from borrowed.sessions import Sessions

KEYS = ["a key of exactly thirty-two bytes"]


@pytest.fixture
def anyio_backend():
    return "asyncio"


class TestStore(StoreContract, RevokingContract):
    @pytest.fixture
    async def store(self, config):
        store = store_of(URL, config, KEYS)
        await store.open()
        yield store
        await store.close()


class TestSessions(SessionsContract):
    @pytest.fixture
    async def sessions(self, config):
        sessions = Sessions.from_url(URL, keys=KEYS, config=config)
        await sessions.open()
        yield sessions
        await sessions.close()
"""


def test_a_copy_under_another_name_passes_the_contract(redis_url: str, tmp_path: Path) -> None:
    shutil.copytree(Path(app.sessions.__file__).parent, tmp_path / "borrowed")
    (tmp_path / "test_borrowed.py").write_text(f"URL = {redis_url!r}\n{SUITE}")
    (tmp_path / "pytest.ini").write_text("[pytest]\nanyio_mode = auto\nfilterwarnings = error\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ran = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=150
    )
    assert ran.returncode == 0, ran.stdout[-4000:]
