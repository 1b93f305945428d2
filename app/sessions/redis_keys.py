"""The names of everything that is kept in Redis.

`<namespace>:sessions:<sha256 of the token>`  hash    the session, living as long as it may
`<namespace>:ended:<sha256 of the token>`     string  when it was ended on purpose, kept while requests may be in flight
`<namespace>:epochs:<user ref>`               string  sessions of the user from before this are dead
`<namespace>:index:<user ref>`                zset    the user's sessions, by the end of their absolute limit
`<namespace>:presented:<sha256 of the jti>`   string  where sessions are tokens: the newest that was presented
`<namespace>:memory`                          string  that revocations were replayed since the server was last empty

Where sessions are tokens, `tokens` and `tokens-index` stand for `sessions` and `index`: what lies there is only
shown in lists.
"""

from __future__ import annotations


class Keys:
    """Key names under one namespace; each key stands alone, so that a cluster may spread them."""

    def __init__(self, namespace: str, *, tokens: bool = False) -> None:
        self._sessions = f"{namespace}:tokens:" if tokens else f"{namespace}:sessions:"
        self._ended = f"{namespace}:ended:"
        self._presented = f"{namespace}:presented:"
        self._epochs = f"{namespace}:epochs:"
        self._index = f"{namespace}:tokens-index:" if tokens else f"{namespace}:index:"
        self.memory = f"{namespace}:memory".encode()

    @property
    def sessions(self) -> str:
        """The pattern of all sessions."""
        return f"{self._sessions}*"

    def session(self, session_id: str) -> bytes:
        """The session's hash."""
        return (self._sessions + session_id).encode()

    def ended(self, session_id: str) -> bytes:
        """The trace of an ended session."""
        return (self._ended + session_id).encode()

    def presented(self, session_id: str) -> bytes:
        """The newest token of the session that was presented."""
        return (self._presented + session_id).encode()

    def epoch(self, ref: str) -> bytes:
        """The user's epoch."""
        return (self._epochs + ref).encode()

    def index(self, ref: str) -> bytes:
        """The user's sessions."""
        return (self._index + ref).encode()
