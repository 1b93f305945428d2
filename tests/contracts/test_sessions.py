"""The session contract over every backend."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from app.sessions.backends import store_of
from app.sessions.config import SessionConfig
from app.sessions.contract import RevokingContract, SessionsContract, StoreContract
from app.sessions.ports import SessionStore
from app.sessions.sessions import Sessions
from app.sessions.tickets import SignedSeal

KEYS = ["current key of thirty-two bytes!!", "older key of thirty-two bytes too"]


@pytest.fixture(scope="module", params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, bool]]:
    """Both event loops: the fleet serves on uvloop."""
    return "asyncio", {"use_uvloop": request.param}


@pytest.fixture(params=["memory", "valkey"])
def session_url(request: pytest.FixtureRequest) -> str:
    """A backend of each kind, empty."""
    if request.param == "memory":
        return "memory://"
    url: str = request.getfixturevalue("redis_url")
    return url


class TestStore(StoreContract, RevokingContract):
    @pytest.fixture
    async def store(self, session_url: str, config: SessionConfig) -> AsyncIterator[SessionStore]:
        store = store_of(session_url, config, SignedSeal(KEYS))
        await store.open()
        yield store
        await store.close()


class TestSessions(SessionsContract):
    @pytest.fixture
    async def sessions(self, session_url: str, config: SessionConfig) -> AsyncIterator[Sessions]:
        sessions = Sessions.from_url(session_url, keys=KEYS, config=config)
        await sessions.open()
        yield sessions
        await sessions.close()
