"""What a session promises to the app and to the browser, whatever the store."""

from __future__ import annotations

from .ending import EndingContract
from .entering import EnteringContract
from .keeping import KeepingContract
from .presenting import PresentingContract


class SessionsContract(KeepingContract, EnteringContract, EndingContract, PresentingContract):
    """All of them; a subclass brings `sessions`."""
