"""Telling a copied token: which tokens of one session its browser is known to hold.

`<namespace>:presented:<sha256 of the jti>`  string  when the newest one known was made, and since when it is known

A renewal replaces a token, but the old one cannot be taken back from whoever copied it. So what counts is
what was presented: once a browser has come with a newer token, and nothing of it can still be under way, an
older one comes from somewhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

GRACE_MS: Final = 60_000
"""Longer than a request, or an answer with a cookie, is under way: within it, tabs may differ by a token."""


@dataclass(frozen=True, slots=True)
class Presented:
    """The newest tokens that were presented, by when they were made, in milliseconds.

    Of two, since the last one counts only after the grace: `settled_ms` counts now, `latest_ms` was first
    presented at `since_ms`.
    """

    settled_ms: int = 0
    latest_ms: int = 0
    since_ms: int = 0

    @classmethod
    def read(cls, stored: bytes | None) -> Presented:
        """What `written` wrote; nothing known for anything else."""
        try:
            settled, latest, since = map(int, (stored or b"").split(b":"))
        except ValueError:
            return cls()
        return cls(settled, latest, since)

    def written(self) -> str:
        """As it is stored."""
        return f"{self.settled_ms}:{self.latest_ms}:{self.since_ms}"

    def tells_copy(self, made_ms: int, now_ms: int) -> bool:
        """Whether a token of that time can only come from a copy.

        Answers overtake each other, so the browser may hold one made a grace before the newest.
        """
        return made_ms < self._settled(now_ms) - GRACE_MS

    def replaced(self, made_ms: int) -> bool:
        """Whether the browser holds a newer token already, so that this one need not be renewed."""
        return made_ms < self.latest_ms - GRACE_MS

    def with_token(self, made_ms: int, now_ms: int) -> Presented | None:
        """What is known once that token was presented; None while there is nothing to write."""
        under_way = GRACE_MS if now_ms - self.since_ms <= GRACE_MS else 0
        if made_ms <= self.latest_ms + under_way:
            return None
        return Presented(self._settled(now_ms), made_ms, now_ms)

    def _settled(self, now_ms: int) -> int:
        return self.latest_ms if now_ms - self.since_ms > GRACE_MS else self.settled_ms
