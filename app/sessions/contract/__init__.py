"""The promises as tests, to be run over any backend (needs pytest with anyio, and httpx).

class TestMine(StoreContract):
    @pytest.fixture
    async def store(self, config): ...

class TestMineInAnApp(SessionsContract):
    @pytest.fixture
    async def sessions(self, config): ...
"""

from .clock import Clock
from .promises import SessionsContract
from .revoking import RevokingContract
from .storing import StoreContract

__all__ = ["Clock", "RevokingContract", "SessionsContract", "StoreContract"]
