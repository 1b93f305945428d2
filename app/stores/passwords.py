"""Password hashes with argon2id, in a compartment of its own."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from app.resilience import Full, Limiter, LimiterConfig, Listener
from app.shop.errors import Unavailable

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class PasswordConfig:
    """How strong, and how many at once.

    The strength is OWASP's: 19 MiB and two passes, some 30 ms of one core. `threads` hash at the same
    time and `queue` more wait, so that the last of them waits about half a second; the next is refused.
    """

    memory_kib: int = 19 * 1024
    passes: int = 2
    threads: int = 2
    queue: int = 32


class ArgonPasswords:
    """The passwords' port; hashing releases the interpreter, so the event loop never waits for it."""

    def __init__(self, config: PasswordConfig, *, listeners: Sequence[Listener] = ()) -> None:
        self._hasher = PasswordHasher(time_cost=config.passes, memory_cost=config.memory_kib, parallelism=1)
        self.limiter = Limiter(
            "hashing",
            LimiterConfig(max_threads=config.threads, queue_capacity=config.queue),
            listeners=listeners,
        )
        self._nobody = self._hasher.hash(secrets.token_hex())

    async def hash(self, password: str) -> str:
        """The hash to keep, with its settings and salt inside."""
        return await self._in_thread(lambda: self._hasher.hash(password))

    async def verify(self, password: str, hashed: str | None) -> bool:
        """Whether they belong together; None costs the same time and is False."""
        genuine = await self._in_thread(lambda: self._matches(hashed or self._nobody, password))
        return genuine and hashed is not None

    def outdated(self, hashed: str) -> bool:
        """Whether today's settings would hash stronger."""
        return self._hasher.check_needs_rehash(hashed)

    def _matches(self, hashed: str, password: str) -> bool:
        try:
            return self._hasher.verify(hashed, password)
        except (VerificationError, InvalidHashError):
            return False

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """Run it in the compartment; raises `Unavailable` when its queue is full."""
        try:
            return await self.limiter.run(work)
        except Full as full:
            raise Unavailable("the log-in") from full
