"""Everything the session layer can refuse, one leaf per decision the caller can make.

SessionError
├── StoreUnavailable   the store could not be asked in time; nobody is made anonymous by it
├── SessionEnded       a write to a session that ended meanwhile, or a lost race for a rotation
├── Refused            bounds, expectation or type of a field; nothing changed
│   └── TooLarge       the session would outgrow its limits; nothing changed
├── TooLate            the response head has left, so nothing can be set any more
└── BadUser            what the app called a user can be none; a mistake in the app, and a `ValueError`
"""

from __future__ import annotations


class SessionError(Exception):
    """The session layer refused, and says why in one sentence."""


class StoreUnavailable(SessionError):
    """The store did not answer in time or refused to work; whether a write in flight happened is unknown."""


class SessionEnded(SessionError):
    """The session ended while this request was under way; nothing was written, no cookie is set."""


class Refused(SessionError):
    """A change was refused as a whole because of `field`; nothing changed."""

    def __init__(self, field: str, reason: str = "out of bounds or not as expected") -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class TooLarge(Refused):
    """The session would hold more fields or bytes than it may; nothing changed."""


class BadUser(SessionError, ValueError):
    """What can be no user's id; nothing was looked up, and nobody was logged in or out."""

    def __init__(self, rule: str) -> None:
        super().__init__(f"a user's id {rule}")


class TooLate(SessionError):
    """The response head has left; set session fields and log in before answering."""
