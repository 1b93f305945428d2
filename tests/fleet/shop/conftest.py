"""The whole shop behind HAProxy, once for these tests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import free_port
from tests.fleet.conftest import chopho


@pytest.fixture(scope="package")
def shop_fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The whole shop as `make up` brings it up, two replicas of it; what `chopho status --json` says."""
    state, port = tmp_path_factory.mktemp("shop"), free_port()
    words = ("--replicas", "2", "--port", str(port), "--state", str(state), "--detach")
    up = chopho("up", *words)
    assert up.returncode == 0, up.stderr
    try:
        yield json.loads(chopho("status", "--json", "--state", str(state)).stdout)
    finally:
        down = chopho("down", "--state", str(state))
        assert down.returncode == 0, down.stderr
