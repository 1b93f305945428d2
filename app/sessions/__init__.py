"""Sessions for any ASGI app: opaque signed cookies, atomic commits, revocation that wins.

sessions = Sessions.from_url("redis://localhost", keys=[SECRET])
app.add_middleware(SessionMiddleware, sessions=sessions)
session = session_of(request)
"""

from .changes import Changes, Step
from .config import SessionConfig
from .errors import BadUser, Refused, SessionEnded, SessionError, StoreUnavailable, TooLarge, TooLate
from .jwks import jwks_of
from .merging import Merge, merged
from .middleware import SessionMiddleware, session_of
from .pending import JSON
from .records import Device
from .session import Session
from .sessions import Sessions

__all__ = [
    "JSON",
    "BadUser",
    "Changes",
    "Device",
    "Merge",
    "Refused",
    "Session",
    "SessionConfig",
    "SessionEnded",
    "SessionError",
    "SessionMiddleware",
    "Sessions",
    "Step",
    "StoreUnavailable",
    "TooLarge",
    "TooLate",
    "jwks_of",
    "merged",
    "session_of",
]
